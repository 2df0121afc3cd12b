package record

import (
	"cmp"
	"slices"
	"time"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
)

// Trial is one timed execution of a treatment.
type Trial struct {
	Treatment string            `json:"treatment"`
	Levels    map[string]string `json:"levels"`
	Block     int               `json:"block"` // from 1
	Order     int               `json:"order"` // place in the run, from 1
	Started   time.Time         `json:"started"`
	// ElapsedS is how long the run had taken when the trial was made, without the time for which it
	// was interrupted.
	ElapsedS float64 `json:"elapsed_s,omitempty"`
	// WindowS is the length of the common window.
	WindowS float64 `json:"window_s"`
	// WarmupS is the time for which the flows of a measurement ran before the window.
	WarmupS float64 `json:"warmup_s,omitempty"`
	// PlannedS is the planned length of a window that ended early. 0: it did not.
	PlannedS float64 `json:"planned_s,omitempty"`
	// Ended says why the window ended early without an interruption: the connection to the server
	// of a measurement was lost. All figures are then from the host that remained.
	Ended string `json:"ended,omitempty"`
	// GoodputBps is the sum over all bulk flows (tcp, udp) of what the receivers read in the common
	// window.
	GoodputBps float64 `json:"goodput_bps"`
	LimitBps   float64 `json:"limit_bps"`
	// PlacementLimitBps is the most that the flows can carry on the paths that they took, if they
	// had several to choose from: flows that share one link leave another idle.
	PlacementLimitBps float64 `json:"placement_limit_bps,omitempty"`
	// Limit says how LimitBps is computed. LimitWhy is the same in one line; records of older
	// versions have only LimitWhy.
	Limit    Limit  `json:"limit,omitzero"`
	LimitWhy string `json:"limit_why,omitempty"`
	// Chance is the range within which chance alone can vary GoodputBps. Nil: nothing is known to
	// be random.
	Chance *Chance `json:"chance,omitempty"`
	// TransactionsPerS is the rate of all request flows together. Latency has the times of all
	// their transactions. Datagrams is the sum of the counters of all udp flows. None of these is
	// part of GoodputBps.
	TransactionsPerS float64       `json:"transactions_per_s,omitempty"`
	Latency          *Distribution `json:"latency_us,omitempty"`
	Datagrams        *Datagrams    `json:"datagrams,omitempty"`
	// Bufferbloat has the response times of a latency probe, with and without the other flows. The
	// flow of the probe is among Flows. Nil: there was no probe.
	Bufferbloat *Latency `json:"bufferbloat,omitempty"`
	// LossFree is the highest rate of datagrams without loss, if the trial was a search for it. All
	// other fields are then those of the last window that confirmed the rate.
	LossFree *LossFree `json:"loss_free,omitempty"`
	// FindMax is the highest rate of requests that meets an objective, if a measurement was a
	// search for it.
	FindMax *FindMax `json:"find_max,omitempty"`
	// SenderReportedBps is the sum of the flows' own averages at the sender (bytes written divided
	// by the flow's own time): what a tool that counts there would print.
	SenderReportedBps float64 `json:"sender_reported_bps"`
	// ToolReported is what other programs report about the flows that they opened, and what these
	// flows carried. Tools has each run of such a program.
	ToolReported *ToolReported `json:"tool_reported,omitempty"`
	Tools        []ToolRun     `json:"tools,omitempty"`

	// Parts has the results of a measurement for each direction between two hosts. Empty: the
	// trial belongs to a study.
	Parts []Part `json:"parts,omitempty"`
	// Mode is the requested way to move a measurement's bytes, one of the Modes. SendMode and
	// ReceiveMode of each flow have the way that was used.
	Mode string `json:"mode,omitempty"`
	// Peer is the program at the other end, if it is not linerate. Nil: it is.
	Peer *Peer `json:"peer,omitempty"`

	Flows  []Flow                 `json:"flows"`
	Hosts  []netstate.HostReading `json:"hosts"`
	Clocks []Clock                `json:"clocks"`
	// Switches are the switches whose ports are read by SNMP.
	Switches []SwitchReading `json:"switches,omitempty"`
	// Settings are the changes that were made for this trial, as applied.
	Settings []Applied `json:"settings,omitempty"`
	// Repeated counts earlier attempts at this trial that were discarded because a hypervisor took
	// too much CPU time during them.
	Repeated int `json:"repeated,omitempty"`
	// ConvergedS is the time that the trial waited for the return of routes that an earlier trial
	// had removed. 0: no route was missing.
	ConvergedS float64 `json:"converged_s,omitempty"`
	// Opening says how the connections were opened before the window. Nil: unknown.
	Opening *Opening `json:"opening,omitempty"`
	// Events are the study's events in the window.
	Events []Event `json:"events,omitempty"`
	// Attacks are the attacks of the study, by one host on another.
	Attacks []Attack `json:"attacks,omitempty"`
	// Faults are events that the study did not plan: interfaces of the topology without a carrier
	// between BeganS and EndedS.
	Faults []Event `json:"faults,omitempty"`
	// Unreachable reports whether the treatment allows flows that cannot connect.
	Unreachable bool `json:"unreachable,omitempty"`
	// AccountSender reports whether the figure counted at the sender is a result of the trial.
	// Package trust then compares that figure with the limit.
	AccountSender bool `json:"account_sender,omitempty"`
	// Topology is the run's topology with the changes of the treatment. Absent: the treatment does
	// not change the topology. See Over.
	Topology *topology.Topology `json:"topology,omitempty"`
}

