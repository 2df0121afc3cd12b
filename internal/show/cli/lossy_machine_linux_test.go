package cli

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/bottleneck"
)

// TestMachineLossyPath: a path of 20 Mbit/s and 40 ms that loses one frame in 2,000 gives the
// same answer with netem and with the emulator in user-mode Linux, and on this kernel: a small
// window holds back most, then losses, and BBR least; at least 8 of 9 flows are as
// predicted; and the run says what carried the link. A window of so many bytes holds another
// number of segments on another kernel: its goodput is compared on one.
func TestMachineLossyPath(t *testing.T) {
	machinetest.TakesMinutes(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		const name = "lossy-path.yaml"
		file := controltest.File(t, name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := machinetest.Boot(t, machinetest.Machine{Name: "uml", Kernel: machinetest.UserMode(t), Memory: 1024,
			Modules: []string{"veth", "bridge", "sch_netem", "sch_tbf", "sch_htb", "tun", "ipv6", "tcp_bbr"},
			Files:   map[string][]byte{"/root/" + name: text}})[0]
		const here = "this kernel"
		runs := map[string]*record.Run{here: runLab(t, t.TempDir(), file)}
		for by, carrier := range map[topology.Mechanism]string{topology.Netem: "the kernel's netem",
			topology.Emulator: "linerate's link emulator"} {
			run := runOn(t, m, name, "--set", "topology.impaired_by="+string(by))
			if mode := run.Environment.Mode; !strings.Contains(mode, "delay and loss by "+carrier) {
				t.Errorf("impaired_by %s: the run was made %q, which does not say that %s carried its link", by,
					mode, carrier)
			}
			runs["user-mode Linux, "+string(by)] = &run
		}
		for on, run := range runs {
			asExpected(t, on, run)
		}
		for i, of := range runs[here].Treatments {
			least, most := 0.0, math.Inf(1)
			var all []string
			for on, run := range runs {
				g := run.Treatments[i].Goodput
				all = append(all, fmt.Sprintf("%s %.3g (%.3g–%.3g)", on, g.MeanBps/1e6, g.LowBps/1e6, g.HighBps/1e6))
				if on != here || of.Name != "small window" {
					least, most = max(least, g.LowBps), min(most, g.HighBps)
				}
			}
			t.Logf("%s, Mbit/s: %s", of.Name, strings.Join(all, "; "))
			if least > 1.1*most { // one CPU may cost a full link some percent
				t.Errorf("%s: the intervals are more than 10 %% apart", of.Name)
			}
		}
	})
}

// asExpected checks one run over the lossy path.
func asExpected(t *testing.T, on string, run *record.Run) {
	t.Helper()
	flows, predicted := 0, 0
	for _, trial := range run.Trials {
		f := trial.Flows[0]
		if trial.Treatment == "small window" && f.LimitedBy != bottleneck.ReceiverWindow &&
			f.LimitedBy != bottleneck.SendBuffer {
			t.Errorf("%s, block %d: held back by %q (%+v), want the window", on, trial.Block, f.LimitedBy,
				f.LimitedFacts)
		}
		e := f.Expected
		if e == nil {
			t.Errorf("%s, %s, block %d: nothing is predicted", on, trial.Treatment, trial.Block)
			continue
		}
		if flows++; f.GoodputBps >= 0.95*e.LowBps && f.GoodputBps <= controltest.Fuller*e.HighBps {
			predicted++
		} else {
			t.Logf("%s, %s, block %d: %.4g Mbit/s, predicted %.4g to %.4g; %s", on, trial.Treatment, trial.Block,
				f.GoodputBps/1e6, e.LowBps/1e6, e.HighBps/1e6, controltest.Figures(f))
		}
	}
	if predicted < flows-1 || flows != 9 {
		t.Errorf("%s: %d of %d flows as predicted, want at least 8 of 9", on, predicted, flows)
	}
	window, cubic, bbr := controltest.Treatment(t, run, "small window").Goodput.MeanBps,
		controltest.Treatment(t, run, "cubic").Goodput.MeanBps,
		controltest.Treatment(t, run, "bbr").Goodput.MeanBps
	if window <= 0 || window >= cubic || cubic > controltest.Fuller*bbr {
		t.Errorf("%s: %.3g Mbit/s with a small window, %.3g with cubic, %.3g with bbr; want this order", on, window/1e6,
			cubic/1e6, bbr/1e6)
	}
}
