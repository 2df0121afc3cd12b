package setting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NFT is a base chain of nftables with its rules (nft(8)). It is in its own table of family inet,
// so that it can be added and removed as a whole without changing other tables.
type NFT struct {
	Hook     string   `yaml:"hook,required" json:"hook" doc:"where in the path of packets: forward is those that the host routes" enum:"prerouting,input,forward,output,postrouting"`
	Type     string   `yaml:"type" json:"type,omitempty" doc:"what the chain does with packets; filter when absent" enum:"filter,nat,route"`
	Priority int      `yaml:"priority,zero" json:"priority,omitempty" doc:"order among the chains of the hook, lower is first; 0 or absent: that of filters"`
	Policy   string   `yaml:"policy" json:"policy,omitempty" doc:"what happens to packets that no rule decides; accept when absent" enum:"accept,drop"`
	Rules    []string `yaml:"rules" json:"rules,omitempty" doc:"rules in nft's own words, such as 'ct state established accept', in order"`
}

// Bounds of a chain.
const (
	// MostNFTRules limits the rules of a chain, and LongestNFTRule the bytes of a rule.
	MostNFTRules   = 1 << 14
	LongestNFTRule = 512
	mostPriority   = 1 << 20
)

// Check returns the invalid key below nft and what is wrong with it. Empty: nothing is wrong. It
// leaves the syntax of rules to nft, but rejects characters that could end a rule and begin another
// command.
func (n NFT) Check() (place, why string) {
	switch {
	case n.Priority < -mostPriority || n.Priority > mostPriority:
		return "priority", fmt.Sprintf("priority %d: expected %d to %d", n.Priority, -mostPriority, mostPriority)
	case len(n.Rules) == 0 && n.Policy != "drop":
		return "rules", "a chain without rules that accepts everything changes nothing: expected rules, or policy: drop"
	case len(n.Rules) > MostNFTRules:
		return "rules", fmt.Sprintf("%d rules: expected at most %d", len(n.Rules), MostNFTRules)
	}
	for _, known := range []struct {
		key, value string
		values     []string
	}{
		{"hook", n.Hook, []string{"prerouting", "input", "forward", "output", "postrouting"}},
		{"type", n.Type, []string{"", "filter", "nat", "route"}},
		{"policy", n.Policy, []string{"", "accept", "drop"}},
	} {
		if !slices.Contains(known.values, known.value) {
			return known.key, fmt.Sprintf("%q: expected %s", known.value,
				strings.TrimPrefix(strings.Join(known.values, ", "), ", "))
		}
	}
	for i, r := range n.Rules {
		if why := wrongRule(r); why != "" {
			return fmt.Sprintf("rules[%d]", i), why
		}
	}
	return "", ""
}

// wrongRule returns why a text could be more than one rule in nft's language.
func wrongRule(r string) string {
	short := r
	if len(short) > 60 {
		short = short[:57] + "..."
	}
	switch {
	case strings.TrimSpace(r) == "":
		return "an empty rule: expected words of nft(8), such as 'ct state established accept'"
	case len(r) > LongestNFTRule:
		return fmt.Sprintf("rule %q has %d bytes: expected at most %d", short, len(r), LongestNFTRule)
	}
	depth, quoted := 0, false
	for _, c := range r {
		switch {
		case c < ' ' || c > '~':
			return fmt.Sprintf("rule %q: expected printable ASCII on one line", short)
		case c == '"':
			quoted = !quoted
		case strings.ContainsRune(`;#\$@`, c):
			return fmt.Sprintf("rule %q: expected a single rule, without %c", short, c)
		case c == '{' && !quoted:
			depth++
		case c == '}' && !quoted:
			depth--
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 || quoted {
		return fmt.Sprintf("rule %q: a brace or quote has no partner", short)
	}
	return ""
}

// Table returns the name of the table. It differs between chains with different hooks, types or
// priorities.
func (n NFT) Table() string {
	return strings.ReplaceAll(fmt.Sprintf("linerate_%s_%s_%d", n.Hook, cmp.Or(n.Type, "filter"), n.Priority), "-", "m")
}

// Commands returns the nft commands that create the table.
func (n NFT) Commands() []string {
	table := "inet " + n.Table()
	list := []string{
		"create table " + table,
		fmt.Sprintf("add chain %s %s { type %s hook %s priority %d; policy %s; }", table, n.Hook,
			cmp.Or(n.Type, "filter"), n.Hook, n.Priority, cmp.Or(n.Policy, "accept")),
	}
	for _, r := range n.Rules {
		list = append(list, fmt.Sprintf("add rule %s %s %s", table, n.Hook, r))
	}
	return list
}

// String describes the chain: the first rules in nft's syntax and the number of further ones.
func (n NFT) String() string {
	const shown = 3
	text := n.Hook
	if n.Type != "" && n.Type != "filter" {
		text += " " + n.Type
	}
	text = phrase(text, "priority", n.Priority, "policy", n.Policy)
	for i, r := range n.Rules[:min(shown, len(n.Rules))] {
		text += map[bool]string{true: ": ", false: "; "}[i == 0] + r
	}
	if more := len(n.Rules) - shown; more > 0 {
		text += fmt.Sprintf("; … %d more", more)
	}
	return text
}
