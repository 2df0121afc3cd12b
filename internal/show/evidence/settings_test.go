package evidence

import (
	"slices"
	"testing"

	"linerate/internal/show/document"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

// TestSettings: what a level gives flows is listed with what it sets on hosts.
func TestSettings(t *testing.T) {
	run := showtest.ArpFlux()
	levels := slices.Clone(run.Factors[1].Levels)
	levels[1].SettingLines, levels[1].FlowLines = []string{"server: sysctl a=1"}, []string{"congestion_control bbr"}
	levels[2].SettingLines, levels[2].FlowLines = nil, []string{"window 4MiB"}
	run.Factors[1].Levels = levels
	at := map[string][]string{}
	name := ""
	for _, b := range Settings(view.New(run)) {
		switch b := b.(type) {
		case document.Heading:
			name = b.Text
		case document.Listing:
			at[name] = b.Lines
		}
	}
	if got := at[levels[1].Name]; !slices.Equal(got, []string{"server: sysctl a=1", "flows: congestion_control bbr"}) {
		t.Errorf("%s: %q", levels[1].Name, got)
	}
	if got := at[levels[2].Name]; !slices.Equal(got, []string{"flows: window 4MiB"}) {
		t.Errorf("%s: %q", levels[2].Name, got)
	}
}
