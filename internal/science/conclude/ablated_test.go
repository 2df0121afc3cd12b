package conclude

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// listed is a run of a list of two on one path, with the levels of its plan.
func listed(path string, levels ...string) *record.Run {
	f := record.Factor{Name: "settings", Role: "compare", Baseline: "as it is", Ablate: "the list", Levels: []record.Level{{Name: "as it is"}}}
	for _, name := range levels {
		l := record.Level{Name: name, Settings: 1}
		switch word, part, _ := strings.Cut(name, " net."); {
		case name == "the list":
			l.Settings = 2
		case word == "without":
			l.Part, l.Against = "net."+part, "the list"
		case word == "only":
			l.Part = "net." + part
		}
		f.Levels = append(f.Levels, l)
	}
	run := &record.Run{
		Margin:  0.03,
		Factors: []record.Factor{{Name: "path", Role: "condition", Levels: []record.Level{{Name: path}}}, f},
	}
	for block := 1; block <= 3; block++ {
		for i, l := range f.Levels {
			mbps := 400 * (1 + 0.001*float64((block+i)%3))
			if l.Name == "the list" || l.Name == "only net.a" {
				mbps *= 2
			}
			run.Trials = append(run.Trials, record.Trial{
				Treatment: l.Name + ", " + path, Levels: map[string]string{"settings": l.Name, "path": path},
				Block: block, GoodputBps: mbps * 1e6, LimitBps: 956.4e6, WindowS: 3.5,
			})
		}
	}
	Conclude(run)
	return run
}

// TestAblated: of a list of which only parts were tried, the answer is what these
// parts did; a label begins a sentence in any alphabet.
func TestAblated(t *testing.T) {
	for name, test := range map[string]struct {
		run        *record.Run
		want, less string
	}{
		"a part alone":     {listed("long", "only net.a"), "only net.a", "list has not been tried"},
		"one of the parts": {listed("long", "the list", "only net.a"), "Long: the list as a whole improves goodput: 2.0", "other"},
		"all of them":      {listed("long", "the list", "only net.a", "only net.b"), "; net.a does it; the other one makes no difference.", "tried"},
		"another alphabet": {listed("öffentlich", "the list", "only net.a", "only net.b"), "Öffentlich: the list", "\uFFFD"},
	} {
		if got := test.run.Answer; !strings.Contains(got, test.want) || strings.Contains(got, test.less) {
			t.Errorf("%s: %q; want %q and not %q", name, got, test.want, test.less)
		}
	}
}
