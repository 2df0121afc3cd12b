package cli

import (
	"os"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/machinetest"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/trust"
)

// TestMachineLimitedBy: each reason for which a flow goes no faster is found on this kernel
// and in user-mode Linux, there with netem and with the emulator. A kernel without a field of
// TCP_INFO that a reason needs, or a processor that is busy, is named instead.
func TestMachineLimitedBy(t *testing.T) {
	machinetest.TakesMinutes(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		const name = "limited-by-alone.yaml"
		file := controltest.File(t, name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		allFound(t, "this kernel", runLab(t, t.TempDir(), file))
		m := machinetest.Boot(t, machinetest.Machine{Name: "uml", Kernel: machinetest.UserMode(t), Memory: 1024,
			Modules: []string{"veth", "bridge", "sch_netem", "sch_tbf", "sch_htb", "tun", "ipv6"},
			Files:   map[string][]byte{"/root/" + name: text}})[0]
		for _, by := range topology.Mechanisms {
			run := runOn(t, m, name, "--set", "topology.impaired_by="+string(by))
			allFound(t, "user-mode Linux, "+string(by), &run)
		}
	})
}

// allFound checks that every flow of the run is held back by what its treatment is named for, but
// for trials of which a hypervisor took time, as their trust check says: a paused program does
// not reach its cap.
func allFound(t *testing.T, on string, run *record.Run) {
	t.Helper()
	want := map[string]string{
		"full link": bottleneck.FullLink, "rate cap": bottleneck.RateCap, "application": bottleneck.Application,
		"slow reader": bottleneck.SlowReader, "receiver window": bottleneck.ReceiverWindow,
		"congestion window": bottleneck.CongestionWindow, "no answer": bottleneck.NoAnswer,
		"generator": bottleneck.Generator,
	}
	seen, sound := map[string]int{}, map[string]int{}
	for _, trial := range run.Trials {
		f := trial.Flows[0]
		reason := strings.TrimPrefix(trial.Treatment, "by ")
		seen[reason]++
		t.Logf("%s: %s: %s: %+v", on, trial.Treatment, f.LimitedBy, f.LimitedFacts)
		if trust.Stolen(trial) {
			continue
		}
		sound[reason]++
		if f.LimitedBy != want[reason] || f.LimitedFacts == nil {
			t.Errorf("%s: block %d, %s: %q (%+v)\n%s", on, trial.Block, trial.Treatment, f.LimitedBy, f.LimitedFacts,
				controltest.Figures(f))
		}
	}
	for reason := range want {
		if seen[reason] != 3 || sound[reason] == 0 {
			t.Errorf("%s: %d trials of %q, want 3; of %d a hypervisor took no time, want 1 at least", on, seen[reason],
				reason, sound[reason])
		}
	}
}
