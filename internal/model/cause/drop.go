package cause

import "strings"

// Causes of packets that the kernel, its queues and its firewall drop.
var (
	NetfilterDrop = each[Direction]("netfilter-drop")
	TCDrop        = each[Direction]("tc-drop")
	FirewallDrop  = each[FirewallRule]("firewall-drop")
	NftSetFull    = each[FirewallObject]("nft-set-full")
	NftQuotaUsed  = each[FirewallObject]("nft-quota-used")
	QdiscDrop     = each[Qdisc]("qdisc-drop")
	Shaped        = each[Qdisc]("shaped")
)

// Direction says which way the dropped packets were going.
type Direction struct {
	Direction string `json:"direction,omitempty"` // rx, tx; empty: not known
}

// FirewallRule identifies an nftables rule, or the policy of a chain if Handle is 0 and Text is empty.
type FirewallRule struct {
	Family string `json:"family"`
	Table  string `json:"table"`
	Chain  string `json:"chain"`
	Handle uint64 `json:"handle,omitempty"`
	// Number, Tool and Text are those of netstate.NftRule, for a rule without a known handle, and Tool
	// also for a policy of iptables(8).
	Number int    `json:"number,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Text   string `json:"text,omitempty"`
}

// FirewallObject identifies an nftables set or named quota.
type FirewallObject struct {
	Family string `json:"family"`
	Table  string `json:"table"`
	Name   string `json:"name"`
}

// Qdisc identifies the queueing discipline of an interface by its kind.
type Qdisc struct {
	Kind string `json:"kind"` // as tc(8) names it, such as fq_codel
}

// String returns "FAMILY TABLE NAME", as nft(8) expects it in commands.
func (o FirewallObject) String() string {
	return strings.Join([]string{o.Family, o.Table, o.Name}, " ")
}
