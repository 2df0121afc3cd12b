package answer

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// TestSilentFlowInHeadline: a sum hides that a flow carried nothing, so the headline says it, and the
// check alive fails.
func TestSilentFlowInHeadline(t *testing.T) {
	const says = "; flow f2 from client1 to server carried nothing"
	for _, lost := range []bool{false, true} {
		run := sciencetest.Few(1, 4)
		run.Trials[0].WindowS = 3
		if f := &run.Trials[0].Flows[1]; lost {
			f.ReceivedBytes, f.AckedBytes, f.GoodputBps = 0, 0, 0
		}
		conclude.Conclude(run)
		a := Run(run)
		if strings.Contains(a.Headline, says) != lost || strings.Contains(Brief(run.Conclusion), says) != lost ||
			strings.Contains(strings.Join(a.Caveats, " "), "alive") != lost {
			t.Errorf("lost: %t: %s / %s / %v", lost, a.Headline, Brief(run.Conclusion), a.Caveats)
		}
	}
}

// TestOddInHeadline: the host that is slower than its peers, or the shaper that makes it so, is in the
// headline if it is in most trials.
func TestOddInHeadline(t *testing.T) {
	for name, c := range map[string]struct {
		slow   []float64 // goodput of h7 in each trial
		shaped bool
		says   string
	}{
		"slow":      {[]float64{48e6, 47e6, 49e6}, false, "; h7 sends 48 Mbit/s, and its 8 peers 190 Mbit/s"},
		"slow once": {[]float64{48e6, 190e6, 190e6}, false, ""},
		"by a shaper": {[]float64{48e6, 48e6}, true,
			"; the limit is tbf on h7.eth0: 50 Mbit/s, below the declared 200 Mbit/s"},
	} {
		run := &record.Run{Unit: "bit/s", Status: "complete"}
		for i := range 9 {
			host := fmt.Sprintf("h%d", i+1)
			run.Topology.Hosts = append(run.Topology.Hosts, topology.Host{Name: host,
				Interfaces: []topology.Interface{{Name: "eth0"}}})
			l := topology.Link{From: topology.End{Node: host, Interface: "eth0"},
				To: topology.End{Node: "sw", Interface: host}}
			l.Rate = 200e6
			run.Topology.Links = append(run.Topology.Links, l)
		}
		for block, bps := range c.slow {
			trial := record.Trial{Block: block + 1, Order: block + 1, WindowS: 1}
			for i := range 9 {
				from, to := fmt.Sprintf("h%d", i+1), fmt.Sprintf("h%d", (i+1)%9+1)
				f := record.Flow{ID: "f" + from, From: from, To: to, Connected: true, Alive: true, GoodputBps: 190e6,
					Path: []string{from + ".eth0", "sw." + from, "sw." + to, to + ".eth0"}}
				if i == 6 {
					f.GoodputBps = bps
				}
				trial.GoodputBps += f.GoodputBps
				trial.Flows = append(trial.Flows, f)
			}
			if over := run.Topology; c.shaped {
				over.Links = append([]topology.Link{}, over.Links...)
				over.Links[6].Rate, over.Links[6].Impairment.Shaper = 50e6, "tbf"
				slower := over.Links[6].Impairment
				slower.Shaper, slower.Rate = "", 200e6
				over.Links[6].Reverse = &topology.Direction{Impairment: slower}
				trial.Topology = &over
			}
			run.Trials = append(run.Trials, trial)
		}
		conclude.Conclude(run)
		a := Run(run)
		if !strings.Contains(a.Headline, c.says) || c.says == "" && strings.Contains(a.Headline, "peers") {
			t.Errorf("%s: %s", name, a.Headline)
		}
	}
}
