package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/netstate"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestLoggedFaults: a line of the log that means a fault is found, with the confidence of its message;
// a lost link only if it is repeated on one interface; other lines are not.
func TestLoggedFaults(t *testing.T) {
	down := func(name string) string { return "igb 0000:03:00.0 " + name + ": igb: " + name + " NIC Link is Down" }
	for _, c := range []struct{ lines, want string }{
		{"", ""},
		{"device eth0 entered promiscuous mode\nata1: SATA link down (SStatus 0 SControl 300)\neth0: something new", ""},
		{"TCP: time wait bucket table overflow", "time-wait-full likely 1"},
		{"swapper/3: page allocation failure: order:2\nrcu: INFO: rcu_sched self-detected stall on CPU",
			"allocation-failed possible 1, rcu-stall possible 1"},
		{down("eth0") + "\n" + down("eth0") + "\n" + down("eth1"), ""},
		{down("eth1") + "\n" + strings.Repeat(down("eth0")+"\n", 3), "link-lost possible 2"},
		{"martian source 192.0.2.1 from 192.0.2.9, on dev eth0\nmartian source 192.0.2.1 from 192.0.2.8, on dev " +
			"eth0\n" +
			"martian source 192.0.2.1 from 192.0.2.7, on dev eth0\nmartian source 192.0.2.1 from 192.0.2.6, on dev " +
			"eth0",
			"martian possible 4"},
		{strings.Repeat("net eth0: rx->offset: 0, size: -1\n", 7), "xen-response likely 2"},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.State.Log = &netstate.KernelLog{}
		for line := range strings.Lines(c.lines) {
			s.State.Log.Add(netstate.LogLine{Level: 4, Text: strings.TrimSpace(line)})
		}
		var got []string
		for _, f := range diagnose.Hosts([]netstate.HostSnapshot{s}).Findings {
			if f.ID == cause.FaultLogged.Code {
				got = append(got, fmt.Sprintf("%s %s %d", f.Args.(cause.Logged).Fault, f.Confidence, len(f.Facts)))
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%q: %q, want %q", c.lines, got, c.want)
		}
	}
}
