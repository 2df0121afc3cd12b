//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/limits"
)

// TestMeasureShaper: a qdisc at the interface of either end is the limit, and is named; each
// of two directions at once is held back by what holds it back alone; and a search for the
// highest rate without loss does not promise more than that.
func TestMeasureShaper(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		plainPair(t)
		serving(t)
		const rate = 50e6
		limit := rate * limits.Frame{Shaped: true}.Fraction()
		tc := func(host string, args ...string) {
			kerneltest.Do(t, "tc", append([]string{"-n", host, "qdisc", "replace", "dev", "eth0", "root"}, args...)...)
		}
		held := func(m record.Measure) map[string]string {
			by := map[string]string{}
			for _, f := range m.Flows {
				by[f.ID] = f.LimitedBy
			}
			return by
		}
		tc("client", "tbf", "rate", "50mbit", "burst", "31250", "limit", "150k")
		m, status, said := measured(t, "client", "10.0.0.1", "--duration", "2s")
		if d := m.Directions; len(d) != 1 || math.Abs(d[0].LimitBps-limit) > 1 ||
			!strings.HasPrefix(d[0].LimitWhy, "tbf on client.eth0: 50 Mbit/s") {
			t.Fatalf("directions %+v, want a limit of %.0f; exit status %d: %s", d, limit, status, said)
		}
		if by := held(m); by["w1"] != bottleneck.FullLink {
			t.Errorf("one direction: %v", by)
		}
		m, status, said = measured(t, "client", "10.0.0.1", "--duration", "2s", "--direction", "both")
		if by := held(m); by["w1"] != bottleneck.FullLink || by["r1"] == bottleneck.FullLink {
			t.Errorf("both directions, of which a shaper slows one: %v; exit status %d: %s", by, status, said)
		}
		tc("server", "tbf", "rate", "50mbit", "burst", "31250", "limit", "150k")
		m, status, said = measured(t, "client", "10.0.0.1", "--duration", "2s", "--direction", "both")
		if d := m.Directions; len(d) != 2 || math.Abs(d[1].LimitBps-limit) > 1 ||
			!strings.HasPrefix(d[1].LimitWhy, "tbf on server.eth0") {
			t.Fatalf("directions %+v; exit status %d: %s", d, status, said)
		}
		if by := held(m); by["w1"] != bottleneck.FullLink || by["r1"] != bottleneck.FullLink {
			t.Errorf("both directions: %v", by)
		}
		for _, f := range m.Flows {
			if want := "of the 50 Mbit/s that tbf lets out of " + f.From +
				".eth0"; !strings.Contains(f.LimitedWhy, want) {
				t.Errorf("%s: no %q in %q", f.ID, want, f.LimitedWhy)
			}
		}
		iperf3Server(t, "server", 5301) // of whose host nothing is known
		for _, args := range [][]string{{}, {"-u", "-b", "100M"}} {
			m, status, said = measuredPlainly(t, "client",
				append([]string{"--iperf3", "10.0.0.1:5301", "--duration", "2s"}, args...)...)
			if by := held(m)["w1"]; by != bottleneck.FullLink ||
				!strings.Contains(m.Flows[0].LimitedWhy, "that tbf lets out of client.eth0") {
				t.Errorf("iperf3 %q: held back by %q (%+v); exit status %d: %s", args, by, m.Flows, status, said)
			}
		}
		m, status, said = measured(t, "client", "10.0.0.1", "--protocol", "udp", "--loss-free", "--duration", "500ms",
			"--repeats", "1")
		if m.LossFree == nil || m.LossFree.BoundedBy == record.BoundedBySender {
			t.Errorf("%+v; exit status %d: %s", m.LossFree, status, said)
		}
		// A class of htb has its ceiling only with a parent to borrow from.
		kerneltest.Do(t, "tc", "-n", "client", "qdisc", "replace", "dev", "eth0", "root", "handle", "1:", "htb",
			"default", "10")
		kerneltest.Do(t, "tc", "-n", "client", "class", "add", "dev", "eth0", "parent", "1:", "classid", "1:10", "htb",
			"rate", "50mbit", "ceil", "200mbit")
		m, status, said = measured(t, "client", "10.0.0.1", "--duration", "2s")
		if d := m.Directions; len(d) != 1 || math.Abs(d[0].LimitBps-limit) > 1 ||
			!strings.HasPrefix(d[0].LimitWhy, "htb on client.eth0: 50 Mbit/s") || held(m)["w1"] != bottleneck.FullLink {
			t.Errorf("a root class: directions %+v, held back by %v; exit status %d: %s", d, held(m), status, said)
		}
	})
}

