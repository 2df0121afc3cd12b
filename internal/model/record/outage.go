package record

import "linerate/internal/model/unit"

// Outage is what events at an instant of the window did to a flow.
type Outage struct {
	AtS float64 `json:"at_s"` // from the window's beginning
	// LostS is how long nothing of the flow reached its receiver, from the last packet
	// before to the first one after; 0: no longer than ResolutionS, which is what
	// happens without any event.
	LostS       float64 `json:"lost_s"`
	ResolutionS float64 `json:"resolution_s"`
	// LostAtMostS: of readings at intervals LostS is the time between those that show that
	// nothing came, and this the time between the ones before and after, which show that
	// something did. With the time of each packet it is LostS, or where that is 0, ResolutionS.
	LostAtMostS float64 `json:"lost_at_most_s"`
	// Resumed: it came again before the next event and the window's end; if not, LostS
	// goes as far as that.
	Resumed bool `json:"resumed"`
	// Before and After are the interfaces by which its packets came in, in the order of the
	// path; absent: not seen. Moved: it has another path than before.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
	Moved  bool     `json:"moved"`
	// Withdrawn: one of the interfaces of Before is one by which no flow came any more.
	Withdrawn bool `json:"withdrawn"`
}

// SpellLost spells a lost time by its bounds: "214 ms", or "1.5 s to 2.5 s".
func SpellLost(leastS, mostS float64) string {
	least, most := unit.FormatSeconds(leastS), unit.FormatSeconds(max(leastS, mostS))
	if least == most {
		return least
	}
	return least + " to " + most
}

// Outages are what events at an instant did to the flows of a treatment's trials
// together.
type Outages struct {
	AtS  float64  `json:"at_s"`
	What []string `json:"what"` // "spine1: link down1 state down"
	// Withdrawn are the flows whose path had an interface by which no flow arrives any
	// more, Others the rest.
	Withdrawn OutageGroup `json:"withdrawn"`
	Others    OutageGroup `json:"others"`
	// ResolutionS is the median of all flows'.
	ResolutionS float64 `json:"resolution_s"`
}

// OutageGroup are some of the flows.
type OutageGroup struct {
	Flows int `json:"flows"`
	// Moved came by another path than before; Stopped did not come again in time.
	Moved   int `json:"moved"`
	Stopped int `json:"stopped"`
	// LostS and LostAtMostS are the medians of the flows' lost times, and MostLostS is the longest
	// LostS.
	LostS       float64 `json:"lost_s"`
	LostAtMostS float64 `json:"lost_at_most_s"`
	MostLostS   float64 `json:"most_lost_s"`
}
