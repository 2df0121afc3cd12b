package failover

import (
	"cmp"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// Sum adds up the outages of a treatment's trials, with one entry for each instant at which
// something happened. It returns nil if nothing happened or no reading shows what followed. The
// n-th occurrence of a fault in each trial is one entry, at its instant in the first trial that has
// it.
func Sum(trials []record.Trial) (list []record.Outages) {
	var lost, most [][2][]float64 // of flows that were withdrawn, and of others
	var resolutions [][]float64
	var times []int // how often the same had happened before in its trial
	for _, t := range trials {
		for _, f := range t.Flows {
			for _, o := range f.Outages {
				happened := what(t, o.AtS)
				n := before(t, o.AtS, happened)
				i := -1
				for k, s := range list {
					if slices.Equal(s.What, happened) && (s.AtS == o.AtS || len(t.Events) == 0 && times[k] == n) {
						i = k
						break
					}
				}
				if i < 0 {
					i, list, times = len(list), append(list, record.Outages{AtS: o.AtS, What: happened}),
						append(times, n)
					lost, most, resolutions = append(lost, [2][]float64{}), append(most, [2][]float64{}),
						append(resolutions, nil)
				}
				sum := &list[i]
				resolutions[i] = append(resolutions[i], o.ResolutionS)
				group, which := &sum.Others, 1
				if o.Withdrawn {
					group, which = &sum.Withdrawn, 0
				}
				add(group, o)
				lost[i][which] = append(lost[i][which], o.LostS)
				most[i][which] = append(most[i][which], o.LostAtMostS)
			}
		}
	}
	for i := range list {
		list[i].ResolutionS = stats.Median(resolutions[i])
		for which, group := range []*record.OutageGroup{&list[i].Withdrawn, &list[i].Others} {
			group.LostS, group.LostAtMostS = stats.Median(lost[i][which]), stats.Median(most[i][which])
		}
	}
	slices.SortStableFunc(list, func(a, b record.Outages) int { return cmp.Compare(a.AtS, b.AtS) })
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

// before returns the number of earlier instants of a trial at which the same faults happened.
func before(t record.Trial, at float64, happened []string) int {
	instants := map[float64]bool{}
	for _, f := range t.Faults {
		if f.AtS < at && slices.Equal(what(t, f.AtS), happened) {
			instants[f.AtS] = true
		}
	}
	return len(instants)
}

// what lists what happened at an instant.
func what(t record.Trial, at float64) (list []string) {
	for _, e := range slices.Concat(t.Events, t.Faults) {
		if e.AtS == at {
			list = append(list, e.Host+": "+e.What)
		}
	}
	return list
}
