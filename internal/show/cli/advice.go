package cli

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/control/reach"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/topology"
)

// bySSH returns the command prefix of --host.
func bySSH(host string) ([]string, error) { return topology.SSH(host, topology.Batch()...) }

// advice says what to do about a host that was not reached. {flag} is the flag that names the host
// and {ssh} the command of ssh that reaches it, as far as they are known, {host} its name for ssh.
var advice = map[reach.Reason]string{
	reach.NoProgram: "linerate is not on the PATH there: copy the program, which is one file, or read the host " +
		"without it: linerate doctor {flag} --plain. In a study, agent: PATH says where it is",
	reach.NotAllowed: "The user there may not execute linerate, or its file system has noexec: check ls -l and " +
		"findmnt, or read the host without it: linerate doctor {flag} --plain",
	reach.OtherVersion: "Install the same release on both hosts",
	reach.NotAnAgent: "What the host's login prints, such as a banner or a line of .bashrc, must not go to " +
		"standard output",
	reach.UnknownName:  "The name has no address: getent hosts {host}; use an address, or an alias of ssh_config(5)",
	reach.NotListening: "No sshd listens on that port: if it has another one, --host {host}:PORT",
	reach.NoAnswer:     "The host is down, or a firewall discards the packets: ping -c 3 {host}",
	reach.HostKey: "Connect once by {ssh} and compare the key that it shows; remove a key that is known to have " +
		"changed by ssh-keygen -R",
	reach.Authentication: "The host accepts no key of this user, and ssh may not ask for a password: add one with " +
		"ssh-copy-id, then try {ssh} true",
	reach.Unreachable: "ssh must reach the host without a question: try {ssh} true",
	reach.TimedOut:    "The command may be waiting for a password, for which it cannot ask",
}

// adviceOf returns what to do about a host that was not reached; empty: nothing is known.
func adviceOf(e *reach.Error) string {
	flag, ssh, host := "--via …", "ssh -o BatchMode=yes …", "HOST"
	// A command of --via may have secrets.
	if words, err := bySSH(e.Host); err == nil && slices.Equal(words, e.Words) {
		words, _ = topology.SSH(e.Host, "-o", "BatchMode=yes")
		flag, ssh, host = "--host "+quote(e.Host), hostconfig.Command(words...), words[len(words)-1]
		if e.Reason != reach.NotListening {
			host = host[strings.LastIndex(host, "@")+1:]
		}
	}
	if e.Reason == reach.HostKey { // which ssh is to show, and ask about
		ssh = strings.Replace(ssh, " -o BatchMode=yes", "", 1)
	}
	return strings.NewReplacer("{flag}", flag, "{ssh}", ssh, "{host}", host).Replace(advice[e.Reason])
}

// withAdvice adds to an error what to do about each host that was not reached.
func withAdvice(err error) error {
	var lines []string
	var visit func(error)
	visit = func(err error) {
		if e, is := err.(*reach.Error); is {
			if line := adviceOf(e); line != "" && !slices.Contains(lines, line) {
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
