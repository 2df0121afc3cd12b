package record

import (
	"encoding/json"
	"maps"
	"slices"
)

// MeasureStudy is the value of Run.Study for a measurement. Such a run has one block and no
// StudyFile.
const MeasureStudy = "measure"

// Names of the two hosts of a measurement, unless they have others.
const (
	NodeClient = "client" // where `linerate measure` runs
	NodeServer = "server" // where `linerate serve` runs
)

// Part sums the traffic in one direction between two hosts in the window of a trial: the flows that
// From sends to To, except a latency probe. Transactions, which go both ways, belong to the
// direction of their requests.
type Part struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Treatment and Levels are those of the part if the trial has several parts, each of which is a
	// treatment of the run. Empty: those of the trial.
	Treatment string            `json:"treatment,omitempty"`
	Levels    map[string]string `json:"levels,omitempty"`

	Flows         int     `json:"flows"`
	GoodputBps    float64 `json:"goodput_bps"`
	LimitBps      float64 `json:"limit_bps"` // 0: unknown
	Limit         Limit   `json:"limit,omitzero"`
	LimitWhy      string  `json:"limit_why,omitempty"` // as in Trial
	WrittenBytes  int64   `json:"written_bytes"`
	ReceivedBytes int64   `json:"received_bytes"`
	RetransBytes  int64   `json:"retrans_bytes"`
	Counts
	Intervals []Interval `json:"intervals"`
	// Counted is how bytes were counted if the other host was not read: one of the Counted
	// constants. Peer is that host's own count, and TotalBytes the count of the host that was read
	// from the first byte to the last, to compare with it.
	Counted    string     `json:"counted,omitempty"`
	Peer       *PeerCount `json:"peer,omitempty"`
	TotalBytes int64      `json:"total_bytes,omitempty"`
}

// Counts has what flows count in the common window besides the bytes of TCP.
type Counts struct {
	// Datagrams sums the counters of UDP flows; its jitter is a mean weighted by received
	// datagrams. Lost is the number of lost datagrams, and LostShare its share of those that the
	// receivers should have received. For udp-rr both count requests without a response.
	Datagrams *Datagrams `json:"datagrams,omitempty"`
	Lost      *int64     `json:"lost,omitempty"`
	LostShare float64    `json:"lost_share,omitempty"`
	// RatePerS is the rate of completed transactions (rr, udp-rr, crr). Transactions sums the
	// counters of the flows, and LatencyUs has the times.
	RatePerS     float64       `json:"rate_per_s,omitempty"`
	Transactions *Transactions `json:"transactions,omitempty"`
	LatencyUs    *Distribution `json:"latency_us,omitempty"`
	// Scheduled says what became of the transactions that a pace made due. Nil: there is no pace.
	Scheduled *Scheduled `json:"scheduled,omitempty"`
}

// Scheduled says what became of the transactions that were due in the window. A transaction that gets no
// answer holds its connection until the timeout, so those due meanwhile are sent late or, at the end of
// the window, not yet: a short outage loses few requests and delays many.
type Scheduled struct {
	Due    int64 `json:"due"`
	InTime int64 `json:"in_time"` // answered within WithinS of when they were due
	Late   int64 `json:"late"`    // answered later
	Lost   int64 `json:"lost"`    // failed, or without an answer
	Unsent int64 `json:"unsent"`  // not sent, or not answered yet, at the end of the window
	// Share is the availability: InTime of Due.
	Share   float64 `json:"share"`
	WithinS float64 `json:"within_s"`
}

// Interval has the rates in a part of the window. FromS and ToS are in seconds since the beginning
// of the window.
type Interval struct {
	FromS      float64 `json:"from_s"`
	ToS        float64 `json:"to_s"`
	GoodputBps float64 `json:"goodput_bps"`
	// RatePerS counts transactions, LostShare datagrams.
	RatePerS  float64 `json:"rate_per_s,omitempty"`
	LostShare float64 `json:"lost_share,omitempty"`
}

