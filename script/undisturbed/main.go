// Command undisturbed runs tests, and reports which of their failures a hypervisor, a slow
// disk or other tests beside them may have caused.
//
//	undisturbed [-max-wait 5m] PATTERN COMMAND ARG…
//
// While a virtual machine gets no CPU for a tenth of a second, every rate and delay measured
// is wrong. The kernel counts that time (steal in proc_stat(5)). It also counts the time
// during which tasks wait for a disk (psi.rst), as they do when pages of a program have to
// be read again, and for a CPU, as they do while other tests run.
//
// A test that fails while there was little of all of them has failed. A test that fails otherwise
// is run again once the machine is undisturbed, for at most -max-wait in total. A test that
// never ran undisturbed is reported as not judged; if more than one in four are, the command
// fails.
//
// The command prints the events of `go test -json` (go doc test2json) for the tests that
// match PATTERN, which replaces {} among the arguments of COMMAND.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	maxWait := flag.Duration("max-wait", 5*time.Minute,
		"how long to wait for an undisturbed machine, and to test again")
	flag.Parse()
	if flag.NArg() < 2 || !slices.Contains(flag.Args()[1:], "{}") {
		fmt.Fprintln(os.Stderr,
			"undisturbed [-max-wait TIME] PATTERN COMMAND ARG…, with {} for the pattern among the arguments")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := watch(ctx)
	s := session{
		out: os.Stdout, maxWait: *maxWait, disturbed: m.disturbed, calm: m.calm,
		run: func(pattern string) (*attempt, error) { return run(ctx, pattern, flag.Args()[1:]) },
	}
	if !s.judge(flag.Arg(0)) {
		os.Exit(1)
	}
}

// run makes one attempt by the command.
func run(ctx context.Context, pattern string, argv []string) (*attempt, error) {
	argv = slices.Clone(argv)
	for i := range argv {
		if argv[i] == "{}" {
			argv[i] = pattern
		}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it may have its own to end
	cmd.WaitDelay = 20 * time.Second
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	a := read(events, os.Stdout)
	return a, cmd.Wait()
}

// session is the judgement of one command.
type session struct {
	out       io.Writer
	maxWait   time.Duration
	run       func(pattern string) (*attempt, error)
	disturbed func(begin, end time.Time) (what disturbance, yes bool)
	// calm waits until the machine is undisturbed, and reports whether it became so.
	calm func(maxWait time.Duration) bool
}

// judge reports whether no test has failed that can be judged, and most can.
func (s *session) judge(pattern string) bool {
	var unjudged []*test
	var until time.Time
	for all := 0; ; {
		a, err := s.run(pattern)
		if a == nil {
			fmt.Fprintf(s.out, "FAIL\tthe tests did not start: %v\n", err)
			return false
		}
		if all == 0 {
			s.times(a)
		}
		failed := a.failed()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() != 1 { // go test ends with 1 if a test fails; timeout(1) with 124
			a.broken = true
		}
		sound := (err == nil) == (len(failed) == 0) && !a.broken
		if !sound && len(failed) == 0 {
			fmt.Fprintf(s.out, "FAIL\tno test failed, but the command did: %v\n", err)
		}
		unjudged = nil
		for _, t := range failed {
			what, excused := s.disturbed(t.begin, t.end)
			// A test may wait for a disk or a CPU because of what it does itself: that excuses it once.
			if excused && !a.broken && (all == 0 || what.hypervisor) {
				fmt.Fprintf(s.out, "%s failed while %v:\n%s", t.name, what, indented(t.output.String()))
				unjudged = append(unjudged, t)
				continue
			}
			fmt.Fprint(s.out, t.output.String())
			sound = false
		}
		if !sound || len(unjudged) == 0 {
			return sound
		}
		all = max(all, len(a.tests))
		if until.IsZero() {
			until = time.Now().Add(s.maxWait)
		}
		if left := time.Until(until); left <= 0 || !s.calm(left) {
			return s.settle(unjudged, all)
		}
		pattern = exactly(unjudged)
		fmt.Fprintf(s.out, "again, on an undisturbed machine: %s\n", pattern)
	}
}

// times names the tests that took longest, of those that took more than ten seconds.
func (s *session) times(a *attempt) {
	var parts []string
	for _, t := range a.slowest(30) {
		if took := t.end.Sub(t.begin); took > 10*time.Second {
			parts = append(parts, fmt.Sprintf("%s %.0f s", t.name, took.Seconds()))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(s.out, "slowest: %s\n", strings.Join(parts, ", "))
	}
}

// settle reports what could not be judged, and whether that is few.
func (s *session) settle(unjudged []*test, all int) bool {
	few := 4*len(unjudged) <= all
	verdict := "not judged"
	if !few {
		verdict = "FAIL\ttoo many are not judged on this machine"
	}
	fmt.Fprintf(s.out,
		"%s: %d of %d tests failed, each time while the machine was disturbed; on a machine of its own: go test "+
			"-run '%s'\n",
		verdict, len(unjudged), all, exactly(unjudged))
	return few
}

// exactly is the pattern of these tests and no others.
func exactly(tests []*test) string {
	var names []string
	for _, t := range tests {
		if name := regexp.QuoteMeta(t.name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// indented keeps the output of an excused test from looking like a verdict.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    | " + line)
	}
	return b.String()
}
