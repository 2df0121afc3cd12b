package tune

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/unit"
)

// TestBudget: a budget is that of all trials together: a run gets what is left, the proof is
// not forgone for the search, and a budget in which nothing can be proven is refused.
func TestBudget(t *testing.T) {
	budget := func(d time.Duration) (*fakeHosts, Options) {
		f := helping()
		f.trialTime = time.Second
		o := f.options(t, wmem+rmem+scale)
		whole := unit.Duration(d)
		o.Redesign.Budget = &whole
		return f, o
	}
	spelled := regexp.MustCompile(
		`take about (\d+ m )?\d+ s, and the proof of what is kept (\d+ m )?\d+ s; expected at least (\d+ m )?\d+ s, or fewer settings(, or --set workload.duration=\S+ in place of \S+)?$`)
	for _, d := range []time.Duration{time.Second, 30 * time.Second} { // the first is not one block
		f, o := budget(d)
		if _, kept, err := f.tune(t.Context(), t, o); err == nil || !spelled.MatchString(err.Error()) || kept != "" ||
			len(f.plans) > 0 {
			t.Errorf("%s: %v, %d runs, kept %q", d, err, len(f.plans), kept)
		}
	}
	// The window that is proposed is enough.
	f, o := budget(2 * time.Minute)
	_, _, err := f.tune(t.Context(), t, o)
	if err == nil {
		t.Fatal("a budget is enough: nothing is proposed")
	}
	proposal := regexp.MustCompile(`or --set (workload.duration=\S+) in place of 2s$`).FindStringSubmatch(err.Error())
	if proposal == nil {
		t.Fatal(err)
	}
	f, o = budget(2 * time.Minute)
	o.Set = proposal[1:]
	if _, _, err := f.tune(t.Context(), t, o); err != nil {
		t.Errorf("with %s: %v", proposal[1], err)
	}
	f, o = budget(time.Hour)
	result, kept, err := f.tune(t.Context(), t, o)
	if err != nil || kept == "" || len(f.plans) < 2 {
		t.Fatalf("%v, %d runs: %s", err, len(f.plans), result.Answer)
	}
	first, second := time.Duration(f.plans[0].Study.Design.Budget), time.Duration(f.plans[1].Study.Design.Budget)
	if spent := time.Duration(len(f.plans[0].Treatments)*f.plans[0].Blocks()) * time.Second; first != time.Hour ||
		f.kept[0] != proofTrials || f.kept[1] != 0 || second != time.Hour-spent {
		t.Errorf("the first run has %s, the second %s", first, second)
	}
	// The budget ends the first run before there are verdicts.
	f, o = budget(10 * time.Minute)
	f.blocks = 2
	result, kept, err = f.tune(t.Context(), t, o)
	if err != nil || kept != "" || !strings.HasPrefix(result.Answer, "Ended by --budget 10m after 2 of ") ||
		!strings.Contains(result.Answer, "linerate run --resume run-1 --budget ") ||
		!strings.HasSuffix(result.Answer, "No file written.") || strings.Contains(result.Answer, "clearly improves") {
		t.Errorf("%v, kept %q: %s", err, kept, result.Answer)
	}
	// The first trials take longer than was planned: nothing is left for the proof.
	f, o = budget(10 * time.Minute)
	f.trialTime = 9 * time.Second
	o.KeepCommand = func(run string) string { return "keep " + run }
	if result, kept, err := f.tune(t.Context(), t, o); err != nil || kept != "" ||
		!strings.Contains(result.Answer, "No file written: what is left of the budget is too short") ||
		strings.Contains(result.Answer, "linerate tune") || result.Continue != "keep run-1" {
		t.Errorf("%v, kept %q: %s", err, kept, result.Answer)
	}
	// So do those of the proof, which ends without a verdict: it says nothing of the settings.
	f, o = budget(10 * time.Minute)
	f.during = func() {
		if len(f.plans) > 1 {
			f.blocks = 3
		}
	}
	if result, kept, err := f.tune(t.Context(), t, o); err != nil || kept != "" ||
		!strings.Contains(result.Answer, "No file written: what is left of the budget is too short") ||
		strings.Contains(result.Answer, "inconclusive") {
		t.Errorf("%v, kept %q: %s", err, kept, result.Answer)
	}
}
