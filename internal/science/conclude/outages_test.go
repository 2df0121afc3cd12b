package conclude

import (
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
)

// What became of running flows is concluded by what is compared and by what happened;
// nothing is where nothing came of it.
func TestLevelOutages(t *testing.T) {
	groups := func(withdrawn, others, moved int) record.Outages {
		return record.Outages{AtS: 1, Withdrawn: record.OutageGroup{Flows: withdrawn}, Others: record.OutageGroup{Flows: others, Moved: moved}}
	}
	all := sciencetest.WithOutages([]string{"ordinary", "resilient"}, []string{"down", "dead"}, map[string]record.Outages{
		"ordinary down": groups(8, 24, 6), "ordinary dead": groups(8, 24, 0), "resilient down": groups(8, 24, 0), "resilient dead": groups(8, 24, 0),
	})
	list := levelOutages(all)
	if len(list) != 4 || list[0].Label != "ordinary" || list[0].Condition != "down" || list[0].Outages[0].Others.Moved != 6 || list[3].Label != "resilient" || list[3].Condition != "dead" {
		t.Errorf("%+v", list)
	}
	one := func(o record.Outages) *record.Run {
		return sciencetest.WithOutages(nil, nil, map[string]record.Outages{"": o})
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
