//go:build linux

package measure_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/measure"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/limits"
	"linerate/internal/show/export"
)

// TestMeasureShaper: a qdisc at the interface of either end is the limit, and is named; each
// of two directions at once is held back by what holds it back alone; and a search for the
// highest rate without loss does not promise more than that.
func TestMeasureShaper(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.PlainPair(t)
		controltest.Serve(t, controltest.Server{})
		const rate = 50e6
		limit := rate * limits.Frame{Shaped: true}.Fraction()
		tc := func(host string, args ...string) {
			kerneltest.Do(t, "tc", append([]string{"-n", host, "qdisc", "replace", "dev", "eth0", "root"}, args...)...)
		}
		held := func(m export.Measurement) map[string]string {
			by := map[string]string{}
			for _, f := range m.Flows {
				by[f.ID] = f.LimitedBy
			}
			return by
		}
		tc("client", "tbf", "rate", "50mbit", "burst", "31250", "limit", "150k")
		m := measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Duration: 2 * time.Second})
		if d := m.Directions; len(d) != 1 || math.Abs(d[0].LimitBps-limit) > 1 ||
			!strings.HasPrefix(d[0].LimitWhy, "tbf on client.eth0: 50 Mbit/s") {
			t.Fatalf("directions %+v, want a limit of %.0f", d, limit)
		}
		if by := held(m); by["w1"] != bottleneck.FullLink {
			t.Errorf("one direction: %v", by)
		}
		m = measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Duration: 2 * time.Second,
			Flows: flow.Spec{Direction: flow.Both}})
		if by := held(m); by["w1"] != bottleneck.FullLink || by["r1"] == bottleneck.FullLink {
			t.Errorf("both directions, of which a shaper slows one: %v", by)
		}
		tc("server", "tbf", "rate", "50mbit", "burst", "31250", "limit", "150k")
		m = measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Duration: 2 * time.Second,
			Flows: flow.Spec{Direction: flow.Both}})
		if d := m.Directions; len(d) != 2 || math.Abs(d[1].LimitBps-limit) > 1 ||
			!strings.HasPrefix(d[1].LimitWhy, "tbf on server.eth0") {
			t.Fatalf("directions %+v", d)
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
		controltest.Started(t, "server", 5301, "iperf3", "-s", "-p", "5301") // of whose host nothing is known
		for _, flows := range []flow.Spec{{}, {Protocol: flow.UDP, RateCap: 100e6}} {
			m = measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1:5301"}, Iperf3: true,
				Duration: 2 * time.Second, Flows: flows})
			// On a busy machine the queue is the evidence, and not the rate.
			if why := m.Flows[0].LimitedWhy; held(m)["w1"] != bottleneck.FullLink ||
				!strings.Contains(why, "that tbf lets out of") || !strings.Contains(why, "client.eth0") {
				t.Errorf("iperf3 %+v: %+v", flows, m.Flows)
			}
		}
		m = measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"},
			Duration: 500 * time.Millisecond, Warmup: 200 * time.Millisecond, Flows: flow.Spec{Protocol: flow.UDP},
			LossFree: &study.LossFree{Resolution: 0.01, Repeats: 1}})
		if m.LossFree == nil || m.LossFree.BoundedBy == record.BoundedBySender {
			t.Errorf("%+v", m.LossFree)
		}
		// A class of htb has its ceiling only with a parent to borrow from.
		kerneltest.Do(t, "tc", "-n", "client", "qdisc", "replace", "dev", "eth0", "root", "handle", "1:", "htb",
			"default", "10")
		kerneltest.Do(t, "tc", "-n", "client", "class", "add", "dev", "eth0", "parent", "1:", "classid", "1:10", "htb",
			"rate", "50mbit", "ceil", "200mbit")
		m = measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Duration: 2 * time.Second})
		if d := m.Directions; len(d) != 1 || math.Abs(d[0].LimitBps-limit) > 1 ||
			!strings.HasPrefix(d[0].LimitWhy, "htb on client.eth0: 50 Mbit/s") || held(m)["w1"] != bottleneck.FullLink {
			t.Errorf("a root class: directions %+v, held back by %v", d, held(m))
		}
	})
}

// TestMeasureTwoInterfaces: of two interfaces with a shaper each, a flow is held back by its own
// alone; where frames take the other one (ARP flux), by that one.
func TestMeasureTwoInterfaces(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.PlainPair(t)
		kerneltest.Do(t, "ip", "-n", "server", "link", "add", "name", "eth1", "type", "veth", "peer", "name", "eth1",
			"netns", "client")
		for host, address := range map[string]string{"server": "10.0.1.1/24", "client": "10.0.1.2/24"} {
			kerneltest.Do(t, "ip", "-n", host, "address", "add", address, "dev", "eth1")
			kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", "eth1", "up")
		}
		controltest.Serve(t, controltest.Server{})
		for _, rate := range []string{"30mbit", ""} {
			for port, rate := range map[string]string{"eth0": "50mbit", "eth1": rate} {
				if rate != "" {
					kerneltest.Do(t, "tc", "-n", "server", "qdisc", "replace", "dev", port, "root", "tbf", "rate", rate,
						"burst", "31250", "limit", "150k")
				} else {
					kerneltest.Do(t, "tc", "-n", "server", "qdisc", "delete", "dev", port, "root")
				}
			}
			m := measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1", "10.0.1.1"},
				Duration: 2 * time.Second, Flows: flow.Spec{Direction: flow.Read}})
			if len(m.Flows) != 2 {
				t.Fatalf("%d flows", len(m.Flows))
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

// TestMeasureAcknowledgementsShare: over a path of 200 Mbit/s in one direction and 50 in the other
// the acknowledgements of the fast direction take a share of the slow one, and why the flow gets
// less than the limit is said.
func TestMeasureAcknowledgementsShare(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "200mbit", "client")
		kerneltest.Do(t, "tc", "-n", "server", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", "50mbit",
			"burst", "31250", "limit", "40k")
		controltest.Serve(t, controltest.Server{})
		m := measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Duration: 3 * time.Second,
			Flows: flow.Spec{Direction: flow.Both}})
		if len(m.Flows) != 2 {
			t.Fatalf("%d flows", len(m.Flows))
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
		controltest.Wired(t, "50mbit", "client")
		for _, host := range []string{"server", "client"} { // what is left is at the switch
			kerneltest.Do(t, "tc", "-n", host, "qdisc", "delete", "dev", "eth0", "root")
		}
		controltest.Serve(t, controltest.Server{})
		for _, direction := range []string{"write", "read", "both"} {
			m := measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Duration: 3 * time.Second,
				Flows: flow.Spec{Direction: direction}})
			if len(m.Flows) == 0 {
				t.Fatalf("%d flows", len(m.Flows))
			}
			for _, f := range m.Flows {
				if f.LimitedBy != bottleneck.FullLink {
					t.Errorf("%s: %s: %q; %s\n%s", direction, f.ID, f.LimitedBy, f.LimitedWhy, controltest.Figures(f))
				}
			}
		}
	})
}
