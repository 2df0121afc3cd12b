package record

import (
	"slices"
	"strings"

	"linerate/internal/model/topology"
)

// Arrival says that packets of a flow came in by an interface between the senders' start and
// the window's end, or the next event. Not every packet need have been seen (packet(7)): it
// gives the path, not the amount.
type Arrival struct {
	Flow      string `json:"flow"`
	Interface string `json:"interface"`
	Packets   int64  `json:"packets"`
	// Events is how many of the instants had passed at which the study has something
	// happen. Where it has, LastNs is when the latest of these packets came.
	Events int   `json:"events,omitempty"`
	LastNs int64 `json:"last_ns,omitempty"`
}

// Gap is the longest time in which nothing of a flow came in, by whatever interface,
// among those that ended in the window after so many events and before the next.
type Gap struct {
	Flow   string `json:"flow"`
	Events int    `json:"events,omitempty"`
	FromNs int64  `json:"from_ns"`
	ToNs   int64  `json:"to_ns"`
}

// Ends are the interfaces of the flow's path.
func (f Flow) Ends() (ends []topology.End) {
	for _, text := range f.Path {
		node, name, _ := strings.Cut(text, ".")
		ends = append(ends, topology.End{Node: node, Interface: name})
	}
	return ends
}

// Placed reports whether the flow had several paths, and Path is the one it took.
func (f Flow) Placed() bool {
	return f.Paths > 1 && (len(f.Observed) > 0 || len(f.Predicted) > 0 && f.PredictedNote == "")
}

// AsPredicted reports whether the flow came in by the interfaces that the kernels' route
// lookups on its path had named. known is false where they named none, or no host saw the
// flow.
func (f Flow) AsPredicted() (same, known bool) {
	if len(f.Predicted) == 0 || f.PredictedNote != "" || len(f.Observed) == 0 {
		return false, false
	}
	for _, end := range f.Observed {
		if !slices.Contains(f.Predicted, end) {
			return false, true
		}
	}
	return true, true
}
