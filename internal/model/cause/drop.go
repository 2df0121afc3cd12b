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
)

// Direction is that of packets: rx, tx; empty: not known.
type Direction struct {
	Direction string `json:"direction,omitempty"`
}

// FirewallRule is a rule of nftables, or without a handle the policy of a chain.
type FirewallRule struct {
	Family string `json:"family"`
	Table  string `json:"table"`
	Chain  string `json:"chain"`
	Handle uint64 `json:"handle,omitempty"`
}

// FirewallObject is a set or quota of nftables.
type FirewallObject struct {
	Family string `json:"family"`
	Table  string `json:"table"`
	Name   string `json:"name"`
}

// Qdisc is the kind of a queueing discipline.
type Qdisc struct {
	Kind string `json:"kind"`
}

// String names the object as nft(8) does in commands.
func (o FirewallObject) String() string {
	return strings.Join([]string{o.Family, o.Table, o.Name}, " ")
}
