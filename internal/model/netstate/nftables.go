package netstate

import (
	"cmp"
	"fmt"
	"slices"
)

// Nftables has the nf_tables configuration of a network namespace, as nft(8) lists it: rules and
// policies that drop or count packets, and objects and sets that have a limit.
type Nftables struct {
	// Rules has first those that drop or reject, then those that only count, and among these those
	// with most packets first, at most MostNftRules. More counts the rules that were left out.
	Rules []NftRule `json:"rules,omitempty"`
	More  int       `json:"more_rules,omitempty"`
	// Objects are named counters and quotas. Sets are those with a maximum number of elements. At
	// most MostNftSets of each are kept.
	Objects []NftObject `json:"objects,omitempty"`
	Sets    []NftSet    `json:"sets,omitempty"`
	// CountedS is the time since the earlier reading that Before refers to, in seconds. 0: there
	// was none.
	CountedS float64 `json:"counted_over_s,omitempty"`
}

// MostNftRules and MostNftSets limit the lists of Nftables.
const MostNftRules, MostNftSets = 1024, 256

// NftRule is a rule of nf_tables, or the policy of a base chain.
type NftRule struct {
	Family string `json:"family" is:"word"` // ip, ip6, inet, arp, bridge, netdev
	Table  string `json:"table" is:"name"`
	Chain  string `json:"chain" is:"name"`
	Hook   string `json:"hook,omitempty" is:"word"` // of the chain: "input"; absent: other chains jump to it
	Handle uint64 `json:"handle,omitempty"`         // 0 for the policy of the chain
	// Number is the position of a rule in its chain, from 1, if its handle is unknown. 0: unknown.
	Number int `json:"number,omitempty"`
	// Tool is the program that has printed Text, if that is not nft(8): iptables or ip6tables.
	Tool string `json:"tool,omitempty" is:"word"`
	// Text is the rule as nft(8) or Tool prints it, without the values of its counter, and PolicyDrop for
	// a policy. An expression that linerate does not know appears as its kernel name in brackets: "[fib]".
	Text string `json:"text" is:"text"`
	// Verdict is the last statement of the rule: drop, reject, accept, jump, … Absent: the rule has
	// no verdict.
	Verdict string `json:"verdict,omitempty" is:"word"`
	// Counted reports whether the rule has a counter. Before is the value of Packets at the earlier
	// reading.
	Counted bool   `json:"counted,omitempty"`
	Packets uint64 `json:"packets,omitempty"`
	Bytes   uint64 `json:"bytes,omitempty"`
	Before  uint64 `json:"packets_before,omitempty"`
}

// Drops reports whether the rule drops or rejects the packets that it matches.
func (r NftRule) Drops() bool { return r.Verdict == "drop" || r.Verdict == "reject" }

// PolicyDrop is the text of a policy that drops.
const PolicyDrop = "policy drop"

// Place returns the rule's name in nft(8) commands: "inet filter input handle 7", or, of a rule of
// iptables(8) or without a known handle, its position: "ip filter INPUT rule 3".
func (r NftRule) Place() string {
	place := fmt.Sprintf("%s %s %s", r.Family, r.Table, r.Chain)
	switch {
	case r.Handle != 0:
		return fmt.Sprintf("%s handle %d", place, r.Handle)
	case r.Number != 0:
		return fmt.Sprintf("%s rule %d", place, r.Number)
	case r.Text != "" && r.Text != PolicyDrop:
		return place
	}
	return place + " policy"
}

// Order sorts the rules, and leaves out those that are too many.
func (n *Nftables) Order() {
	slices.SortStableFunc(n.Rules, func(a, b NftRule) int {
		order := func(r NftRule) int { return map[bool]int{true: 0, false: 1}[r.Drops()] }
		return cmp.Or(order(a)-order(b), cmp.Compare(b.Packets, a.Packets))
	})
	n.More = max(len(n.Rules)-MostNftRules, 0)
	n.Rules = n.Rules[:len(n.Rules)-n.More]
}

// NftObject is a named counter or quota.
type NftObject struct {
	Family  string `json:"family" is:"word"`
	Table   string `json:"table" is:"name"`
	Name    string `json:"name" is:"name"`
	Kind    string `json:"kind" is:"word"` // counter, quota
	Packets uint64 `json:"packets,omitempty"`
	Bytes   uint64 `json:"bytes,omitempty"` // for a quota: the bytes used
	Quota   uint64 `json:"quota_bytes,omitempty"`
}

// NftSet is a set or map with a maximum number of elements.
type NftSet struct {
	Family   string `json:"family" is:"word"`
	Table    string `json:"table" is:"name"`
	Name     string `json:"name" is:"name"`
	Size     int    `json:"size"`
	Elements int    `json:"elements"`
}

// Since sets Before of each rule to its counter in an earlier reading, taken the given seconds ago.
func (n *Nftables) Since(before *Nftables, seconds float64) {
	if n == nil || before == nil || seconds <= 0 {
		return
	}
	type rule struct {
		place, text string
	}
	had := map[rule]uint64{}
	for _, r := range before.Rules {
		had[rule{r.Place(), r.Text}] = r.Packets
	}
	n.CountedS = seconds
	for i, r := range n.Rules {
		n.Rules[i].Before = min(had[rule{r.Place(), r.Text}], r.Packets) // lower: it was reset to 0
	}
}
