package present

import (
	"strings"
	"testing"

	"linerate/internal/show/export"
)

// TestLongTimes: times of a long measurement are whole seconds, without an exponent.
func TestLongTimes(t *testing.T) {
	if got := endedAfter("", 130, 200); !strings.HasPrefix(got, "Interrupted after 130 s of 200 s:") {
		t.Errorf("%q", got)
	}
	for want, m := range map[string]export.Measurement{
		"10,800 s, without warm-up":       {DurationS: 10_800},
		"1,004 s, after 1.5 s of warm-up": {DurationS: 1004, WarmupS: 1.5},
	} {
		if got := measureTitle(&m); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
