package conclude

import (
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
)

// silent returns the flows that carried nothing in the trial that has the most of them; nil: there
// are none. Those that a treatment allows, or an attack caused, are its result.
func silent(run *record.Run) (most *record.SilentFlows) {
	trials := 0
	for _, t := range run.Trials {
		list := trust.Empty(t)
		if len(list) == 0 || t.Unreachable || len(t.Attacks) > 0 {
			continue
		}
		trials++
		if most == nil || len(list) > most.Flows {
			most = &record.SilentFlows{Flows: len(list), Of: len(t.Flows), Flow: list[0].ID, From: list[0].From,
				To: list[0].To}
		}
	}
	if most != nil {
		most.Trials = trials
	}
	return most
}
