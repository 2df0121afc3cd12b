package record

import (
	"math"
	"slices"
)

// LossFree is the result of the search for the highest rate at which datagrams are
// not lost (RFC 2544, section 26.1: throughput). Rates are of payload, all flows
// of datagrams together.
type LossFree struct {
	// RateBps is what the senders sent, at most what was asked for, in ResultTrial: the one of
	// the trials that confirmed the rate in which most came through; 0: no rate was confirmed.
	// ResultTrial counts from 1 in Trials. PacketsPerS is how many datagrams that is, each of
	// DatagramBytes.
	RateBps       float64 `json:"rate_bps"`
	ResultTrial   int     `json:"result_trial,omitempty"`
	PacketsPerS   float64 `json:"packets_per_s"`
	DatagramBytes int     `json:"datagram_bytes"`
	// BoundedBy is what kept the search from trying more: one of the Bounded
	// words; empty: a higher rate lost. LostAtBps is the lowest rate that did; 0: none
	// that bounds the result.
	BoundedBy string  `json:"bounded_by,omitempty"`
	LostAtBps float64 `json:"lost_at_bps,omitempty"`
	// Why says why no rate was confirmed.
	Why string `json:"why,omitempty"`
	// Loss is the share of datagrams that may be lost, Resolution how far below a
	// rate that loses the result may be, Repeats how many trials of ConfirmS
	// seconds it has to pass; those of the search took TrialS.
	Loss       float64 `json:"loss"`
	Resolution float64 `json:"resolution"`
	Repeats    int     `json:"repeats"`
	TrialS     float64 `json:"trial_s"`
	ConfirmS   float64 `json:"confirm_s"`
	// Places are where the datagrams were lost at LostAtBps, as far as it is
	// counted.
	Places []LossPlace `json:"places,omitempty"`
	// Pacing is what the senders of ResultTrial, or else of the last, say of their pacing.
	Pacing string `json:"pacing,omitempty"`
	// Trials are all that were made, in their order.
	Trials []LossTrial `json:"trials"`
}

// Open reports whether the search ended before a rate was confirmed, though some trials lost
// nothing. A search without such trials has 0 as its result.
func (l *LossFree) Open() bool {
	return l.RateBps == 0 && slices.ContainsFunc(l.Trials, func(t LossTrial) bool { return t.Pass })
}

// What keeps a search from trying more.
const (
	BoundedBySender = "sender" // it can make no more
	BoundedByCap    = "cap"    // no more was to be tried
	BoundedByLimit  = "limit"  // the links carry no more
	// BoundedByStalls: the senders fell behind a rate that they reached in other trials, and
	// LostAtBps, which is higher, lost.
	BoundedByStalls = "stalls"
)

// LossTrial is one trial of the search.
type LossTrial struct {
	// AskedBps is what was to be sent; 0: as much as can be.
	AskedBps    float64 `json:"asked_bps"`
	OfferedBps  float64 `json:"offered_bps"`  // sent
	ReceivedBps float64 `json:"received_bps"` // arrived
	WindowS     float64 `json:"window_s"`
	Sent        int64   `json:"sent"`
	Lost        int64   `json:"lost"`
	// LostShare is of the datagrams that were expected: those that arrived, and the lost. Others
	// of Sent are on their way at the window's end, or nothing after them has arrived yet.
	LostShare float64 `json:"lost_share"`
	// Confirms: it is of the full length, and one of those that confirm its rate if none of these
	// loses.
	Confirms bool        `json:"confirms,omitempty"`
	Pass     bool        `json:"pass"`
	Places   []LossPlace `json:"places,omitempty"`
}

// Expected are the datagrams of which LostShare is the share; 0: none was lost.
func (t LossTrial) Expected() int64 {
	if t.LostShare <= 0 {
		return 0
	}
	return int64(math.Round(float64(t.Lost) / min(t.LostShare, 1)))
}

// LossPlace is where packets were dropped during a trial.
type LossPlace struct {
	Host string `json:"host,omitempty"` // empty: not known where
	// What is it: "receive buffer", "queue of eth0 (tbf)".
	What    string `json:"what"`
	Packets int64  `json:"packets"`
}
