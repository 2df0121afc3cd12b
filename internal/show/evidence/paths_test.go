package evidence

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/number"
)

// TestByPath: paths through the same routers are distinguished by where they arrive.
func TestByPath(t *testing.T) {
	trial := &record.Trial{}
	for _, path := range []string{"a.eth0 leaf.down leaf.up1 spine1.down spine1.up0 b.eth0",
		"a.eth0 leaf.down leaf.up1 spine1.down spine1.up1 b.eth1",
		"a.eth0 leaf.down leaf.up2 spine2.down spine2.up0 b.eth2"} {
		f := record.Flow{Paths: 3, Path: strings.Fields(path), GoodputBps: 1e6}
		f.Observed = f.Path[1:]
		trial.Flows = append(trial.Flows, f)
	}
	var names []string
	for _, cell := range byPath(trial, number.BitScale(1e6)) {
		names = append(names, cell.path)
	}
	if got, want := strings.Join(names, "; "),
		"eth0 → leaf → spine1 → eth0; eth0 → leaf → spine1 → eth1; eth0 → leaf → spine2"; got != want {
		t.Errorf("paths %q, want %q", got, want)
	}
}
