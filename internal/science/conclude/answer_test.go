package conclude

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/sciencetest"
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
		{stored.Answer, run.Answer}, {best(&stored), best(run)}, {stored.Findings, run.Findings}, {len(stored.Trials), len(run.Trials)},
		{len(stored.Effects), len(run.Effects)}, {len(stored.Treatments), len(run.Treatments)}, {len(stored.Trust), len(run.Trust)},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s says\n%v\nand Conclude now\n%v\n(go test -update writes it anew)", fixture, pair[0], pair[1])
		}
	}
}

func TestArpFlux(t *testing.T) {
	run := sciencetest.Run(7, 4)
	Conclude(run)
	for _, want := range []string{
		"With kernel defaults writes and reads use one of server's four interfaces (119.5 of 478.2 MB/s).",
		"Writes reach the limit with static ARP entries (4.00×, ",
		" or arp_ignore=1 + arp_announce=2 (4.00×, ",
		"; reads reach the limit only with arp + source routing (4.00×, ",
		"arp_ignore=1 leaves it to chance: ",
	} {
		if !strings.Contains(run.Answer, want) {
			t.Errorf("no %q in %q", want, run.Answer)
		}
	}
	if n := len(run.Treatments); n != 14 {
		t.Fatalf("%d treatments", n)
	}
	for _, tr := range run.Treatments {
		full := strings.Contains(tr.Name, "source routing") || (strings.HasPrefix(tr.Name, "writes") && (strings.Contains(tr.Name, "static") || strings.Contains(tr.Name, "announce")))
		if tr.LimitWhy != "4 × 1 Gbit/s × 1448/1514" || tr.Trials != 4 || len(tr.Interfaces) != 6 || tr.Goodput.LowBps > tr.Goodput.MeanBps || tr.Goodput.Confidence != 0.95 {
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
	if run.Treatments[0].Name != "writes, kernel defaults" || run.Treatments[13].Name != "reads, arp + source routing + rp_filter=1" {
		t.Error("treatments are not in the order of their levels")
	}
	for _, e := range run.Effects {
		if e.To == "arp_ignore=1" && e.At["direction"] == "writes" && !strings.HasSuffix(e.Why, " interfaces by chance") {
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
		if slices.ContainsFunc(f.Treatments, func(name string) bool { return strings.Contains(name, "source routing") }) {
			t.Errorf("%s is found where it is fixed: %v", f.ID, f.Treatments)
		}
	}
	if strings.Join(ids, " ") != "arp-flux arp-wrong-source same-subnet-one-egress rp-filter-drop" {
		t.Errorf("findings %v", ids)
	}
	again := run.Answer
	Conclude(run)
	if run.Answer != again {
		t.Error("concluding twice changes the answer")
	}
}

// few is a run of only some levels of fix, in one direction, without the factor
// direction.
func few(blocks int, fixes ...int) *record.Run {
	run := sciencetest.Run(1, 0)
	random := rand.New(rand.NewPCG(2, 2))
	f := run.Factors[1]
	f.Levels = nil
	for _, i := range fixes {
		f.Levels = append(f.Levels, run.Factors[1].Levels[i])
	}
	f.Baseline = f.Levels[0].Name
	run.Factors = []record.Factor{f}
	if len(fixes) == 1 {
		run.Factors = nil
	}
	for block := 1; block <= blocks; block++ {
		for _, i := range fixes {
			trial := sciencetest.Trial(sciencetest.Fixes[i], "writes", block, len(run.Trials)+1, random)
			trial.Treatment = sciencetest.Fixes[i]
			run.Trials = append(run.Trials, trial)
		}
	}
	return run
}

func TestAnswers(t *testing.T) {
	single := few(1, 4)
	single.Unit = "bit/s"
	single.Trials[0].Flows = single.Trials[0].Flows[:1]
	single.Trials[0].GoodputBps, single.Trials[0].LimitBps = 956.1e6, 956.407e6
	unlimited := few(4, 0, 4)
	for i := range unlimited.Trials {
		unlimited.Trials[i].LimitBps = 0
	}
	partial := few(1, 0, 3)
	partial.Status = "interrupted"
	wrong := few(4, 0, 3)
	wrong.Trials[1].GoodputBps *= 1.2
	shaky := few(4, 0, 3)
	for i := range shaky.Trials {
		if shaky.Trials[i].Block == 1 && shaky.Trials[i].GoodputBps > 1e9 {
			shaky.Trials[i].GoodputBps *= 0.95
		}
	}
	accounted := few(2, 4)
	for i := range accounted.Trials {
		accounted.Trials[i].AccountSender = true
		accounted.Trials[i].SenderReportedBps = 1.4 * sciencetest.Limit
	}
	onePort := few(4, 0, 4)
	onePort.Topology.Hosts[0].Interfaces = onePort.Topology.Hosts[0].Interfaces[:1]
	for i := range onePort.Trials {
		onePort.Trials[i].Flows = nil
	}

	for _, test := range []struct {
		name string
		run  *record.Run
		want string // prefix
	}{
		{"no trial", sciencetest.Run(1, 0), "No trial was finished"},
		{"one trial", single, "Goodput is 956.1 Mbit/s, 99.97 % of the limit of the path."},
		{"several trials of one treatment", few(4, 4), "Goodput is 478.0 MB/s (477.9–478.1), 99.95 % of the limit of the path."},
		{"no limit known", unlimited, "With kernel defaults the flows use one of server's four interfaces (119.5 MB/s). The flows gain from arp + source routing: 478.0 MB/s (4.00×, "},
		{"fix does not help", few(4, 0, 5), "With kernel defaults the flows use one of server's four interfaces (119.5 of 478.2 MB/s). The flows gain nothing from arp + rp_filter=1: no difference beyond ±2 %."},
		{"nothing left to do", few(4, 4, 0), "With arp + source routing the flows use all four interfaces of server (478.0 of 478.2 MB/s). The flows are at the limit as they are, and fall behind with kernel defaults."},
		{"one fix, one block, interrupted", partial, "With kernel defaults the flows use one of server's four interfaces (119.5 of 478.2 MB/s). The flows reach the limit with arp_ignore=1 + arp_announce=2 (4.00×). The run ended early (interrupted), after 2 trials."},
		{"a figure that cannot be", wrong, "With kernel defaults the flows use one of server's four interfaces (119.5 of 478.2 MB/s). "},
		{"the interval reaches below the limit", shaky, "With kernel defaults the flows use one of server's four interfaces (119.5 of 478.2 MB/s). The flows are not surely at the limit with anything that was tried: arp_ignore=1 + arp_announce=2 comes nearest, 472.0 of 478.2 MB/s (3.95×, "},
		{"sender-side figures", accounted, "Goodput is 47"},
		{"no several interfaces", onePort, "With kernel defaults the flows reach 119.5 of 478.2 MB/s. "},
	} {
		t.Run(test.name, func(t *testing.T) {
			Conclude(test.run)
			if !strings.HasPrefix(test.run.Answer, test.want) {
				t.Errorf("got  %q\nwant %q", test.run.Answer, test.want)
			}
			if n := strings.Count(test.run.Answer, ". ") + 1; n > 3 {
				t.Errorf("%d sentences: %q", n, test.run.Answer)
			}
			if text, err := json.Marshal(test.run); err != nil || strings.Contains(string(text), `"findings":null`) {
				t.Errorf("no findings must be an empty list: %v", err)
			}
		})
	}
	if !strings.HasSuffix(wrong.Answer, "Mind the trust checks: 1 of 8 trials failed limit.") {
		t.Errorf("failed trust is not said: %q", wrong.Answer)
	}
	if tool := accounted.Treatments[0].ToolReported; tool == nil || tool.SumBps != 1.4*sciencetest.Limit || strings.Contains(accounted.Answer, "trust") || len(record.Refuted(accounted.Trust)) != 2 {
		t.Errorf("sender-side figure: %+v, %q", tool, accounted.Answer)
	}
}

// A real host has interfaces that are none of the run's, and they may be busy.
func TestBusyPortsAreDrawn(t *testing.T) {
	run := few(2, 0, 4)
	for i := range run.Trials {
		h := &run.Trials[i].Hosts[0]
		h.Begin.Interfaces = append(h.Begin.Interfaces, record.InterfaceCounters{Interface: "mgmt", AtNs: h.Begin.Interfaces[0].AtNs})
		h.End.Interfaces = append(h.End.Interfaces, record.InterfaceCounters{Interface: "mgmt", RxBytes: 1e9, RxPackets: 1e5, AtNs: h.End.Interfaces[0].AtNs})
	}
	Conclude(run)
	if want := "With kernel defaults the flows use one of server's four interfaces"; !strings.HasPrefix(run.Answer, want) {
		t.Errorf("%q, want %q", run.Answer, want)
	}
}

// A link between switches has its load on a switch's port; hosts' links on the
// host's.
func TestPortLoads(t *testing.T) {
	run := few(1, 4)
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

func TestDigits(t *testing.T) {
	for _, test := range []struct {
		unit       string
		bps, scale float64
		want       string
	}{
		{"MB/s", 956.4e6, 3825.6e6, "119.5 MB/s"},
		{"MB/s", 8e6, 8e6, "1.000 MB/s"},
		{"bit/s", 956.1e6, 956.4e6, "956.1 Mbit/s"},
		{"bit/s", 956.4e6, 3.8256e9, "0.956 Gbit/s"},
		{"", 0, 0, "0.000 bit/s"},
	} {
		value, suffix := quantity(test.unit, test.bps, test.scale)
		if got := value + " " + suffix; got != test.want {
			t.Errorf("%g at %g: %q, want %q", test.bps, test.scale, got, test.want)
		}
	}
}
