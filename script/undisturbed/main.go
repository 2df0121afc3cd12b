// Command undisturbed runs tests that measure, and says which of their failures
// tell of a hypervisor.
//
//	undisturbed [-patience 5m] PATTERN COMMAND ARG…
//
// Where a virtual machine gets no processor for a tenth of a second, every rate and
// every delay that is measured meanwhile is wrong, and a test that says so is right.
// The kernel counts that time (steal in proc_stat(5)). So a test that fails counts as
// failed where the machine was its own; where it was not, the test is made again once
// it is, as long as the patience lasts. One that was never seen undisturbed is not
// judged, which is said; when more than one in ten are not, the whole has failed.
//
// The command prints the events of go test -json (go doc test2json) for the tests that
// match a pattern, which stands for {} among its arguments.
package main

import (
	"context"
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
	patience := flag.Duration("patience", 5*time.Minute, "how long to wait for an undisturbed machine, and to test again")
	flag.Parse()
	if flag.NArg() < 2 || !slices.Contains(flag.Args()[1:], "{}") {
		fmt.Fprintln(os.Stderr, "undisturbed [-patience TIME] PATTERN COMMAND ARG…, with {} for the pattern among the arguments")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := watch(ctx)
	s := session{
		out: os.Stdout, patience: *patience, disturbed: m.disturbed, calm: m.calm,
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
	patience  time.Duration
	run       func(pattern string) (*attempt, error)
	disturbed func(begin, end time.Time) (share float64, yes bool)
	// calm waits for an undisturbed machine, and says whether it has come.
	calm func(patience time.Duration) bool
}

// judge reports whether no test has failed that can be judged, and most can.
func (s *session) judge(pattern string) bool {
	var unjudged []*test
	var until time.Time
	for all := 0; ; {
		a, err := s.run(pattern)
		if a == nil {
			fmt.Fprintf(s.out, "FAIL\tthe tests were not begun: %v\n", err)
			return false
		}
		failed := a.failed()
		all = max(all, len(a.tests))
		sound := (err == nil) == (len(failed) == 0) && !a.broken
		if !sound && len(failed) == 0 {
			fmt.Fprintf(s.out, "FAIL\tno test failed, but the command did: %v\n", err)
		}
		unjudged = nil
		for _, t := range failed {
			share, excused := s.disturbed(t.begin, t.end)
			if excused && !a.broken {
				fmt.Fprintf(s.out, "%s failed while a hypervisor took %.1f %% of the processors' time:\n%s", t.name, 100*share, indented(t.output.String()))
				unjudged = append(unjudged, t)
				continue
			}
			fmt.Fprint(s.out, t.output.String())
			sound = false
		}
		if !sound || len(unjudged) == 0 {
			return sound
		}
		if until.IsZero() {
			until = time.Now().Add(s.patience)
		}
		if left := time.Until(until); left <= 0 || !s.calm(left) {
			return s.settle(unjudged, all)
		}
		pattern = exactly(unjudged)
		fmt.Fprintf(s.out, "again, now that the machine is left alone: %s\n", pattern)
	}
}

// settle says what could not be judged, and whether that is still few.
func (s *session) settle(unjudged []*test, all int) bool {
	few := 4*len(unjudged) <= all
	verdict := "not judged"
	if !few {
		verdict = "FAIL\ttoo many are not judged on this machine"
	}
	fmt.Fprintf(s.out, "%s: %d of %d tests failed, each time while a hypervisor took processors away; on a machine that is left alone: go test -run '%s'\n",
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

// indented keeps what an excused test has said from looking like a verdict.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    | " + line)
	}
	return b.String()
}
