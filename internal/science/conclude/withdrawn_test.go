package conclude

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// fates is a run in which something happens, of every level of two factors; the text of
// an outage is told by its group.
func fates(levels, conditions []string, of map[string]record.Outages) *record.Run {
	factor := func(name, role string, levels []string) record.Factor {
		f := record.Factor{Name: name, Role: role, Baseline: levels[0]}
		for _, l := range levels {
			f.Levels = append(f.Levels, record.Level{Name: l})
		}
		return f
	}
	run := &record.Run{}
	if len(conditions) > 0 {
		run.Factors = append(run.Factors, factor("event", "condition", conditions))
	} else {
		conditions = []string{""}
	}
	if len(levels) > 0 {
		run.Factors = append(run.Factors, factor("group", "compare", levels))
	} else {
		levels = []string{""}
	}
	for _, c := range conditions {
		for _, l := range levels {
			o, ok := of[strings.TrimSpace(l+" "+c)]
			if ok {
				run.Treatments = append(run.Treatments, record.Treatment{Name: l + c, Levels: map[string]string{"event": c, "group": l}, Outages: []record.Outages{o}})
			}
		}
	}
	return run
}

// What became of running flows, by what is compared and by what happened; and nothing
// where nothing came of it.
func TestWithdrawn(t *testing.T) {
	groups := func(withdrawn, lostMs, others, moved int) record.Outages {
		return record.Outages{
			AtS: 1, ResolutionS: 0.007,
			Withdrawn: record.OutageGroup{Flows: withdrawn, Moved: withdrawn, LostS: float64(lostMs) / 1e3, MostLostS: float64(lostMs) / 1e3},
			Others:    record.OutageGroup{Flows: others, Moved: moved},
		}
	}
	twice := fates(nil, nil, map[string]record.Outages{"": groups(3, 200, 9, 0)})
	second := groups(2, 300, 9, 0)
	second.AtS = 2
	twice.Treatments[0].Outages = append(twice.Treatments[0].Outages, second)
	for name, c := range map[string]struct {
		run  *record.Run
		want []string
	}{
		"one treatment": {fates(nil, nil, map[string]record.Outages{"": groups(3, 3210, 9, 0)}), []string{
			"Flows by whose way none came any more got nothing for 3.21 s.", "Flows on other ways that moved: none of 9."}},
		"two instants": {twice, []string{
			"Flows by whose way none came any more got nothing for 200 ms at 1 s and 300 ms at 2 s.", "Flows on other ways that moved: none of 18."}},
		"levels and conditions": {fates([]string{"ordinary", "resilient"}, []string{"down", "dead"}, map[string]record.Outages{
			"ordinary down": groups(8, 0, 24, 6), "ordinary dead": groups(8, 4000, 24, 0),
			"resilient down": groups(8, 0, 24, 0), "resilient dead": groups(8, 0, 24, 0),
		}), []string{
			"Flows by whose way none came any more got nothing for less than 7.0 ms at down and 4.00 s at dead with ordinary; less than 7.0 ms with resilient.",
			"Flows on other ways that moved: 6 of 24 (25 %) at down and none of 24 at dead with ordinary; none of 48 with resilient."}},
		"only moved":         {fates(nil, nil, map[string]record.Outages{"": groups(0, 0, 9, 2)}), []string{"There is no way by which flows came no more.", "Flows on other ways that moved: 2 of 9 (22 %)."}},
		"nothing came of it": {fates(nil, nil, map[string]record.Outages{"": groups(0, 0, 9, 0)}), nil},
		"nothing happened":   {&record.Run{Treatments: []record.Treatment{{}}}, nil},
	} {
		if got := withdrawn(c.run); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
