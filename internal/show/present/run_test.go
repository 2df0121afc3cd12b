package present

import (
	"testing"

	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

func TestUnconnectedFlowsWarnUnlessAllowed(t *testing.T) {
	run := showtest.ArpFlux()
	if got := warnings(view.New(run)); len(got) != 0 {
		t.Errorf("flows that may fail to connect gave %q", got)
	}
	for i := range run.Trials {
		run.Trials[i].Unreachable = false
	}
	got := warnings(view.New(run))
	if len(got) != 2 || got[0] != "6 of 8 flows could not connect in 4 of 4 trials: arp + rp_filter=1, writes." {
		t.Errorf("flows that had to connect gave %q", got)
	}
}
