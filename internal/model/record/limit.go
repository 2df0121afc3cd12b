package record

import "strings"

// Limit is what the limit of a goodput is made of, or why there is none. The zero value is that of
// a record without a limit, or of one that has it in words alone.
type Limit struct {
	// Terms are its parts, of which it is the sum, links before caps.
	Terms []LimitTerm `json:"terms,omitempty"`
	// None says why there is no limit, one of the NoLimit codes; then there are no Terms.
	None string `json:"none,omitempty"`
	// Of is what None is about: the queue discipline and the interface of NoLimitSizeTable, the
	// error of NoLimitPath.
	Of string `json:"of,omitempty"`
	// ServerCap: a cap is the server's --max-rate; AskedBps is the rate that was requested, 0 for none.
	ServerCap bool    `json:"server_cap,omitempty"`
	AskedBps  float64 `json:"asked_bps,omitempty"`
	// Directions are the limits of both, where this is their sum; then there is nothing else.
	Directions []Limit `json:"directions,omitempty"`
}

// LimitTerm is a part of a limit: N times Bps times the part of it that is payload.
type LimitTerm struct {
	Kind string  `json:"kind"` // LimitLink or LimitCap
	N    int     `json:"n,omitempty"`
	Bps  float64 `json:"bps"`          // the rate of the link, or the cap
	Of   string  `json:"of,omitempty"` // the queue discipline that shapes the link: "tbf on client.eth0"
	// PayloadBytes of WireBytes of each frame are payload.
	PayloadBytes int `json:"payload_bytes,omitempty"`
	WireBytes    int `json:"wire_bytes,omitempty"`
	// Price is the part of a link's rate that the limit has where that is not the payload's: several
	// kinds of flows, or several bottlenecks, meet. 0: it is.
	Price float64 `json:"price,omitempty"`
	// Times is the part of the whole term that the limit has where other terms take a part, too. 0: all.
	Times float64 `json:"times,omitempty"`
}

// Kinds of a limit's terms.
const (
	LimitLink = "link" // a link's rate, or that of its shaper
	LimitCap  = "cap"  // a flow's own rate cap
)

// Codes of why there is no limit.
const (
	NoLimitTransactions = "transactions" // requests and responses wait for each other
	NoLimitPath         = "path"         // a flow has no known path
	NoLimitSpeed        = "speed"        // neither end's interface reports a speed
	NoLimitOwnSpeed     = "own-speed"    // this host's does not, and the peer's is not known
	NoLimitSomeSpeed    = "some-speed"   // one of several interfaces does not
	NoLimitInterfaces   = "interfaces"   // not all interfaces of the flows are known
	NoLimitSizeTable    = "size-table"   // tc-stab counts a packet of many segments as one
	NoLimitWorded       = "worded"       // a record of an older version says it in words alone
)

// IsZero reports whether nothing is known of the limit.
func (l Limit) IsZero() bool { return l.Terms == nil && l.None == "" && l.Directions == nil }

// Capped reports whether flows' caps are a part of the limit, and only whether nothing else is.
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

// WordedLimit is the limit of a record of an older version, which has it in words alone: "1 Gbit/s ×
// 1448/1538 + 2 × cap of 50 Mbit/s". Only the kinds of its terms are read.
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
