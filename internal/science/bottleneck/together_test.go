package bottleneck

import (
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
		{"over full links", "p1w", false, 0, FullLink, `"rate_bps":1000000000`},
		{"with nothing to send", "p1w", true, 0.6, Application, `{"share":0.6,"by_program":true}`},
		{"that are busy", "p1w", true, 0.4, "", ""},
		{"of a peer that is not ours", "", true, 1, "", ""},
	} {
		trial, over := sound()
		if test.idle {
			idleLinks(over)
		}
		f := &trial.Flows[0]
		f.Process, f.SenderInfo, f.DryShare = test.process, nil, test.dry
		got := Attribute(record.Trial{Flows: []record.Flow{*f}, Hosts: trial.Hosts,
			WindowS: trial.WindowS}, over, true)[0]
		if got.By != test.want || !shows(got.Facts, test.why) {
			t.Errorf("%s: %q (%s), want %q (%s)", test.name, got.By, said(got.Facts), test.want, test.why)
		}
	}
}
