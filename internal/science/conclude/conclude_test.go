package conclude

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/sciencetest"
	"linerate/internal/science/stats"
)

var update = flag.Bool("update", false, "write the stored run anew")

// fixture is a run for the tests of everything that shows or stores runs.
const fixture = "../../model/record/testdata/arp-flux-run.json"

// The stored run is what Conclude makes of the trials today.
func TestFixture(t *testing.T) {
	run := sciencetest.Run(7, 4)
	Conclude(run)
	got, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(fixture, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	var stored record.Run
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	// Compared by what it says: last digits may differ between processors.
	for _, pair := range [][2]any{
		{stored.Conclusion.Conditions[0].Baseline.Label, run.Conclusion.Conditions[0].Baseline.Label},
		{best(&stored), best(run)}, {stored.Findings, run.Findings}, {len(stored.Trials), len(run.Trials)},
		{len(stored.Effects), len(run.Effects)}, {len(stored.Treatments), len(run.Treatments)},
		{len(stored.Trust), len(run.Trust)},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s says\n%v\nand Conclude now\n%v\n(go test -update writes it anew)", fixture, pair[0], pair[1])
		}
	}
}

func TestArpFlux(t *testing.T) {
	run := sciencetest.Run(7, 4)
	Conclude(run)
	fixes := map[string][]string{}
	for _, at := range run.Conclusion.Conditions {
		if u := at.Baseline.Interfaces; u == nil ||
			*u != (record.InterfaceUse{Host: "server", Least: 1, LeastTrials: 4, Most: 1, Of: 4, Trials: 4}) {
			t.Errorf("%s: %+v", at.Name, u)
		}
		for _, c := range at.Candidates {
			if c.Fix {
				fixes[at.Name] = append(fixes[at.Name], c.Label)
			}
			if u := c.Interfaces; c.Label == "arp_ignore=1" && at.Name == "writes" && u.Least == u.Most {
				t.Errorf("arp_ignore=1 uses %+v", u)
			}
			if c.Best != (c.Label == "arp + source routing") {
				t.Errorf("%s: best is %t", c.Treatment, c.Best)
			}
		}
	}
	if !reflect.DeepEqual(fixes, map[string][]string{"writes": {"static ARP entries", "arp_ignore=1 + arp_announce=2"},
		"reads": {"arp + source routing"}}) {
		t.Errorf("fixes %v", fixes)
	}
	if n := len(run.Treatments); n != 14 {
		t.Fatalf("%d treatments", n)
	}
	for _, tr := range run.Treatments {
		full := strings.Contains(tr.Name, "source routing") || (strings.HasPrefix(tr.Name, "writes") &&
			(strings.Contains(tr.Name, "static") || strings.Contains(tr.Name, "announce")))
		if tr.LimitWhy != "4 × 1 Gbit/s × 1448/1514" || tr.Trials != 4 || len(tr.Interfaces) != 6 ||
			tr.Goodput.LowBps > tr.Goodput.MeanBps || tr.Goodput.Confidence != 0.95 {
			t.Errorf("%+v", tr)
		}
		if full != (tr.Efficiency > 0.98) {
			t.Errorf("%s: efficiency %.3f", tr.Name, tr.Efficiency)
		}
		if tr.Baseline != strings.HasSuffix(tr.Name, "kernel defaults") {
			t.Errorf("%s: baseline %v", tr.Name, tr.Baseline)
		}
		share := 0.0
		for _, p := range tr.Interfaces {
			if p.Host == "server" {
				share += p.Share
				if p.LimitBps != 1e9 || p.RxBps+p.TxBps > 1.01e9 {
					t.Errorf("%s: interface %+v", tr.Name, p)
				}
			}
		}
		if share < 0.999 || share > 1.001 {
			t.Errorf("%s: the server's shares add up to %g", tr.Name, share)
		}
		unreachable := strings.HasSuffix(tr.Name, "arp + rp_filter=1")
		if unreachable != (tr.Unconnected == 24) {
			t.Errorf("%s: %d flows did not connect", tr.Name, tr.Unconnected)
		}
	}
	if run.Treatments[0].Name != "writes, kernel defaults" ||
		run.Treatments[13].Name != "reads, arp + source routing + rp_filter=1" {
		t.Error("treatments are not in the order of their levels")
	}
	for _, e := range run.Effects {
		if e.To == "arp_ignore=1" && e.At["direction"] == "writes" &&
			!strings.HasSuffix(e.Why, " interfaces by chance") {
			t.Errorf("chance is not named: %+v", e)
		}
	}
	for _, c := range run.Trust {
		if !c.Pass || c.Trial != 0 {
			t.Errorf("%+v", c)
		}
	}
	var ids []string
	for _, f := range run.Findings {
		ids = append(ids, f.ID)
		if slices.ContainsFunc(f.Treatments, func(name string) bool {
			return strings.Contains(name, "source routing")
		}) {
			t.Errorf("%s is found where it is fixed: %v", f.ID, f.Treatments)
		}
	}
	if strings.Join(ids, " ") != "arp-flux arp-wrong-source same-subnet-one-egress rp-filter-drop" {
		t.Errorf("findings %v", ids)
	}
	again := run.Conclusion
	Conclude(run)
	if !reflect.DeepEqual(run.Conclusion, again) {
		t.Error("concluding twice changes the conclusion")
	}
}

