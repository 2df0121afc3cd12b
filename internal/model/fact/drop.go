package fact

// Facts about packets that were dropped, and about cables.
type (
	// Dropped is a number of packets that the kernel dropped for one reason (kfree_skb).
	Dropped struct {
		Interface string  `json:"interface,omitempty"` // empty: no interface
		Direction string  `json:"direction,omitempty"` // rx or tx; empty: not known
		Packets   int64   `json:"packets"`
		Protocol  string  `json:"protocol,omitempty"`
		OverS     float64 `json:"over_s"`
		Reason    string  `json:"reason"`          // of enum skb_drop_reason, without its prefix
		Place     string  `json:"place,omitempty"` // function of the kernel
	}
	// WrongChecks is how many of the frames of rx_errors had a wrong frame check sequence.
	WrongChecks struct {
		Interface string `json:"interface"`
		Frames    uint64 `json:"frames"`
	}
	// Qdisc is what a queueing discipline counted.
	Qdisc struct {
		Interface    string `json:"interface"`
		Kind         string `json:"kind"`
		Handle       string `json:"handle"`
		Dropped      uint64 `json:"dropped"`
		Sent         uint64 `json:"sent"`
		OverLimit    uint64 `json:"over_limit"`
		WaitingBytes uint64 `json:"waiting_bytes"` // now
		// RateBps is the rate to which it holds packets back. 0: not known, or none.
		RateBps float64 `json:"rate_bps,omitempty"`
		Time
	}
	// FirewallRule is a rule of nftables that drops packets.
	FirewallRule struct {
		Place   string `json:"place"` // "inet filter input handle 7"
		Text    string `json:"text"`
		Counted bool   `json:"counted,omitempty"` // it has a counter
	}
	// RuleCounter is the growth of the counter of a firewall rule.
	RuleCounter struct {
		Packets uint64 `json:"packets"`
		Time
	}
	// FirewallSet is a set of nftables with a limit (Size) of its elements.
	FirewallSet struct {
		Name     string `json:"name"`
		Elements int    `json:"elements"`
		Size     int    `json:"size"`
	}
	// FirewallQuota is a quota of nftables and what is used of it.
	FirewallQuota struct {
		Name  string `json:"name"`
		Bytes uint64 `json:"bytes"`
		Quota uint64 `json:"quota_bytes"`
	}
	// Cable is where an interface is connected, according to LLDP: "port Gi1/0/7 of sw1".
	Cable struct {
		Interface string `json:"interface"`
		Place     string `json:"place"`
	}
)

var _ = are(Dropped{}, WrongChecks{}, Qdisc{}, FirewallRule{}, RuleCounter{}, FirewallSet{}, FirewallQuota{},
	Cable{})

// Names returns the interface, which may be empty.
func (d Dropped) Names() []string { return []string{d.Interface} }

// Names returns the interface.
func (w WrongChecks) Names() []string { return []string{w.Interface} }

// Names returns the interface.
func (q Qdisc) Names() []string { return []string{q.Interface} }

// Names returns the interface.
func (c Cable) Names() []string { return []string{c.Interface} }
