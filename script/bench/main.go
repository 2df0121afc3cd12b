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
	"time"
)

// errGate says that everything was measured, but not what was hoped for.
var errGate = errors.New("linerate misses its mark")

func main() {
	rounds := flag.Int("rounds", 5, "rounds that count; one more goes before them")
	out := flag.String("o", "docs/benchmarks.md", "the page to write")
	binary := flag.String("linerate", "bin/linerate", "the linerate to measure")
	only := flag.String("only", "", "lab, tcp, udp, rr, crr or aliases: measure only that, and write no page")
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

// figures are one part of the page.
type figures interface {
	met() bool
	summary() string
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
		fmt.Fprintf(os.Stderr, "bench: the machine is %.0f %% busy with other work: the figures will say more about that\n", 100*page.Machine.Busy)
	}
	parts, err := measure(ctx, &page, rounds, binary, only)
	if err != nil {
		return err
	}
	met := true
	for _, part := range parts {
		fmt.Println(part.summary())
		met = met && part.met()
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

// measure carries out what is asked for and puts it on the page.
func measure(ctx context.Context, page *page, rounds int, binary, only string) (parts []figures, err error) {
	asked := func(key string) bool { return only == "" || only == key }
	if asked("lab") {
		if page.Lab, err = measureLab(ctx, rounds, binary); err != nil {
			return nil, err
		}
		parts = append(parts, page.Lab)
	}
	if only == "lab" {
		return parts, nil
	}
	l, err := newBench(ctx, binary)
	if err != nil {
		return nil, err
	}
	defer l.close()
	for _, c := range contests {
		if !asked(c.key) {
			continue
		}
		o, err := c.hold(ctx, l, rounds)
		if err != nil {
			return nil, err
		}
		page.Contests = append(page.Contests, o)
		parts = append(parts, o)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("-only %q: expected lab, tcp, udp, rr, crr or aliases", only)
	}
	return parts, nil
}

// quiet is how busy, of all CPUs, a machine may be before anything is measured.
const quiet = 0.05

// pause lets the machine come to rest, and says how busy it was meanwhile.
func pause(ctx context.Context, d time.Duration) (busy float64, err error) {
	before, err := busySeconds()
	if err != nil {
		return 0, err
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	after, err := busySeconds()
	return after - before, err
}
