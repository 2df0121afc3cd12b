package record

import "fmt"

// Nftables is what nf_tables has in a host's network namespace, as nft(8) lists it: the rules
// and policies that drop or count packets, and what has a bound.
type Nftables struct {
	// Rules are those that drop or reject before those that only count, then those with the most
	// packets, at most MostNftRules; More is how many of them were left out.
	Rules []NftRule `json:"rules,omitempty"`
	More  int       `json:"more_rules,omitempty"`
	// Objects are named counters and quotas, Sets those with a bound of their elements, at most
	// MostNftSets of each.
	Objects []NftObject `json:"objects,omitempty"`
	Sets    []NftSet    `json:"sets,omitempty"`
	// CountedS is how long before an earlier reading was, in seconds; 0: there was none.
	CountedS float64 `json:"counted_over_s,omitempty"`
}

// MostNftRules and MostNftSets bound the lists of Nftables.
const MostNftRules, MostNftSets = 1024, 256

// NftRule is a rule of nf_tables, or the policy of a base chain.
type NftRule struct {
	Family string `json:"family"` // ip, ip6, inet, arp, bridge, netdev
	Table  string `json:"table"`
	Chain  string `json:"chain"`
	Hook   string `json:"hook,omitempty"`   // of the chain: "input"; absent: others jump to it
	Handle uint64 `json:"handle,omitempty"` // 0: the chain's policy
	// Text is the rule as nft(8) prints it. What is not understood of it is the name of the
	// kernel's expression in brackets: "[fib]".
	Text string `json:"text"`
	// Verdict is what the rule does at last: drop, reject, accept, jump, …; absent: it goes on.
	Verdict string `json:"verdict,omitempty"`
	// Counted: it has a counter. Before is that of Packets at the earlier reading.
	Counted bool   `json:"counted,omitempty"`
	Packets uint64 `json:"packets,omitempty"`
	Bytes   uint64 `json:"bytes,omitempty"`
	Before  uint64 `json:"packets_before,omitempty"`
}

// Drops reports whether the rule drops or rejects what it matches.
func (r NftRule) Drops() bool { return r.Verdict == "drop" || r.Verdict == "reject" }

// Place names the rule as nft(8) does in commands: "inet filter input handle 7".
func (r NftRule) Place() string {
	place := fmt.Sprintf("%s %s %s", r.Family, r.Table, r.Chain)
	if r.Handle == 0 {
		return place + " policy"
	}
	return fmt.Sprintf("%s handle %d", place, r.Handle)
}

// NftObject is a named counter or quota.
type NftObject struct {
	Family  string `json:"family"`
	Table   string `json:"table"`
	Name    string `json:"name"`
	Kind    string `json:"kind"` // counter, quota
	Packets uint64 `json:"packets,omitempty"`
	Bytes   uint64 `json:"bytes,omitempty"` // of a quota: those that were used
	Quota   uint64 `json:"quota_bytes,omitempty"`
}

// NftSet is a set or map with a bound of its elements.
type NftSet struct {
	Family   string `json:"family"`
	Table    string `json:"table"`
	Name     string `json:"name"`
	Size     int    `json:"size"`
	Elements int    `json:"elements"`
}

// Since gives the rules what they had counted before, some seconds ago.
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
		n.Rules[i].Before = min(had[rule{r.Place(), r.Text}], r.Packets) // which was set to 0, if it has less
	}
}
