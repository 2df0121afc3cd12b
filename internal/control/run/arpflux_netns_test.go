//go:build linux

package run_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/science/trust"
)

// changed prints the built-in study and changes it as a user would: three slow
// NICs instead of four fast ones, three clients instead of two, shorter trials.
func changed(t *testing.T, replace ...string) string {
	t.Helper()
	return controltest.BuiltIn(t, "arp-flux", replace...)
}

func threeSlowPorts(t *testing.T) string {
	return changed(t,
		"{p=0..3}", "{p=0..2}",
		"server.eth{0..3}", "server.eth{0..2}",
		"{15..18}", "{15..17}",
		"{a=15..18}", "{a=15..17}",
		"{c=1..2}", "{c=1..3}",
		"client{1..2}", "client{1..3}",
		"rate: 1gbit", "rate: 30mbit",
		"rate: 2.5gbit", "rate: 100mbit",
	)
}

// TestARPFluxFromTheUsersOwnFile asks the first question on a small lab and
// holds the answer against what is known of the kernel.
func TestARPFluxFromTheUsersOwnFile(t *testing.T) {
	kerneltest.Long(t)
	run := controltest.Run(t, controltest.Study{File: threeSlowPorts(t), Seed: 7, Replicates: 2,
		Only: []string{"kernel defaults", "static ARP entries", "arp + source routing", "arp + rp_filter=1"}})
	if bad := controltest.Failures(run.Trust); bad != "" {
		t.Errorf("trust checks failed:\n%s", bad)
	}
	oneNIC := 30e6 * 1448 / 1514
	limit := 3 * oneNIC
	for _, c := range []struct {
		treatment string
		low, high float64 // of the limit of three NICs
	}{
		{"kernel defaults, writes", 0.2, 1.15 / 3},
		{"kernel defaults, reads", 0.2, 1.15 / 3},
		{"static ARP entries, writes", 0.97, controltest.Fuller},
		{"static ARP entries, reads", 0.2, 1.15 / 3},
		{"arp + source routing, writes", 0.97, controltest.Fuller},
		{"arp + source routing, reads", 0.97, controltest.Fuller},
		{"arp + rp_filter=1, writes", 0.2, 1.15 / 3},
	} {
		tr := controltest.Treatment(t, run, c.treatment)
		if share := tr.Goodput.MeanBps / limit; share < c.low || share > c.high {
			t.Errorf("%s: %.3f of the limit, expected %.3f to %.3f", c.treatment, share, c.low, c.high)
		}
		if ratio := tr.LimitBps / limit; ratio < 0.999 || ratio > 1.001 {
			t.Errorf("%s: limit %.0f, expected %.0f", c.treatment, tr.LimitBps, limit)
		}
		by := ""
		if tr.Chance != nil {
			by = tr.Chance.By
		}
		if want := map[string]string{
			"kernel defaults, writes": "9 flows over 3 interfaces of server by ARP"}[c.treatment]; by != want {
			t.Errorf("%s: %q is left to chance, expected %q", c.treatment, by, want)
		}
	}
	flux, ok := controltest.Found(run, "arp-flux", "kernel defaults, writes")
	if !ok {
		t.Error("no arp-flux finding for the kernel's defaults")
	}
	// The poisoned rows are the evidence: an address of one port, held at
	// another port's MAC address.
	if !slices.ContainsFunc(flux.Facts, func(f fact.Fact) bool {
		m, is := f.Is.(fact.Misdirected)
		return is && strings.HasPrefix(m.MAC, "02:00:00:01:00:0")
	}) {
		t.Errorf("the evidence names no MAC address: %+v", flux.Facts)
	}
	for _, id := range []string{"arp-flux", "same-subnet-one-egress", "rp-filter-drop", "arp-wrong-source"} {
		for _, direction := range []string{"writes", "reads"} {
			if f, ok := controltest.Found(run, id, "arp + source routing, "+direction); ok {
				t.Errorf("%s is found where everything is mended (%s): %+v", id, direction, f.Facts)
			}
		}
	}
	if _, ok := controltest.Found(run, "same-subnet-one-egress", "static ARP entries, reads"); !ok {
		t.Error("no same-subnet-one-egress for reads with static entries")
	}
	if _, ok := controltest.Found(run, "rp-filter-drop", "arp + rp_filter=1, writes"); !ok {
		t.Error("no rp-filter-drop with the strict filter")
	}
	for _, e := range run.Effects {
		want := ""
		switch {
		case e.To == "arp + source routing", e.To == "static ARP entries" && e.At["direction"] == "writes":
			want = "improves"
		default:
			continue
		}
		// Three interfaces for one. Two blocks say little where the machine was paused.
		if e.Verdict != want && e.Verdict != record.Inconclusive || e.Ratio.Mean < 2.5 {
			t.Errorf("%s → %s at %v: %.2f×, %s, expected %s", e.From, e.To, e.At, e.Ratio.Mean, e.Verdict, want)
		}
	}
}

// TestGoodputReachesTheLimitOfOneLink: one flow over one shaped link reads what
// physics says, and the port's own counters agree.
func TestGoodputReachesTheLimitOfOneLink(t *testing.T) {
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "one-link.yaml")})
	const limit = 100e6 * 1448 / 1514
	// A moment's pause of the machine is neither the link's nor the port's: the median of the
	// trials does not have it. Trials from which a hypervisor took CPU time do not count if there are others.
	trials := slices.DeleteFunc(slices.Clone(run.Trials), trust.Stolen)
	if len(trials) == 0 {
		trials = run.Trials
	}
	var goodput, port []float64
	for _, trial := range trials {
		goodput = append(goodput, math.Abs(trial.GoodputBps/limit-1))
		for _, h := range trial.Hosts {
			if h.Host != "server" {
				continue
			}
			d := h.Deltas()[0]
			// Ethernet, IPv4, TCP with timestamps; veth counts a large segment
			// as one packet with one header.
			payload := (d.RxBytes - 66*d.RxPackets) * 8 / d.Seconds
			port = append(port, math.Abs(payload/trial.GoodputBps-1))
		}
	}
	if stats.Median(goodput) > 0.005 || stats.Median(port) > 0.002 {
		t.Errorf("goodput is %.4f from the limit, and what the port saw %.4f from goodput", goodput, port)
	}
	if bad := controltest.Failures(run.Trust); bad != "" {
		t.Errorf("trust checks failed:\n%s", bad)
	}
}

// TestSenderSideSumsAreCaught: the sum of what senders have written into deep
// buffers is more than the link can carry, and that is said.
func TestSenderSideSumsAreCaught(t *testing.T) {
	run := controltest.Run(t, controltest.Study{File: controltest.File(t, "sender-side.yaml")})
	tr := run.Treatments[0]
	if tr.ToolReported == nil || tr.ToolReported.SumBps <= tr.LimitBps {
		t.Fatalf("the senders' own averages sum to %+v, expected more than the limit of %.0f", tr.ToolReported,
			tr.LimitBps)
	}
	caught := false
	for _, c := range run.Trust {
		if c.Check == trust.Limit && !c.Pass {
			t.Errorf("what was received is above the limit, too: %+v", c.Facts)
		}
		caught = caught || !c.Pass && c.Check == trust.SenderSide
	}
	if !caught {
		t.Errorf("no trust check objects: %+v", run.Trust)
	}
}
