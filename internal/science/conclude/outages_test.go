package conclude

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// What became of running flows is concluded by what is compared and by what happened;
// nothing is where nothing came of it.
func TestLevelOutages(t *testing.T) {
	groups := func(withdrawn, others, moved int) record.Outages {
		return record.Outages{AtS: 1, Withdrawn: record.OutageGroup{Flows: withdrawn},
			Others: record.OutageGroup{Flows: others, Moved: moved}}
	}
	all := withOutages([]string{"ordinary", "resilient"}, []string{"down", "dead"}, map[string]record.Outages{
		"ordinary down": groups(8, 24, 6), "ordinary dead": groups(8, 24, 0), "resilient down": groups(8, 24, 0),
		"resilient dead": groups(8, 24, 0),
	})
	list := levelOutages(all)
	if len(list) != 4 || list[0].Label != "ordinary" || list[0].Condition != "down" ||
		list[0].Outages[0].Others.Moved != 6 || list[3].Label != "resilient" || list[3].Condition != "dead" {
		t.Errorf("%+v", list)
	}
	one := func(o record.Outages) *record.Run {
		return withOutages(nil, nil, map[string]record.Outages{"": o})
	}
	if list := levelOutages(one(groups(0, 9, 2))); len(list) != 1 || list[0].Label != "" {
		t.Errorf("only moved: %+v", list)
	}
	if list := levelOutages(one(groups(0, 9, 0))); list != nil {
		t.Errorf("nothing came of it: %+v", list)
	}
	if list := levelOutages(&record.Run{Treatments: []record.Treatment{{}}}); list != nil {
		t.Errorf("nothing happened: %+v", list)
	}
}

// withOutages is a run with events, of every level of two factors; of has the outages by
// level and condition.
func withOutages(levels, conditions []string, of map[string]record.Outages) *record.Run {
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
				run.Treatments = append(run.Treatments,
					record.Treatment{Name: l + c, Levels: map[string]string{"event": c, "group": l},
						Outages: []record.Outages{o}})
			}
		}
	}
	return run
}
