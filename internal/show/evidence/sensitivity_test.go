package evidence

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestSensitivityOfEvery: the line promises for every comparison what the most scattered one
// shows, and tells the others where they show clearly less.
func TestSensitivityOfEvery(t *testing.T) {
	s := &record.Sensitivity{Detectable: 0.099, Power: 0.8, Scatter: 0.014, Blocks: 4, Comparisons: 20,
		Least: &record.Smallest{Detectable: 0.028, Scatter: 0.0001}}
	if got, want := Sensitivity(s),
		"changes of 9.9 % in every comparison, and of 2.8 % in the least scattered one, with a probability of 80 "+
			"%, at scatters of <0.1 % to 1.4 % between trials (4 blocks, 20 comparisons)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.LeftToChance = 3; !strings.Contains(Sensitivity(s),
		"20 comparisons, of which 3 are not counted: which interface or link is used there is chance)") {
		t.Errorf("got %s", Sensitivity(s))
	}
	s.Least.Detectable, s.LeftToChance = s.Detectable, 0
	if got, want := Sensitivity(s),
		"changes of 9.9 % with a probability of 80 %, at a scatter of 1.4 % between trials (4 blocks, 20 "+
			"comparisons)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.ByMargin = 0.15; !strings.HasSuffix(Sensitivity(s),
		"; the margin of ±15 % decides that, not the number of blocks") {
		t.Errorf("got %s", Sensitivity(s))
	}
}
