package conclude

import (
	"maps"
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// Measured describes the flows of a measurement; nil if the run is of a study.
func Measured(run *record.Run) *record.Measured {
	if run.Study != record.MeasureStudy {
		return nil
	}
	var flows []record.Flow
	if len(run.Trials) > 0 {
		flows = run.Trials[0].Flows
	}
	m := &record.Measured{Peer: run.Design.Options["peer"]}
	bulk := func(f record.Flow) bool { return flow.Of(f.Protocol).Bulk() }
	directions, protocols := map[string]int{}, map[string]bool{}
	for _, f := range flows {
		if !bulk(f) && slices.ContainsFunc(flows, bulk) { // the latency probe beside them
			m.Latency = true
			continue
		}
		protocols[flow.Of(f.Protocol).Name] = true
		direction := flow.Write
		if f.From != f.OpenedBy {
			direction = flow.Read
		}
		directions[direction]++
	}
	for direction, n := range directions {
		m.Direction, m.Streams = direction, max(m.Streams, n)
	}
	if len(directions) > 1 {
		m.Direction = flow.Both
	}
	m.Protocols = slices.Sorted(maps.Keys(protocols))
	return m
}

// summed reports whether the bulk flows of every trial go between two hosts in both directions.
func summed(run *record.Run) bool {
	return len(run.Trials) > 0 && !slices.ContainsFunc(run.Split(), func(t *record.Trial) bool {
		ways := map[[2]string]bool{}
		for _, f := range t.Flows {
			if flow.Of(f.Protocol).Bulk() {
				ways[[2]string{f.From, f.To}] = true
			}
		}
		for way := range ways {
			if way[0] != way[1] && ways[[2]string{way[1], way[0]}] {
				return false
			}
		}
		return true
	})
}
