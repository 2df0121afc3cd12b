package cli

import (
	"strings"
	"testing"

	"linerate/internal/kernel/machinetest"
	"linerate/internal/science/ecmp"
	"linerate/studies"
)

// TestMachineBondHash: in the built-in study, every flow takes the member that the bond's
// documented hash names; by addresses two clients use two members at most; by ports as many
// are used as theory has it, in at least 90 % of the trials, and the finding names the policy.
func TestMachineBondHash(t *testing.T) {
	machinetest.TakesMinutes(t)
	const members = 4
	text, err := studies.Files.ReadFile("bond-hash.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// One emulated CPU: less to carry, and shorter.
	small := strings.NewReplacer("rate: 100mbit", "rate: 15mbit", "rate: 1gbit", "rate: 100mbit", "duration: 2s",
		"duration: 1s", "warmup: 1s", "warmup: 500ms",
		"      2 flows: {workload: {streams: 1}}\n", "", "      16 flows: {workload: {streams: 8}}\n", "").Replace(
		string(text))
	m := machinetest.Boot(t, machinetest.Machine{Name: "uml", Kernel: machinetest.UserMode(t), Modules: deviceModules,
		Memory: 1024,
		Files:  map[string][]byte{"/root/bond.yaml": []byte(small)}})[0]
	run := runOn(t, m, "bond.yaml", "--replicates", "4")
	if len(run.Trials) != 3*2*4 {
		t.Fatalf("%d trials, want 24", len(run.Trials))
	}
	inside, cells := 0, 0
	for _, trial := range run.Trials {
		asPredicted(t, trial)
		used := map[string]bool{}
		for _, f := range trial.Flows {
			used[f.Path[0]] = true
		}
		policy := trial.Levels["hash"]
		if policy != "layer3+4" {
			if len(used) > 2 {
				t.Errorf("trial %d, %s: two clients use %d members", trial.Order, policy, len(used))
			}
			continue
		}
		low, high := usedBand(t, members, len(trial.Flows))
		cells++
		if len(used) >= low && len(used) <= high {
			inside++
		} else {
			t.Logf("trial %d: %d flows use %d members, the band is %d to %d", trial.Order, len(trial.Flows),
				len(used), low, high)
		}
	}
	if 10*inside < 9*cells {
		t.Errorf("%d of %d cells are inside the band that chance has", inside, cells)
	}
	found := map[string]bool{}
	for _, f := range run.Findings {
		found[f.ID] = true
		if f.ID == "bond-hash" && (f.Host != "nas" || len(f.Changes()) == 0 ||
			f.Changes()[0].Link.XmitHashPolicy != "layer3+4") {
			t.Errorf("finding %+v", f)
		}
		for _, treatment := range f.Treatments {
			if f.ID == "bond-hash" && strings.Contains(treatment, "layer3+4") {
				t.Errorf("layer3+4 has the finding: %v", f.Treatments)
			}
		}
	}
	if !found["bond-hash"] {
		t.Errorf("findings %v, want bond-hash", found)
	}
}

// usedBand is from how few to how many links so many flows use, but for 1 % of the cases.
func usedBand(t *testing.T, links, flows int) (low, high int) {
	t.Helper()
	used, ok := ecmp.Alike(links, 1).Used(flows)
	if !ok {
		t.Fatal("no distribution")
	}
	low, high = links, 0
	below := 0.0
	for _, o := range used {
		before := below
		below += o.Chance
		if below > 0.005 && before < 0.995 {
			low, high = min(low, int(o.Value+0.5)), max(high, int(o.Value+0.5))
		}
	}
	return low, high
}
