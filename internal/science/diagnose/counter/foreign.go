package counter

import (
	"linerate/internal/model/cause"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// foreignGrowths are the rules about counters that only the BSDs and macOS have.
var foreignGrowths = []growth{
	{cause: cause.BuffersDenied, own: true, foreign: true, counters: netstate.DeniedCounters, least: 1,
		confidence: record.Certain, verdict: facts.Harmful, explains: []string{"network-buffers-delayed",
			"rx-dropped", "ip-discards", "tcp-retransmissions"}},
	{cause: cause.BuffersDelayed, own: true, foreign: true, counters: netstate.DelayedCounters, least: 1,
		confidence: record.Likely},
	{cause: cause.InputQueueDrop, own: true, foreign: true, counters: netstate.InputQueueCounters, least: 1,
		confidence: record.Certain, verdict: facts.Harmful, explains: []string{"rx-dropped", "tcp-retransmissions"}},
}
