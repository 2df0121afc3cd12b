//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// errGate: everything was measured, and linerate missed a mark.
var errGate = errors.New("linerate misses its mark")

func main() {
	rounds := flag.Int("rounds", 5, "rounds that count; one more goes before them")
	out := flag.String("o", "docs/results/benchmarks.md", "the page to write")
	binary := flag.String("linerate", "bin/linerate", "the linerate to measure")
	only := flag.String("only", "", "measure only these, separated by commas, of "+contestKeys()+", and write no page")
	control := flag.String("congestion-control", "cubic",
		"of TCP, for all programs; reno where the machine does not allow it in namespaces")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *rounds, *binary, *out, *only, *control)
	switch {
	case errors.Is(err, errGate):
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(3)
	case err != nil:
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, binary, out, only, control string) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("not root: Mininet runs only as root; want make bench as root")
	}
	before, err := snapshot(ctx)
	if err != nil {
		return err
	}
	// Also after an interrupt: what Mininet rewrote must not stay.
	defer func() {
		restored, rerr := before.restore(context.WithoutCancel(ctx))
		for _, name := range restored {
			fmt.Fprintf(os.Stderr, "bench: put back %s = %s\n", name, before.sysctls[name])
		}
		err = errors.Join(err, rerr)
	}()

	chosen, err := selected(only)
	if err != nil {
		return err
	}
	busy, err := busyDuring(func() error { return pause(ctx, rest) })
	if err != nil {
		return err
	}
	page := page{Machine: describe(ctx), Rounds: rounds}
	if err := page.Machine.decide(control); err != nil {
		return err
	}
	page.Machine.Busy = busy / rest.Seconds() / float64(page.Machine.CPUs)
	page.Machine.warn()
	l, err := newBench(ctx, binary, page.Machine.Control)
	if err != nil {
		return err
	}
	defer l.close()
	met := true
	var failed []error
	for _, c := range chosen {
		o := c.hold(ctx, l, rounds)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Println(o.summary())
		page.Contests = append(page.Contests, o)
		failed, met = append(failed, o.failed), met && o.met()
	}
	if only == "" {
		text, err := page.render()
		if err != nil {
			return err
		}
		if err := os.WriteFile(out, text, 0o644); err != nil {
			return err
		}
		fmt.Println("written to", out)
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if !met {
		return errGate
	}
	return nil
}

// selected are the contests of a list of keys; of an empty one all.
func selected(keys string) (chosen []contest, err error) {
	if keys == "" {
		return contests, nil
	}
	for key := range strings.SplitSeq(keys, ",") {
		i := slices.IndexFunc(contests, func(c contest) bool { return c.key == key })
		if i < 0 {
			return nil, fmt.Errorf("-only %q: expected some of %s", key, contestKeys())
		}
		chosen = append(chosen, contests[i])
	}
	return chosen, nil
}

// warn says what makes figures doubtful.
func (m machine) warn() {
	if !m.Quiet() {
		fmt.Fprintf(os.Stderr, "bench: the machine is %s busy with other work: the figures will say more about that\n",
			m.BusyPercent())
	}
	if m.Control != m.Wanted {
		fmt.Fprintf(os.Stderr, "bench: TCP uses %s: namespaces of this machine may not choose %s\n",
			m.Control, m.Wanted)
	}
	if m.IsBBR() {
		fmt.Fprintln(os.Stderr, "bench: bbr on links without a delay: rates of TCP mean nothing")
	}
}

// quiet is how busy, of all CPUs, a machine may be before anything is measured.
const quiet = 0.05
