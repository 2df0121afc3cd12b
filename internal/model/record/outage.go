package record

import "linerate/internal/model/unit"

// Outage is the effect of the events at one instant of the window on a flow.
type Outage struct {
	AtS float64 `json:"at_s"` // from the window's beginning
	// LostS is the time during which no packet of the flow reached its receiver, from the last
	// packet before to the first one after. 0: not longer than ResolutionS, the gap that also
	// occurs without events.
	LostS       float64 `json:"lost_s"`
	ResolutionS float64 `json:"resolution_s"`
	// LostS and LostAtMostS are bounds if the flow was only read at intervals: LostS is the time
	// between the readings that show no arrival, LostAtMostS that between the readings before and
	// after, which show some. If the time of each packet is known, LostAtMostS is LostS or, where
	// that is 0, ResolutionS.
	LostAtMostS float64 `json:"lost_at_most_s"`
	// Resumed reports whether packets arrived again before the next event and the end of the
	// window. If not, LostS extends to that time.
	Resumed bool `json:"resumed"`
	// Before and After are the interfaces on which its packets arrived, in the order of the path.
	// Absent: not seen. Moved reports whether the path changed.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
	Moved  bool     `json:"moved"`
	// Withdrawn reports whether the flow's path had an interface on which no flow arrived any more.
	Withdrawn bool `json:"withdrawn"`
}

// SpellLost formats a lost time with its bounds: "214 ms", or "1.5 s to 2.5 s".
func SpellLost(leastS, mostS float64) string {
	least, most := unit.FormatSeconds(leastS), unit.FormatSeconds(max(leastS, mostS))
	if least == most {
		return least
	}
	return least + " to " + most
}

// Outages is the effect of the events at one instant on all flows in the trials of a treatment.
type Outages struct {
	AtS  float64  `json:"at_s"`
	What []string `json:"what"` // "spine1: link down1 state down"
	// Withdrawn summarises the flows whose path had an interface on which no flow arrived any
	// more. Others summarises the remaining flows.
	Withdrawn OutageGroup `json:"withdrawn"`
	Others    OutageGroup `json:"others"`
	// ResolutionS is the median over all flows.
	ResolutionS float64 `json:"resolution_s"`
}

// OutageGroup summarises the outages of some of the flows.
type OutageGroup struct {
	Flows int `json:"flows"`
	// Moved counts flows that arrived on another path than before. Stopped counts those that did
	// not arrive again in time.
	Moved   int `json:"moved"`
	Stopped int `json:"stopped"`
	// LostS and LostAtMostS are medians over the flows. MostLostS is the largest LostS.
	LostS       float64 `json:"lost_s"`
	LostAtMostS float64 `json:"lost_at_most_s"`
	MostLostS   float64 `json:"most_lost_s"`
}