// Name returns "write" or "read" between the two hosts of a measurement, and "a → b" between
// others.
func (p *Part) Name() string {
	switch [2]string{p.From, p.To} {
	case [2]string{NodeClient, NodeServer}:
		return "write"
	case [2]string{NodeServer, NodeClient}:
		return "read"
	}
	return p.From + " → " + p.To
}

// Has reports whether f belongs to the part. The latency probe belongs to none.
func (p *Part) Has(f Flow) bool { return f.From == p.From && f.To == p.To && !f.Probe }

// Of returns the trial as if it had measured only p: with the flows of p, the latency probe, and
// the totals and the limit of p. CPU times of hosts, which all parts share, are cleared.
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

// Split lists the trials of a run. A trial with several parts, each of which is a treatment, is
// listed once for each part.
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

// FoundNone reports whether the trial searched for a rate and found none.
func (t *Trial) FoundNone() bool {
	return t.LossFree != nil && t.LossFree.RateBps == 0 || t.FindMax != nil && t.FindMax.RatePerS == 0
}

// NothingArrived reports whether a part has connected flows of which none received data in the
// window.
func (t *Trial) NothingArrived() bool {
	return slices.ContainsFunc(t.Parts, func(p Part) bool {
		return p.GoodputBps == 0 && slices.ContainsFunc(t.Flows, func(f Flow) bool {
			return p.Has(f) && f.Connected && f.Transactions == nil
		})
	})
}

// Doubtful reports whether a trust check of the measurement failed, nothing arrived in one of its
// windows, or a search found no rate or did not confirm it.
func (r *Run) Doubtful() bool {
	return slices.ContainsFunc(r.Trust, func(c Check) bool { return !c.Pass }) ||
		slices.ContainsFunc(r.Trials, func(t Trial) bool {
			return t.FoundNone() || t.NothingArrived() || t.FindMax != nil && !t.FindMax.Found()
		})
}

// Peer describes the program at the other end of the flows of a trial if that is not linerate.
type Peer struct {
	// Program is its name and version: "iperf3 3.12". Empty: unknown.
	Program string `json:"program,omitempty"`
	// CPUPercent is the CPU time that it reports, in percent of one CPU over its own measuring
	// time.
	CPUPercent float64 `json:"cpu_percent,omitempty"`
	// Results is the unmodified result that it sent at the end.
	Results json.RawMessage `json:"results,omitempty"`
}

// Values of Flow.CountedAt and Part.Counted: how bytes are counted if the other host is not read.
const (
	CountedReceived     = "received"     // read by this host, in the window
	CountedAcknowledged = "acknowledged" // by the peer's kernel, in the window: TCP_INFO bytes_acked
	CountedByPeer       = "by the peer"  // received by the peer, in its own measuring time
	// CountedLessLoss is what was sent in the window, minus the share that the peer counts as lost
	// in its own measuring time.
	CountedLessLoss = "sent less lost"
)

// CountedHere reports whether bytes were counted on this host, in the window.
func CountedHere(counted string) bool {
	return counted != CountedByPeer && counted != CountedLessLoss
}

// PeerCount has the counters of a peer that is not linerate, over its own measuring time, which
// differs from the window.
type PeerCount struct {
	// Bytes is what it received or, as a sender, wrote.
	Bytes int64 `json:"bytes"`
	// Seconds is its measuring time. 0: unknown. OmitS is the time that it omitted at the
	// beginning.
	Seconds    float64 `json:"seconds,omitempty"`
	OmitS      float64 `json:"omit_s,omitempty"`
	GoodputBps float64 `json:"goodput_bps,omitempty"`
	// Retransmits counts segments that it retransmitted. Negative: unknown.
	Retransmits int64 `json:"retransmits"`
	// Datagrams has, for UDP, what it received and lost, or sent. WholeTest reports whether these
	// include the omitted time, which it does not report separately.
	Datagrams *Datagrams `json:"datagrams,omitempty"`
	WholeTest bool       `json:"whole_test,omitempty"`
}
