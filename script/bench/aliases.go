//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// crowds has, for each condition of the contest, the number of networks and the number
// of aliases in each.
var crowds = []struct{ networks, each int }{{1, 254}, {4, 250}}

// aliases compares how fast tools add addresses to an interface, from the start of the
// command until all addresses are there.
var aliases = contest{
	key: "aliases", Title: "Adding aliases to an interface", lab: pair,
	conditions: []string{"254 aliases", "1,000 aliases"},
	contenders: []contender{
		{name: "linerate, as it says", turn: aliasesByLinerate(false)},
		{name: "linerate, with its start", turn: aliasesByLinerate(true)},
		{name: "ip -batch", turn: aliasesByShell(
			"for a in $(seq 0 %d); do for b in $(seq 1 %d); do echo address add 10.9.$a.$b/16 dev eth0; done; done " +
				"| ip -batch -")},
		{name: "ip, one process each",
			turn: aliasesByShell(
				"for a in $(seq 0 %d); do for b in $(seq 1 %d); do ip address add 10.9.$a.$b/16 dev eth0 || exit " +
					"1; done; done")},
		// As in the days of the published measurements, each with a name of its own.
		{name: "ifconfig, one process each", needs: "ifconfig",
			turn: aliasesByShell(
				"n=0; for a in $(seq 0 %d); do for b in $(seq 1 %d); do n=$((n+1)); ifconfig eth0:$n 10.9.$a.$b " +
					"netmask 255.255.0.0 || exit 1; done; done")},
	},
	shown: []quantity{rate("thousand per second", 1)},
	marks: []mark{
		{0, "linerate, as it says", "ip, one process each", rateOf, 20, atLeast},
		{1, "linerate, as it says", "ip, one process each", rateOf, 20, atLeast},
		{0, "linerate, as it says", "ifconfig, one process each", rateOf, 20, atLeast},
	},
	About: "The time runs from the start of the command in the host until all addresses exist. For " +
		"`linerate serve --alias` the table also has the time that it reports itself: reading the existing " +
		"addresses, writing the undo journal to the disk, adding, and reading back. `linerate run alias-cost` " +
		"measures the cost of addresses in use.",
}

// added is what a server prints when its aliases are there.
var added = regexp.MustCompile(`^added [0-9,]+ addresses in ([0-9.]+) ms:`)

// aliasesByLinerate times a server until it prints that it has them, or reads from that
// how long they took; then the server ends, and removes them.
func aliasesByLinerate(whole bool) func(context.Context, *bench, int) (figure, error) {
	return func(ctx context.Context, l *bench, condition int) (f figure, err error) {
		c := crowds[condition]
		command := l.command("b", l.binary, "serve", "--listen", "127.0.0.1:7300", "--iperf3", "off",
			"--alias", fmt.Sprintf("eth0=10.9.{0..%d}.1-%d/16", c.networks-1, c.each))
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		stderr, err := cmd.StderrPipe()
		if err != nil {
			return f, err
		}
		began := time.Now()
		if err := cmd.Start(); err != nil {
			return f, err
		}
		var lines []string
		for all := bufio.NewScanner(stderr); all.Scan(); {
			lines = append(lines, all.Text())
			if found := added.FindStringSubmatch(all.Text()); found != nil {
				seconds := time.Since(began).Seconds()
				if own, err := strconv.ParseFloat(found[1], 64); err == nil && !whole {
					seconds = own / 1e3
				}
				f.rate = float64(c.networks*c.each) / seconds / 1e3
				cancel()
			}
		}
		if err := cmd.Wait(); f.rate == 0 {
			return f, fmt.Errorf("no addresses: %w: %s", errors.Join(err, ctx.Err()), strings.Join(lines, "; "))
		}
		return f, l.without(ctx, "10.9.0.0/16")
	}
}

// aliasesByShell times a shell's script; afterwards the addresses are removed at once.
func aliasesByShell(script string) func(context.Context, *bench, int) (figure, error) {
	return func(ctx context.Context, l *bench, condition int) (f figure, err error) {
		c := crowds[condition]
		began := time.Now()
		if _, err := l.in(ctx, "b", "sh", "-c", fmt.Sprintf(script, c.networks-1, c.each)); err != nil {
			return f, err
		}
		f.rate = float64(c.networks*c.each) / time.Since(began).Seconds() / 1e3
		return f, l.without(ctx, "10.9.0.0/16")
	}
}

// without makes sure that host b has no address of a network left.
func (l *bench) without(ctx context.Context, network string) error {
	ctx = context.WithoutCancel(ctx)
	if _, err := l.in(ctx, "b", "ip", "address", "flush", "to", network, "dev", "eth0"); err != nil {
		return err
	}
	out, err := l.in(ctx, "b", "ip", "-o", "address", "show", "to", network, "dev", "eth0")
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("addresses left: %.200s", out)
	}
	return err
}
