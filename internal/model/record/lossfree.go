package record

import (
	"math"
	"slices"
)

// LossFree is the result of the search for the highest rate without loss of datagrams (the
// throughput of RFC 2544, section 26.1). Rates are payload in bit/s, of all datagram flows
// together.
type LossFree struct {
	// RateBps is the rate that was sent in ResultTrial, and at most the rate that was requested. 0:
	// no rate was confirmed. ResultTrial is the number, from 1, of the confirmation trial in which
	// most datagrams arrived. PacketsPerS is RateBps in datagrams of DatagramBytes per second.
	RateBps       float64 `json:"rate_bps"`
	ResultTrial   int     `json:"result_trial,omitempty"`
	PacketsPerS   float64 `json:"packets_per_s"`
	DatagramBytes int     `json:"datagram_bytes"`
	// BoundedBy is why no higher rate was tried: one of the Bounded constants. Empty: a higher rate
	// lost datagrams. LostAtBps is the lowest rate that did. 0: no such rate bounds the result.
	BoundedBy string  `json:"bounded_by,omitempty"`
	LostAtBps float64 `json:"lost_at_bps,omitempty"`
	// Why is why no rate was confirmed.
	Why string `json:"why,omitempty"`
	// Loss is the acceptable share of lost datagrams. Resolution is the relative difference between
	// the result and a rate that loses at which the search ends. Repeats is the number of
	// confirmation trials of ConfirmS seconds that a rate must pass; trials of the search take
	// TrialS seconds.
	Loss       float64 `json:"loss"`
	Resolution float64 `json:"resolution"`
	Repeats    int     `json:"repeats"`
	TrialS     float64 `json:"trial_s"`
	ConfirmS   float64 `json:"confirm_s"`
	// Places lists where datagrams were lost at LostAtBps, if counters show that.
	Places []LossPlace `json:"places,omitempty"`
	// Pacing describes the pacing of the senders in ResultTrial or, without a result, in the last
	// trial.
	Pacing string `json:"pacing,omitempty"`
	// Trials lists all trials in order.
	Trials []LossTrial `json:"trials"`
}

// Open reports whether the search ended before a rate was confirmed although some trials passed. If
// no trial passed, the result is 0.
func (l *LossFree) Open() bool {
	return l.RateBps == 0 && slices.ContainsFunc(l.Trials, func(t LossTrial) bool { return t.Pass })
}

// Why a search did not try a higher rate.
const (
	BoundedBySender = "sender" // the sender reaches no higher rate
	BoundedByCap    = "cap"    // the user set the highest rate
	BoundedByLimit  = "limit"  // the links carry no more
	// BoundedByStalls: the senders fell behind the schedule at a rate that they reached in other
	// trials, and the higher rate LostAtBps lost datagrams.
	BoundedByStalls = "stalls"
)

// LossTrial is one trial of a LossFree search.
type LossTrial struct {
	// AskedBps is the requested rate. 0: as fast as possible.
	AskedBps    float64 `json:"asked_bps"`
	OfferedBps  float64 `json:"offered_bps"`  // that was sent
	ReceivedBps float64 `json:"received_bps"` // that arrived
	WindowS     float64 `json:"window_s"`
	Sent        int64   `json:"sent"`
	Lost        int64   `json:"lost"`
	// LostShare is the number of lost datagrams, divided by those that arrived or were lost. Other
	// datagrams of Sent were in flight at the end of the window, or none sent later had arrived.
	LostShare float64 `json:"lost_share"`
	// Confirms reports whether the trial has the full length and is one of those that confirm a
	// rate if all of them pass.
	Confirms bool        `json:"confirms,omitempty"`
	Pass     bool        `json:"pass"`
	Places   []LossPlace `json:"places,omitempty"`
}

// Expected returns the number of datagrams that LostShare is relative to. 0: none was lost.
func (t LossTrial) Expected() int64 {
	if t.LostShare <= 0 {
		return 0
	}
	return int64(math.Round(float64(t.Lost) / min(t.LostShare, 1)))
}

// LossPlace counts packets that were dropped at one place during a trial.
type LossPlace struct {
	Host string `json:"host,omitempty"` // empty: unknown
	// What describes the place: "receive buffer", "queue of eth0 (tbf)".
	What    string `json:"what"`
	Packets int64  `json:"packets"`
}
