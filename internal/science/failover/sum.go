package failover

import (
	"cmp"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// Sum adds up a treatment's trials, an entry for each instant at which
// something happened; none: nothing did, or no reading shows what followed.
func Sum(trials []record.Trial) (list []record.Outages) {
	lost := map[float64]*[2][]float64{} // of flows that were withdrawn, and of others
	resolutions := map[float64][]float64{}
	for _, t := range trials {
		for _, f := range t.Flows {
			for _, o := range f.Outages {
				i := slices.IndexFunc(list, func(s record.Outages) bool { return s.AtS == o.AtS })
				if i < 0 {
					i, list = len(list), append(list, record.Outages{AtS: o.AtS, What: what(t, o.AtS)})
					lost[o.AtS] = &[2][]float64{}
				}
				sum := &list[i]
				resolutions[o.AtS] = append(resolutions[o.AtS], o.ResolutionS)
				group, times := &sum.Others, &lost[o.AtS][1]
				if o.Withdrawn {
					group, times = &sum.Withdrawn, &lost[o.AtS][0]
				}
				add(group, o)
				*times = append(*times, o.LostS)
			}
		}
	}
	slices.SortFunc(list, func(a, b record.Outages) int { return cmp.Compare(a.AtS, b.AtS) })
	for i := range list {
		list[i].ResolutionS = stats.Median(resolutions[list[i].AtS])
		list[i].Withdrawn.LostS = stats.Median(lost[list[i].AtS][0])
		list[i].Others.LostS = stats.Median(lost[list[i].AtS][1])
	}
	return list
}

func add(g *record.OutageGroup, o record.Outage) {
	g.Flows++
	if o.Moved {
		g.Moved++
	}
	if !o.Resumed {
		g.Stopped++
	}
	g.MostLostS = max(g.MostLostS, o.LostS)
}

// what happened at an instant.
func what(t record.Trial, at float64) (list []string) {
	for _, e := range t.Events {
		if e.AtS == at {
			list = append(list, e.Host+": "+e.What)
		}
	}
	return list
}
