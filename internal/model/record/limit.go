package record

import "strings"

// Limit explains how the limit of goodput is computed, or why there is none. The zero value belongs
// to a record without a limit, or to one that only has it in words.
type Limit struct {
	// Terms are the summands of the limit, links before caps.
	Terms []LimitTerm `json:"terms,omitempty"`
	// None is why there is no limit: one of the NoLimit constants. Terms is then empty.
	None string `json:"none,omitempty"`
	// Of is what None refers to: the queue discipline and interface for NoLimitSizeTable, the error
	// for NoLimitPath.
	Of string `json:"of,omitempty"`
	// ServerCap reports whether a cap is the server's --max-rate. AskedBps is the requested rate, 0
	// if none.
	ServerCap bool    `json:"server_cap,omitempty"`
	AskedBps  float64 `json:"asked_bps,omitempty"`
	// Directions has the limits of both directions if the limit is their sum. The other fields are
	// then empty.
	Directions []Limit `json:"directions,omitempty"`
}

// LimitTerm is a summand of a limit: N × Bps × PayloadBytes / WireBytes.
type LimitTerm struct {
	Kind string  `json:"kind"` // LimitLink or LimitCap
	N    int     `json:"n,omitempty"`
	Bps  float64 `json:"bps"`          // the rate of the link, or the cap
	Of   string  `json:"of,omitempty"` // the queue discipline that shapes the link: "tbf on client.eth0"
	// PayloadBytes of the WireBytes of each frame are payload.
	PayloadBytes int `json:"payload_bytes,omitempty"`
	WireBytes    int `json:"wire_bytes,omitempty"`
	// Price replaces the payload's share of the link's rate if several kinds of flows, or several
	// bottlenecks, share the link. 0: it does not.
	Price float64 `json:"price,omitempty"`
	// Times is the fraction of the term that counts if other terms share the same capacity. 0: the
	// whole term counts.
	Times float64 `json:"times,omitempty"`
}

// Kinds of terms of a limit.
const (
	LimitLink = "link" // a link's rate, or that of its shaper
	LimitCap  = "cap"  // a flow's own rate cap
)

// Reasons why there is no limit, in Limit.None.
const (
	NoLimitTransactions = "transactions" // requests and responses wait for each other
	NoLimitPath         = "path"         // a flow has no known path
	NoLimitSpeed        = "speed"        // neither end's interface reports a speed
	NoLimitOwnSpeed     = "own-speed"    // this host's interface does not, and the peer's is not known
	NoLimitSomeSpeed    = "some-speed"   // one of several interfaces does not
	NoLimitInterfaces   = "interfaces"   // not all interfaces of the flows are known
	NoLimitSizeTable    = "size-table"   // because of tc-stab a packet of many segments counts as one
	NoLimitWorded       = "worded"       // a record of an older version, which only has words
)

// IsZero reports whether l has neither terms nor a reason why there is no limit.
func (l Limit) IsZero() bool { return l.Terms == nil && l.None == "" && l.Directions == nil }

// Capped reports whether caps of flows are part of the limit, and whether there is nothing else in
// it.
func (l Limit) Capped() (capped, only bool) {
	only = true
	for _, t := range l.Terms {
		capped, only = capped || t.Kind == LimitCap, only && t.Kind == LimitCap
	}
	for _, d := range l.Directions {
		some, all := d.Capped()
		capped, only = capped || some, only && all
	}
	return capped, capped && only
}

// WordedLimit returns the limit of a record of an older version, which only has it in words: "1
// Gbit/s × 1448/1538 + 2 × cap of 50 Mbit/s". Only the kinds of the terms are parsed.
func WordedLimit(why string) (l Limit) {
	if strings.HasPrefix(why, "none: ") || strings.HasPrefix(why, "unknown: ") {
		return Limit{None: NoLimitWorded}
	}
	for term := range strings.SplitSeq(why, " + ") {
		kind := LimitLink
		if strings.Contains(term, "cap of ") {
			kind = LimitCap
		}
		l.Terms = append(l.Terms, LimitTerm{Kind: kind})
	}
	return l
}
