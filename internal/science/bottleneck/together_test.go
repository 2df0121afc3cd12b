package bottleneck

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestTogether: what held connections back that are counted together, of which there is no
// TCP_INFO.
func TestTogether(t *testing.T) {
	for _, test := range []struct {
		name, process string
		idle          bool // links
		dry           float64
		want, why     string
	}{
		{"over full links", "p1w", false, 0, FullLink, "of 1 Gbit/s"},
		{"with nothing to send", "p1w", true, 0.6, Application, "at 60 % of the readings"},
		{"that are busy", "p1w", true, 0.4, "", ""},
		{"of a peer that is not ours", "", true, 1, "", ""},
	} {
		trial, over := sound()
		if test.idle {
			idleLinks(over)
		}
		f := &trial.Flows[0]
		f.Process, f.SenderInfo, f.DryShare = test.process, nil, test.dry
		got := Attribute([]record.Flow{*f}, trial.Hosts, trial.WindowS, over, true)[0]
		if got.By != test.want || !strings.Contains(got.Why, test.why) {
			t.Errorf("%s: %q (%s), want %q (%s)", test.name, got.By, got.Why, test.want, test.why)
		}
	}
}
