package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/bottleneck"
)

// TestMachineLossyPath: a path of 100 Mbit/s and 20 ms that loses one frame in 2,000 gives the
// same answer on this kernel and on user-mode Linux, where both netem and the emulator carry
// it: the intervals overlap, at least 90 % of the flows are as predicted, and those with the
// small window are attributed to it.
func TestMachineLossyPath(t *testing.T) {
	machinetest.TakesMinutes(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		const name = "lossy-path.yaml"
		file := labFile(t, name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := machinetest.Boot(t, machinetest.Machine{Name: "uml", Kernel: machinetest.UserMode(t), Memory: 1024,
			Modules: []string{"veth", "bridge", "sch_netem", "sch_tbf", "sch_htb", "tun", "ipv6", "tcp_bbr"}, Files: map[string][]byte{"/root/" + name: text}})[0]
		runs := map[string]*record.Run{"this kernel": runLab(t, t.TempDir(), file)}
		for _, by := range topology.Mechanisms {
			run := runOn(t, m, name, "--set", "topology.impaired_by="+string(by))
			runs["user-mode Linux, "+string(by)] = &run
		}
		for on, run := range runs {
			flows, predicted := 0, 0
			for _, trial := range run.Trials {
				f := trial.Flows[0]
				if trial.Levels["window"] == "128 KiB" && f.LimitedBy != bottleneck.ReceiverWindow && f.LimitedBy != bottleneck.SendBuffer {
					t.Errorf("%s, %s, block %d: held back by %q (%s), want the window", on, trial.Treatment, trial.Block, f.LimitedBy, f.LimitedWhy)
				}
				if e := f.Expected; e != nil {
					if flows++; f.GoodputBps >= 0.95*e.LowBps && f.GoodputBps <= fuller*e.HighBps {
						predicted++
					} else {
						t.Logf("%s, %s, block %d: %.4g Mbit/s, predicted %.4g to %.4g; %s", on, trial.Treatment, trial.Block, f.GoodputBps/1e6, e.LowBps/1e6, e.HighBps/1e6, figures(f))
					}
				}
			}
			if 10*predicted < 9*flows || flows == 0 {
				t.Errorf("%s: %d of %d flows as predicted, want 90 %%", on, predicted, flows)
			}
		}
		for i, of := range runs["this kernel"].Treatments {
			low, high := of.Goodput.LowBps, of.Goodput.HighBps
			var all []string
			for on, run := range runs {
				g := run.Treatments[i].Goodput
				low, high = max(low, g.LowBps), min(high, g.HighBps)
				all = append(all, fmt.Sprintf("%s %.3g (%.3g–%.3g)", on, g.MeanBps/1e6, g.LowBps/1e6, g.HighBps/1e6))
			}
			t.Logf("%s, Mbit/s: %s", of.Name, strings.Join(all, "; "))
			if low > high {
				t.Errorf("%s: no interval that all have in common", of.Name)
			}
		}
	})
}
