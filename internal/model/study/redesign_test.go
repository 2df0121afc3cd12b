package study

import (
	"reflect"
	"testing"
	"time"

	"linerate/internal/model/unit"
)

// TestRedesign: what is asked for elsewhere than in a file has to keep the
// file's rules.
func TestRedesign(t *testing.T) {
	replicates := func(n int) Redesign { return Redesign{Replicates: &n} }
	until := func(r unit.Ratio) Redesign { return Redesign{Until: &r} }
	budget := func(d time.Duration) Redesign { b := unit.Duration(d); return Redesign{Budget: &b} }
	fresh := func() *Plan {
		return plan(t, parse(t, pair+"factors: {f: {levels: {a: {}, b: {}}}}\n"))
	}
	block := fresh().BlockTime()
	for _, c := range []struct {
		asked Redesign
		want  string // of the error
	}{
		{replicates(0), "--replicates: replicates 0: expected 1 to 10000 blocks"},
		{replicates(-3), "--replicates: replicates -3: expected 1 to 10000 blocks"},
		{until(0), "--until: until 0%: expected more than 0% and less than 100%"},
		{until(1), "--until: until 100%: expected more than 0% and less than 100%"},
		{budget(0), "--budget: budget: expected more than 0s"},
		{budget(time.Second), "--budget: budget 1s is shorter than one block of 2 trials, which takes about 6 s"},
		{replicates(2), ""}, {until(0.02), ""}, {budget(block), ""}, {Redesign{}, ""},
	} {
		p := fresh()
		before := p.Study.Design
		got := ""
		if err := p.Redesign(c.asked); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
		if changed := !reflect.DeepEqual(p.Study.Design, before); changed != (c.want == "" && c.asked != Redesign{}) {
			t.Errorf("%q: design %+v, was %+v", c.want, p.Study.Design, before)
		}
	}
}