// plainPair is a server and a client on a veth pair that nothing shapes.
func plainPair(t *testing.T) {
	t.Helper()
	kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
	for _, host := range []string{"server", "client"} {
		kerneltest.Do(t, "ip", "netns", "add", host)
		kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", "lo", "up")
	}
	kerneltest.Do(t, "ip", "-n", "server", "link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth0",
		"netns", "client")
	for host, address := range map[string]string{"server": "10.0.0.1/24", "client": "10.0.0.2/24"} {
		kerneltest.Do(t, "ip", "-n", host, "address", "add", address, "dev", "eth0")
		kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", "eth0", "up")
	}
}

// TestMeasureTwoInterfaces: of two interfaces with a shaper each, a flow is held back by its own
// alone; where frames take the other one (ARP flux), by that one.
func TestMeasureTwoInterfaces(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		plainPair(t)
		kerneltest.Do(t, "ip", "-n", "server", "link", "add", "name", "eth1", "type", "veth", "peer", "name", "eth1",
			"netns", "client")
		for host, address := range map[string]string{"server": "10.0.1.1/24", "client": "10.0.1.2/24"} {
			kerneltest.Do(t, "ip", "-n", host, "address", "add", address, "dev", "eth1")
			kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", "eth1", "up")
		}
		serving(t)
		for _, rate := range []string{"30mbit", ""} {
			for port, rate := range map[string]string{"eth0": "50mbit", "eth1": rate} {
				if rate != "" {
					kerneltest.Do(t, "tc", "-n", "server", "qdisc", "replace", "dev", port, "root", "tbf", "rate", rate,
						"burst", "31250", "limit", "150k")
				} else {
					kerneltest.Do(t, "tc", "-n", "server", "qdisc", "delete", "dev", port, "root")
				}
			}
			m, status, said := measured(t, "client", "10.0.0.1", "10.0.1.1", "--direction", "read", "--duration", "2s")
			if len(m.Flows) != 2 {
				t.Fatalf("exit status %d: %s", status, said)
			}
			for i, f := range m.Flows {
				port := fmt.Sprint("server.eth", i)
				if full := f.LimitedBy == bottleneck.FullLink; full != (i == 0 || rate != "") || full &&
					!strings.Contains(f.LimitedWhy, port) {
					t.Errorf("eth1 at %q: %s by %s: %q; %s", rate, f.ID, port, f.LimitedBy, f.LimitedWhy)
				}
			}
		}
	})
}

