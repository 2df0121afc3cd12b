package cli

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/control/reach"
)

// advice says what to do about a host that was not reached.
var advice = map[reach.Reason]string{
	reach.NoProgram:    "linerate must be on the host's PATH; in a study, agent: PATH says where it is",
	reach.OtherVersion: "Install the same release on both hosts",
	reach.NotAnAgent: "What the host's login prints, such as a banner or a line of .bashrc, must not go to " +
		"standard output",
	reach.Unreachable: "ssh must reach the host without a question: try it with -o BatchMode=yes",
	reach.TimedOut:    "The command may be waiting for a password, for which it cannot ask",
}

// withAdvice adds to an error what to do about each host that was not reached.
func withAdvice(err error) error {
	var lines []string
	var visit func(error)
	visit = func(err error) {
		if e, is := err.(*reach.Error); is {
			if line := advice[e.Reason]; line != "" && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
			return
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			visit(e.Unwrap())
		case interface{ Unwrap() []error }:
			for _, one := range e.Unwrap() {
				visit(one)
			}
		}
	}
	visit(err)
	if lines == nil {
		return err
	}
	return fmt.Errorf("%w\n%s", err, strings.Join(lines, "\n"))
}
