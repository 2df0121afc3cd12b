package answer

import (
	"strings"
	"testing"

	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// TestSilentFlowInHeadline: a sum hides that a flow carried nothing, so the headline says it, and the
// check alive fails.
func TestSilentFlowInHeadline(t *testing.T) {
	const says = "; flow f2 from client1 to server carried nothing"
	for _, lost := range []bool{false, true} {
		run := sciencetest.Few(1, 4)
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
