//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// errGate: everything was measured, and linerate missed a mark.
var errGate = errors.New("linerate misses its mark")

func main() {
	rounds := flag.Int("rounds", 5, "rounds that count; one more goes before them")
	out := flag.String("o", "docs/results/benchmarks.md", "the page to write")
	binary := flag.String("linerate", "bin/linerate", "the linerate to measure")
	only := flag.String("only", "", "measure only one of "+contestKeys()+", and write no page")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *rounds, *binary, *out, *only)
	switch {
	case errors.Is(err, errGate):
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(3)
	case err != nil:
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, binary, out, only string) (err error) {
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

	busy, err := pause(ctx, rest)
	if err != nil {
		return err
	}
	page := page{Machine: describe(ctx), Rounds: rounds}
	page.Machine.Busy = busy / rest.Seconds() / float64(page.Machine.CPUs)
	if page.Machine.Busy > quiet {
		fmt.Fprintf(os.Stderr,
			"bench: the machine is %.0f %% busy with other work: the figures will say more about that\n",
			100*page.Machine.Busy)
	}
	l, err := newBench(binary)
	if err != nil {
		return err
	}
	defer l.close()
	met, known := true, false
	for _, c := range contests {
		if only != "" && only != c.key {
			continue
		}
		known = true
		if err := l.enter(ctx, c.lab); err != nil {
			return err
		}
		o, err := c.hold(ctx, l, rounds)
		if err != nil {
			return err
		}
		if c.key == lab.key {
			page.Lab = o
		} else {
			page.Contests = append(page.Contests, o)
		}
		met = met && o.met()
	}
	if !known {
		return fmt.Errorf("-only %q: expected one of %s", only, contestKeys())
	}
	for _, o := range append([]*outcome{page.Lab}, page.Contests...) {
		if o != nil {
			fmt.Println(o.summary())
		}
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
	if !met {
		return errGate
	}
	return nil
}

// quiet is how busy, of all CPUs, a machine may be before anything is measured.
const quiet = 0.05