// TestToolFigureIsNoDoubt: a figure counted at the sender is kept and refuted, and puts
// no measurement in doubt.
func TestToolFigureIsNoDoubt(t *testing.T) {
	accounted := sciencetest.Few(2, 4)
	for i := range accounted.Trials {
		accounted.Trials[i].AccountSender = true
		accounted.Trials[i].SenderReportedBps = 1.4 * sciencetest.Limit
	}
	wrong := sciencetest.Few(4, 0, 3)
	wrong.Trials[1].GoodputBps *= 1.2
	Conclude(accounted)
	Conclude(wrong)
	if tool := accounted.Treatments[0].ToolReported; tool == nil || tool.SumBps != 1.4*sciencetest.Limit ||
		accounted.Conclusion.Doubts != nil || len(record.Refuted(accounted.Trust)) != 2 {
		t.Errorf("sender-side figure: %+v, %+v", tool, accounted.Conclusion)
	}
	if c := wrong.Conclusion; !slices.Equal(c.Doubts, []string{"limit"}) || c.DoubtedTrials != 1 || c.Trials != 8 {
		t.Errorf("failed trust is not said: %+v", c)
	}
	if text, err := json.Marshal(wrong); err != nil || strings.Contains(string(text), `"findings":null`) {
		t.Errorf("no findings must be an empty list: %v", err)
	}
}

// A real host has interfaces that are none of the run's, and they may be busy.
func TestOnlyDrawnInterfacesCount(t *testing.T) {
	run := sciencetest.Few(2, 0, 4)
	for i := range run.Trials {
		h := &run.Trials[i].Hosts[0]
		h.Begin.Interfaces = append(h.Begin.Interfaces, netstate.InterfaceCounters{Interface: "mgmt",
			AtNs: h.Begin.Interfaces[0].AtNs})
		h.End.Interfaces = append(h.End.Interfaces, netstate.InterfaceCounters{Interface: "mgmt", RxBytes: 1e9,
			RxPackets: 1e5, AtNs: h.End.Interfaces[0].AtNs})
	}
	Conclude(run)
	if u := run.Conclusion.Conditions[0].Baseline.Interfaces; u == nil || u.Most != 1 || u.Of != 4 {
		t.Errorf("%+v", u)
	}
}

// A link between switches has its load on a switch's port; hosts' links on the
// host's.
func TestInterfaceLoads(t *testing.T) {
	run := sciencetest.Few(1, 4)
	run.Topology.Switches = append(run.Topology.Switches, topology.Switch{Name: "far"})
	last := &run.Topology.Links[len(run.Topology.Links)-1]
	last.From = topology.End{Node: "far", Interface: "p-switch"}
	Conclude(run)
	var names []string
	for _, p := range run.Treatments[0].Interfaces {
		names = append(names, p.Host+"."+p.Interface)
	}
	want := "server.eth0 server.eth1 server.eth2 server.eth3 client1.eth0 switch.p-client2-eth0"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("interfaces %q, want %q", got, want)
	}
}

// TestFewTrials: what one trial of each treatment leaves open is unknown, not infinite, where
// others jump and where nothing is carried.
func TestFewTrials(t *testing.T) {
	for blocks := 1; blocks < stats.LeastBlocks; blocks++ {
		for _, dead := range []string{"", "static ARP entries", "kernel defaults"} {
			run := sciencetest.Run(7, blocks)
			for i := range run.Trials {
				if run.Trials[i].Levels["fix"] == dead {
					run.Trials[i].GoodputBps = 0
				}
			}
			Conclude(run)
			if _, err := json.Marshal(run); err != nil {
				t.Errorf("%d blocks, %q carries nothing: %v", blocks, dead, err)
			}
		}
	}
}
