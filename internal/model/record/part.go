package record

import (
	"encoding/json"
	"maps"
	"slices"
)

// MeasureStudy is the Study of a measurement. Such a run has one block, and no StudyFile.
const MeasureStudy = "measure"

// The two hosts of a measurement that have no other names.
const (
	NodeClient = "client" // where `linerate measure` runs
	NodeServer = "server" // where `linerate serve` runs
)

// Part is what went one way between two hosts in a trial's window: the sums over the flows that
// From sends to To, without a probe of latency. Transactions, which go both ways, are of the host that asks.
type Part struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Treatment and Levels are the part's own in a trial of several, each of which is a
	// treatment of the run. Empty: they are the trial's.
	Treatment string            `json:"treatment,omitempty"`
	Levels    map[string]string `json:"levels,omitempty"`

	Flows         int     `json:"flows"`
	GoodputBps    float64 `json:"goodput_bps"`
	LimitBps      float64 `json:"limit_bps"` // 0: not known
	Limit         Limit   `json:"limit,omitzero"`
	LimitWhy      string  `json:"limit_why,omitempty"` // as a Trial's
	WrittenBytes  int64   `json:"written_bytes"`
	ReceivedBytes int64   `json:"received_bytes"`
	RetransBytes  int64   `json:"retrans_bytes"`
	Counts
	Intervals []Interval `json:"intervals"`
	// Counted is how, where nothing was read of the other host. Peer is that host's own figure,
	// and TotalBytes what the host that was read had from the first byte to the last, to be
	// compared with it.
	Counted    string     `json:"counted,omitempty"`
	Peer       *PeerCount `json:"peer,omitempty"`
	TotalBytes int64      `json:"total_bytes,omitempty"`
}

// Counts are what flows count besides TCP's bytes, in the common window.
type Counts struct {
	// Datagrams is for udp: the flows' together, the jitter as the mean over what
	// was received. Lost repeats those that were, LostShare is their part of those
	// that the receivers were to have; of udp-rr they are of the requests that have
	// had no response.
	Datagrams *Datagrams `json:"datagrams,omitempty"`
	Lost      *int64     `json:"lost,omitempty"`
	LostShare float64    `json:"lost_share,omitempty"`
	// RatePerS is how many transactions were done in a second (rr, udp-rr, crr),
	// Transactions the flows' together, and LatencyUs how long they took.
	RatePerS     float64       `json:"rate_per_s,omitempty"`
	Transactions *Transactions `json:"transactions,omitempty"`
	LatencyUs    *Distribution `json:"latency_us,omitempty"`
}

// Interval is what went on in a part of the window, in seconds from its beginning.
type Interval struct {
	FromS      float64 `json:"from_s"`
	ToS        float64 `json:"to_s"`
	GoodputBps float64 `json:"goodput_bps"`
	// RatePerS is of transactions, LostShare of datagrams.
	RatePerS  float64 `json:"rate_per_s,omitempty"`
	LostShare float64 `json:"lost_share,omitempty"`
}

// Name is the direction, write or read, between the two hosts of a measurement, and "a → b" between others.
func (p *Part) Name() string {
	switch [2]string{p.From, p.To} {
	case [2]string{NodeClient, NodeServer}:
		return "write"
	case [2]string{NodeServer, NodeClient}:
		return "read"
	}
	return p.From + " → " + p.To
}

// Has reports whether a flow is one of the part's.
func (p *Part) Has(f Flow) bool { return f.From == p.From && f.To == p.To && !f.Probe }