// Clock is the estimated offset of a host's clock from that of the conductor.
type Clock struct {
	Host          string `json:"host"`
	OffsetNs      int64  `json:"offset_ns"` // host's clock − conductor's
	UncertaintyNs int64  `json:"uncertainty_ns"`
}

// Applied is a setting that was made, with its value before and after.
type Applied struct {
	Host string `json:"host" is:"host"`
	Kind string `json:"kind" is:"words"`
	// Scope is namespace or machine.
	Scope string `json:"scope" is:"words"`
	// What names what was set: "net.ipv4.conf.all.arp_ignore".
	What  string `json:"what" is:"text"`
	Prior string `json:"prior" is:"text"` // "absent" if there was none
	New   string `json:"new" is:"text"`
}

// Unconnected counts the flows of the trial that have no connection.
func (t *Trial) Unconnected() (n int) {
	return lists.Count(t.Flows, func(f Flow) bool { return !f.Connected })
}

// Reading returns the reading of a host. It returns false if the trial has none.
func (t Trial) Reading(host string) (netstate.HostReading, bool) {
	for _, h := range t.Hosts {
		if h.Host == host {
			return h, true
		}
	}
	return netstate.HostReading{}, false
}

// BinEnds returns the ends of the flow's bins, in seconds since the beginning of the window. They
// are the times of the samples of the receiver or, without these, of the sender. Sampled is false
// if neither has samples; the ends are then evenly spaced.
func (t Trial) BinEnds(f Flow) (ends []float64, sampled bool) {
	for _, host := range []string{f.To, f.From} {
		h, ok := t.Reading(host)
		if !ok {
			continue
		}
		ends = nil
		at := 0 // samples mostly have the flows in one order
		for _, s := range h.Series {
			if at >= len(s.Flows) || s.Flows[at].ID != f.ID {
				at = max(0, slices.IndexFunc(s.Flows, func(one netstate.FlowSample) bool { return one.ID == f.ID }))
			}
			if at < len(s.Flows) && s.Flows[at].ID == f.ID {
				ends = append(ends, float64(s.AtNs-h.Begin.ScheduledNs)/1e9)
			}
		}
		if len(ends) == len(f.Bins) && h.Begin.ScheduledNs > 0 {
			return ends, true
		}
	}
	sum := lists.Sum(f.Bins, func(bytes int64) int64 { return bytes })
	parts := len(f.Bins) // the last ends with the window
	if f.ReceivedBytes-sum > sum/int64(2*max(parts, 1)) {
		parts++
	}
	ends = make([]float64, len(f.Bins))
	for i := range ends {
		ends[i] = t.WindowS * float64(i+1) / float64(parts)
	}
	return ends, false
}

// Over returns the topology of the trial: t.Topology or, if that is nil, the given one of the run.
func (t Trial) Over(run *topology.Topology) *topology.Topology {
	return cmp.Or(t.Topology, run)
}
