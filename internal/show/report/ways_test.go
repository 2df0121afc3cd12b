package report

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestWays: flows that had several ways are grouped by the one they took, and a
// page of a run without such flows says nothing of ways.
func TestWays(t *testing.T) {
	run := arpFlux()
	var b strings.Builder
	if err := HTML(&b, run); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), `id="ways"`) {
		t.Error("flows with one way are listed by way")
	}
	for i := range run.Trials {
		for j := range run.Trials[i].Flows {
			f := &run.Trials[i].Flows[j]
			spine := []string{"spine1", "spine2"}[j%2]
			f.Paths, f.Path = 2, []string{"server.eth0", spine + ".a", spine + ".b", "client.eth0"}
			f.Predicted, f.Observed = f.Path, []string{f.Path[1], f.Path[3]}
		}
	}
	odd := &run.Trials[0].Flows[0]
	odd.Observed = []string{"spine9.a"}
	b.Reset()
	if err := HTML(&b, run); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="ways"`, "eth0 → spine1", "eth0 → spine2", "took the way that the kernels had named", "Of "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

// TestByWay: ways through the same routers are told apart by where they arrive.
func TestByWay(t *testing.T) {
	trial := &record.Trial{}
	for _, path := range []string{"a.eth0 leaf.down leaf.up1 spine1.down spine1.up0 b.eth0", "a.eth0 leaf.down leaf.up1 spine1.down spine1.up1 b.eth1", "a.eth0 leaf.down leaf.up2 spine2.down spine2.up0 b.eth2"} {
		f := record.Flow{Paths: 3, Path: strings.Fields(path), GoodputBps: 1e6}
		f.Observed = f.Path[1:]
		trial.Flows = append(trial.Flows, f)
	}
	var names []string
	for _, cell := range byWay(trial, bitScale(1e6)) {
		names = append(names, cell.Way)
	}
	if got, want := strings.Join(names, "; "), "eth0 → leaf → spine1 → eth0; eth0 → leaf → spine1 → eth1; eth0 → leaf → spine2"; got != want {
		t.Errorf("ways %q, want %q", got, want)
	}
}