// Of is the trial as if the part were all that it measured: with its flows, the probe of latency, its
// totals and its limit. The hosts' processor time, which is of all parts, is left out.
func (t *Trial) Of(p Part) *Trial {
	one := *t
	one.Parts = []Part{p}
	one.Treatment, one.Levels = p.Treatment, maps.Clone(t.Levels)
	if one.Levels == nil {
		one.Levels = map[string]string{}
	}
	maps.Copy(one.Levels, p.Levels)
	one.Hosts = slices.Clone(t.Hosts)
	for i := range one.Hosts {
		one.Hosts[i].ProcessCPUS = 0
	}
	one.Flows, one.SenderReportedBps = nil, 0
	for _, f := range t.Flows {
		if p.Has(f) || f.Probe {
			one.Flows = append(one.Flows, f)
		}
		if p.Has(f) && p.Transactions == nil {
			one.SenderReportedBps += f.SenderAverageBps
		}
	}
	one.GoodputBps, one.Datagrams = p.GoodputBps, p.Datagrams
	one.LimitBps, one.Limit, one.LimitWhy = p.LimitBps, p.Limit, p.LimitWhy
	if p.Transactions != nil {
		one.GoodputBps, one.TransactionsPerS, one.Latency = 0, p.RatePerS, p.LatencyUs
	}
	return &one
}

// Split lists the trials of a run: one of several parts, each of which is a treatment, once for each of them.
func (r *Run) Split() (list []*Trial) {
	for i := range r.Trials {
		t := &r.Trials[i]
		if len(t.Parts) < 2 {
			list = append(list, t)
			continue
		}
		for _, p := range t.Parts {
			list = append(list, t.Of(p))
		}
	}
	return list
}

// FoundNone reports whether a rate was searched and none was found.
func (t *Trial) FoundNone() bool {
	return t.LossFree != nil && t.LossFree.RateBps == 0 || t.FindMax != nil && t.FindMax.RatePerS == 0
}

// NothingArrived reports whether the flows of a part were connected, and none received
// anything in the window.
func (t *Trial) NothingArrived() bool {
	return slices.ContainsFunc(t.Parts, func(p Part) bool {
		return p.GoodputBps == 0 && slices.ContainsFunc(t.Flows, func(f Flow) bool {
			return p.Has(f) && f.Connected && f.Transactions == nil
		})
	})
}

// Doubtful reports whether a trust check of a measurement failed, or nothing arrived in one of its windows, or a
// search found no rate, or did not confirm it.
func (r *Run) Doubtful() bool {
	return slices.ContainsFunc(r.Trust, func(c Check) bool { return !c.Pass }) ||
		slices.ContainsFunc(r.Trials, func(t Trial) bool {
			return t.FoundNone() || t.NothingArrived() || t.FindMax != nil && !t.FindMax.Found()
		})
}

// Peer is the program at the other end of a trial's flows, where that is not linerate.
type Peer struct {
	// Program is its name and version: "iperf3 3.12"; empty: not known.
	Program string `json:"program,omitempty"`
	// CPUPercent is what it says that it used of one processor, over its own time.
	CPUPercent float64 `json:"cpu_percent,omitempty"`
	// Results is what it said at the end, as it came.
	Results json.RawMessage `json:"results,omitempty"`
}

// How a flow's goodput is counted where nothing was read of the other host.
const (
	CountedReceived     = "received"     // read here, in the window
	CountedAcknowledged = "acknowledged" // by the peer's kernel, in the window: TCP_INFO bytes_acked
	CountedByPeer       = "by the peer"  // received by the peer, over its own time
	// CountedLessLoss is what was sent in the window, less the share that the peer counts as
	// lost over its own time.
	CountedLessLoss = "sent less lost"
)

// CountedHere reports whether a flow's or part's bytes were counted in the window, by what
// was read of this host.
func CountedHere(counted string) bool {
	return counted != CountedByPeer && counted != CountedLessLoss
}

// PeerCount is what a peer that is not linerate has counted, over its own time, which is not the window.
type PeerCount struct {
	// Bytes it received, or, where it sends, wrote.
	Bytes int64 `json:"bytes"`
	// Seconds is its own time; 0: not known. OmitS is what it left out before.
	Seconds    float64 `json:"seconds,omitempty"`
	OmitS      float64 `json:"omit_s,omitempty"`
	GoodputBps float64 `json:"goodput_bps,omitempty"`
	// Retransmits are segments that it sent again; below 0: it does not know.
	Retransmits int64 `json:"retransmits"`
	// Datagrams is for udp: what it received and misses, or sent. WholeTest: with
	// what it was to leave out at the beginning, which it does not report separately.
	Datagrams *Datagrams `json:"datagrams,omitempty"`
	WholeTest bool       `json:"whole_test,omitempty"`
}
