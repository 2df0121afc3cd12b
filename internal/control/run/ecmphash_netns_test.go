//go:build linux

package run_test

import (
	"slices"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// slowHash is the built-in study with links that two busy processors can fill.
func slowHash(t *testing.T, replace ...string) string {
	t.Helper()
	return controltest.BuiltIn(t, "ecmp-hash",
		append([]string{"rate: 1gbit", "rate: 60mbit, queue: 512KiB", "duration: 600ms",
			"duration: 600ms", "warmup: 300ms", "warmup: 500ms"}, replace...)...)
}

// TestECMPHash: by addresses all flows of two servers share a link. By service
// ports they carry what the links carry that they were hashed to, as the kernel
// said beforehand; with ports chosen for it, that is all links.
func TestECMPHash(t *testing.T) {
	kerneltest.Parallel(t)
	run := controltest.Run(t, controltest.Study{File: slowHash(t), Seed: 7, Replicates: 3, Only: []string{"3 flows"}})
	controltest.AsPredicted(t, run, 0)
	const link = 60e6 * 8948 / 9014
	for _, trial := range run.Trials {
		share := trial.GoodputBps / link
		low, high := 1.3, 2*controltest.Fuller+0.1
		if hash := trial.Levels["hash"]; hash == "policy 0" || hash == "policy 1" &&
			trial.PlacementLimitBps < 1.5*link {
			low, high = 0.6, controltest.Fuller+0.1 // short windows
		}
		if share < low || share > high {
			t.Errorf("trial %d (%s): %.3f links' worth, where the placement allows %.3f", trial.Order, trial.Treatment,
				share, trial.PlacementLimitBps/link)
		}
		if ratio := trial.LimitBps / link; ratio < 1.999 || ratio > 2.001 {
			t.Errorf("trial %d: the limit is %.3f links", trial.Order, ratio)
		}
	}
	for _, tr := range run.Treatments {
		switch c := tr.Chance; {
		case tr.Levels["hash"] != "policy 1":
			if c != nil {
				t.Errorf("%s: nothing is left to chance, but %+v", tr.Name, c)
			}
		case c == nil || c.By != "3 flows over 2 equal-cost paths" || c.LeastBps/link < 0.6 ||
			c.LeastBps/link > 1.001 || c.MostBps/link < 1.999:
			t.Errorf("%s: chance leaves %+v", tr.Name, c)
		}
	}
}

// TestECMPHashOfIPv6: the same over IPv6, whose parameters are its own.
func TestECMPHashOfIPv6(t *testing.T) {
	kerneltest.Parallel(t)
	run := controltest.Run(t, controltest.Study{
		File: slowHash(t, "10.0.200.{s}/32", "fd00:200::{s}/128", "net.ipv4.fib", "net.ipv6.fib"),
		Seed: 7, Replicates: 2, Only: []string{"3 flows", "chosen ports"}})
	controltest.AsPredicted(t, run, 0)
	const link = 60e6 * 8928 / 9014
	for hash, links := range map[string]float64{"policy 0": 1, "chosen ports": 2} {
		got := controltest.Treatment(t, run, hash+", 3 flows").Goodput.MeanBps / link
		// More than one link, or not: a busy machine may take its part of it, and
		// the trust checks look at what no link can carry.
		if got < 0.75*links-0.1 || got > links+0.3 {
			t.Errorf("%s: %.3f links' worth, want %.0f", hash, got, links)
		}
	}
}

// TestECMPTiers: spines that hash as the leaf does leave half of their links idle;
// with seeds of their own, or other fields, they don't.
func TestECMPTiers(t *testing.T) {
	kerneltest.Parallel(t)
	file := controltest.BuiltIn(t, "ecmp-tiers", "rate: 400mbit", "rate: 160mbit", "rate: 200mbit", "rate: 80mbit",
		"rate: 100mbit", "rate: 40mbit",
		"duration: 600ms", "duration: 120ms", "warmup: 1s", "warmup: 120ms")
	run := controltest.Run(t, controltest.Study{File: file, Seed: 7, Replicates: 2})
	controltest.AsPredicted(t, run, 0)
	for _, tr := range run.Treatments {
		if tr.Chance != nil { // 32 flows use all four links, but for 4e-4
			t.Errorf("%s: %+v", tr.Name, tr.Chance)
		}
	}
	for _, trial := range run.Trials {
		last := map[string]bool{}
		for _, f := range trial.Flows {
			last[f.Path[len(f.Path)-1]] = true
		}
		// By chance 32 flows use at most two of four links once in 10⁹ times.
		if one := trial.Levels["hash"] == "one seed"; one != (len(last) <= 2) {
			t.Errorf("%s: %d flows came by %d links", trial.Treatment, len(trial.Flows), len(last))
		}
	}
}

// TestECMPFaults: each cause in a lab that has it, and none in one that has not.
func TestECMPFaults(t *testing.T) {
	kerneltest.Long(t)
	file := controltest.File(t, "ecmp-faults.yaml")
	run := controltest.Run(t, controltest.Study{File: file, Seed: 3})
	idle := false // whether the two flows happened to share a link
	for _, trial := range run.Trials {
		idle = idle || trial.Treatment == "two flows" && trial.PlacementLimitBps < 0.95*trial.LimitBps
	}
	for _, c := range []struct {
		id, treatment, host string
		want                bool
	}{
		{"ecmp-l3-hash", "by addresses", "leaf", true},
		{"ecmp-l3-hash", "sound", "", false},
		{"ecmp-polarization", "polarised", "spine1", true},
		{"ecmp-polarization", "sound", "", false},
		{"ecmp-polarization", "by addresses", "", false},
		{"ecmp-weight-mismatch", "unequal", "leaf", true},
		{"ecmp-weight-mismatch", "sound", "", false},
		{"ecmp-dead-nexthop", "dead", "leaf", true},
		{"ecmp-dead-nexthop", "sound", "", false},
		{"ecmp-few-flows", "two flows", "leaf", idle},
		{"ecmp-few-flows", "sound", "", false},
	} {
		if c.id == "ecmp-polarization" && c.want {
			c.host = "" // the one that more than a handful of flows came to
		}
		seen := slices.IndexFunc(run.Findings, func(f record.Finding) bool {
			return f.ID == c.id && (c.host == "" || f.Host == c.host) && slices.Contains(f.Treatments, c.treatment)
		})
		switch {
		case seen < 0 && c.want:
			t.Errorf("%s at %q: not found", c.id, c.treatment)
		case seen >= 0 && !c.want:
			t.Errorf("%s at %q: found %+v", c.id, c.treatment, run.Findings[seen])
		}
	}
}

// TestECMPSourceMismatch: by a group of nexthop objects flows leave by one link with
// the address of another; with a rule and a table for each address none does.
func TestECMPSourceMismatch(t *testing.T) {
	file := controltest.File(t, "ecmp-source.yaml")
	run := controltest.Run(t, controltest.Study{File: file, Seed: 3})
	links := map[string]string{"10.1.1.1": "client.eth0", "10.1.2.1": "client.eth1"}
	crossed := map[string]int{}
	for _, trial := range run.Trials {
		for _, f := range trial.Flows {
			if f.ReceivedBytes > 0 && f.Path[0] != links[f.SourceAddr().String()] {
				crossed[trial.Treatment]++
			}
		}
	}
	if crossed["by objects"] == 0 || crossed["by address"] != 0 {
		t.Errorf("flows with another link's address: %v", crossed)
	}
	for _, f := range run.Findings {
		if f.ID == "ecmp-source-mismatch" {
			if f.Host != "client" || f.Confidence != record.Certain ||
				!slices.Equal(f.Treatments, []string{"by objects"}) {
				t.Errorf("%+v", f)
			}
			return
		}
	}
	t.Error("not found")
}

// TestECMPWithdrawn: a spine's port goes down under running flows. Those that came by
// it move, whatever the group; of the others none does where the group is resilient,
// and some where it is not. In every trial all four links are there again.
func TestECMPWithdrawn(t *testing.T) {
	kerneltest.Parallel(t)
	file := controltest.BuiltIn(t, "ecmp-withdrawn", "rate: 1gbit, mtu: 9000", "rate: 100mbit",
		"streams: 32, rate_cap: 40mbit",
		"streams: 64, rate_cap: 1500kbit",
		"duration: 3s", "duration: 600ms", "warmup: 300ms", "warmup: 100ms", "at: 1s", "at: 200ms")
	run := controltest.Run(t, controltest.Study{File: file, Seed: 5, Replicates: 2, Only: []string{"link down"}})
	// A group sends nothing by a next hop whose neighbour is just being asked for: a
	// connection that opens in that moment goes by another, and keeps to it.
	controltest.AsPredicted(t, run, 2)
	for _, trial := range run.Trials {
		withdrawn, came, others := 0, 0, 0
		for _, f := range trial.Flows {
			if len(f.Outages) != 1 {
				t.Errorf("trial %d (%s): flow %s has %d outages", trial.Order, trial.Treatment, f.ID, len(f.Outages))
				continue
			}
			o := f.Outages[0]
			if gone := slices.Contains(o.Before, "spine1.down1"); o.Withdrawn != gone || gone &&
				slices.Contains(o.After, "spine1.down1") {
				t.Errorf("trial %d (%s): %+v", trial.Order, trial.Treatment, o)
			}
			switch {
			case o.Withdrawn:
				withdrawn++
				if o.Moved {
					came++
				}
			case o.Moved:
				others++
			}
		}
		if len(trial.Events) != 1 || withdrawn == 0 || came < withdrawn/2 {
			t.Errorf("trial %d (%s): of %d flows whose link went down %d came by another path; %+v", trial.Order,
				trial.Treatment, withdrawn, came, trial.Events)
		}
		if group := trial.Levels["route"]; (others > 0) != (group == "ordinary group") {
			t.Errorf("trial %d: %d other flows moved by an %s", trial.Order, others, group)
		}
	}
}