// TestMeasureInterrupted: the first signal ends the window, and what it measured is printed;
// before the window there is nothing to print.
func TestMeasureInterrupted(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		plainPair(t)
		s := serving(t)
		for i, test := range []struct {
			after  time.Duration
			signal syscall.Signal
			args   []string
		}{
			{3 * time.Second, syscall.SIGINT, []string{"--json", "--rate-cap", "100mbit"}},
			{3 * time.Second, syscall.SIGTERM, []string{"--json", "--protocol", "rr"}},
			{3 * time.Second, syscall.SIGTERM, []string{"--json", "--protocol", "udp", "--rate-cap", "10mbit"}},
			{3 * time.Second, syscall.SIGINT, []string{"--rate-cap", "100mbit"}},
			{3 * time.Second, syscall.SIGINT, []string{"--warmup", "50s"}},
		} {
			cmd := in(t, "client", append([]string{"measure", "10.0.0.1", "--quiet", "--duration", "60s", "--warmup",
				"500ms"}, test.args...)...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(test.after, func() { _ = cmd.Process.Signal(test.signal) })
			_ = cmd.Wait()
			if status := cmd.ProcessState.ExitCode(); status != ExitInterrupted || time.Since(began) > 30*time.Second {
				t.Errorf("%v: exit status %d after %v: %s", test.args, status, time.Since(began), errs.String())
			}
			switch {
			case slices.Contains(test.args, "--json"):
				var m record.Measure
				if err := json.Unmarshal(out.Bytes(), &m); err != nil {
					t.Fatalf("%v: %v\n%s", test.args, err, errs.String())
				}
				if m.PlannedS != 60 || m.DurationS <= 0 || m.DurationS >= 30 || m.GoodputBps+m.RatePerS <= 0 {
					t.Errorf("%v: %v s of %v, %v bit/s, %v/s", test.args, m.DurationS, m.PlannedS, m.GoodputBps,
						m.RatePerS)
				}
				s.until(t, " flow in ", i+1)
			case slices.Contains(test.args, "50s"):
				if out.Len() > 0 || !strings.Contains(errs.String(), "before anything was measured") {
					t.Errorf("%s%s", out.String(), errs.String())
				}
			case !strings.Contains(out.String(), "of 60 s: one value, no confidence interval"):
				t.Errorf("%s", out.String())
			}
		}
		// As timeout(1) does, to the program and its group: one interruption.
		for _, apart := range []time.Duration{time.Millisecond, 2 * atOnce} {
			cmd := in(t, "client", "measure", "10.0.0.1", "--quiet", "--duration", "60s", "--rate-cap", "100mbit")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(4 * time.Second)
			for range 2 {
				_ = cmd.Process.Signal(syscall.SIGINT)
				time.Sleep(apart)
			}
			_ = cmd.Wait()
			if said := errs.String(); cmd.ProcessState.ExitCode() != ExitInterrupted ||
				strings.Contains(said, "before anything was measured") {
				t.Errorf("interrupted twice, %v apart: exit status %d: %s", apart, cmd.ProcessState.ExitCode(), said)
			}
			if apart < atOnce && !strings.Contains(out.String(), "of 60 s: one value") {
				t.Errorf("interrupted by timeout: %s%s", out.String(), errs.String())
			}
		}
	})
}

// TestMeasureAcknowledgementsShare: over a path of 200 Mbit/s in one direction and 50 in the other
// the acknowledgements of the fast direction take a share of the slow one, and why the flow gets
// less than the limit is said.
func TestMeasureAcknowledgementsShare(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		wired(t, "200mbit", "client")
		kerneltest.Do(t, "tc", "-n", "server", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", "50mbit",
			"burst", "31250", "limit", "40k")
		serving(t)
		m, status, said := measured(t, "client", "10.0.0.1", "--duration", "3s", "--direction", "both")
		if len(m.Flows) != 2 {
			t.Fatalf("exit status %d: %s", status, said)
		}
		for _, f := range m.Flows {
			t.Logf("%s: %.4g Mbit/s, %s: %s", f.ID, f.GoodputBps/1e6, f.LimitedBy, f.LimitedWhy)
			if slow := f.From == record.NodeServer; slow != strings.Contains(f.LimitedWhy,
				"is not data in this direction: the other direction's acknowledgements") {
				t.Errorf("%s from %s: %s", f.ID, f.From, f.LimitedWhy)
			}
		}
	})
}

// TestMeasureBothWays: a link between the two ends, which they do not know, holds flows back
// in both directions at once as it does in one.
func TestMeasureBothWays(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		wired(t, "50mbit", "client")
		for _, host := range []string{"server", "client"} { // what is left is at the switch
			kerneltest.Do(t, "tc", "-n", host, "qdisc", "delete", "dev", "eth0", "root")
		}
		serving(t)
		for _, direction := range []string{"write", "read", "both"} {
			m, status, said := measured(t, "client", "10.0.0.1", "--duration", "3s", "--direction", direction)
			if len(m.Flows) == 0 {
				t.Fatalf("exit status %d: %s", status, said)
			}
			for _, f := range m.Flows {
				if f.LimitedBy != bottleneck.FullLink {
					t.Errorf("%s: %s: %q; %s\n%s", direction, f.ID, f.LimitedBy, f.LimitedWhy, figures(f))
				}
			}
		}
	})
}
