package record

import (
	"slices"
	"strings"

	"linerate/internal/model/topology"
)

// Arrival records that packets of a flow arrived on an interface between the start of the senders
// and the end of the window, or the next event. A packet socket can miss packets (packet(7)), so
// Packets shows the path, not the amount.
type Arrival struct {
	Flow      string `json:"flow"`
	Interface string `json:"interface"`
	Packets   int64  `json:"packets"`
	// Events is the number of event times of the study that had passed. If there are events, LastNs
	// is the arrival time of the last of these packets.
	Events int   `json:"events,omitempty"`
	LastNs int64 `json:"last_ns,omitempty"`
}

// Gap is the longest time without an arrival of a flow on any interface, among those that ended in
// the window after the given number of events and before the next one.
type Gap struct {
	Flow   string `json:"flow"`
	Events int    `json:"events,omitempty"`
	FromNs int64  `json:"from_ns"`
	ToNs   int64  `json:"to_ns"`
}

// Ends returns the interfaces of Path.
func (f Flow) Ends() (ends []topology.End) {
	for _, text := range f.Path {
		node, name, _ := strings.Cut(text, ".")
		ends = append(ends, topology.End{Node: node, Interface: name})
	}
	return ends
}

// Placed reports whether the flow had several paths and Path is the one that it used.
func (f Flow) Placed() bool {
	return f.Paths > 1 && (len(f.Observed) > 0 || len(f.Predicted) > 0 && f.PredictedNote == "")
}

// AsPredicted reports whether the flow arrived on the interfaces that the kernels' route lookups
// predicted. Known is false if there is no prediction or no host saw the flow.
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
