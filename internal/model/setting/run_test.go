package setting

import (
	"net/netip"
	"slices"
	"testing"
)

// TestRoutesInARow: the prefixes of a run follow each other, to the end of the addresses and no
// further, and an address is in one of them or in none.
func TestRoutesInARow(t *testing.T) {
	r := Route{To: "10.255.254.0/24", Count: 4}
	var got []string
	for p := range r.All() {
		got = append(got, p.String())
	}
	if want := []string{"10.255.254.0/24", "10.255.255.0/24", "11.0.0.0/24", "11.0.1.0/24"}; !slices.Equal(got, want) ||
		r.Last().String() != want[3] || r.WrongCount() != "" {
		t.Errorf("%v, last %s, %s", got, r.Last(), r.WrongCount())
	}
	for text, want := range map[string]bool{"10.255.253.255": false, "10.255.254.0": true, "11.0.1.255": true,
		"11.0.2.0": false, "::1": false} {
		if r.Holds(netip.MustParseAddr(text)) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
	for _, r := range []Route{{To: "255.255.255.0/24", Count: 2}, {To: "10.0.0.0/8", Count: -1},
		{To: "default", Count: 2}, {To: "0.0.0.0/0", Count: 2}, {To: "fd00::/64", Count: MostRoutes + 1}} {
		if r.WrongCount() == "" {
			t.Errorf("%d routes from %s on: no error", r.Count, r.To)
		}
	}
	if r := (Route{To: "fd00:0:0:ffff::/64", Count: 2}); r.Last().String() != "fd00:0:1::/64" {
		t.Error(r.Last())
	}
}

// TestNFTRules: what nft reads is a table, a chain and a command for each rule, whatever a rule
// says.
func TestNFTRules(t *testing.T) {
	n := NFT{Hook: "forward", Priority: -5, Policy: "drop", Rules: []string{"tcp dport { 80, 443 } accept",
		`log prefix "a } b" drop`}}
	want := []string{
		"create table inet linerate_forward_filter_m5",
		"add chain inet linerate_forward_filter_m5 forward { type filter hook forward priority -5; policy drop; }",
		"add rule inet linerate_forward_filter_m5 forward tcp dport { 80, 443 } accept",
		`add rule inet linerate_forward_filter_m5 forward log prefix "a } b" drop`,
	}
	if place, why := n.Check(); why != "" || !slices.Equal(n.Commands(), want) {
		t.Errorf("%s %s %q", place, why, n.Commands())
	}
	for _, rule := range []string{"", " ", "accept; flush ruleset", "accept\nflush ruleset", "accept } drop {", "a { b",
		"a } b", `a " b`, "accept # b", "ip saddr @x drop", "jump $x", "é", string(make([]byte, LongestNFTRule+1))} {
		if place, why := (NFT{Hook: "input", Rules: []string{"accept", rule}}).Check(); place != "rules[1]" ||
			why == "" {
			t.Errorf("%.20q: %q %q", rule, place, why)
		}
	}
	for _, n := range []NFT{{Hook: "input"}, {Hook: "x", Policy: "drop"},
		{Hook: "input", Policy: "x", Rules: []string{"accept"}}, {Hook: "input", Type: "x", Policy: "drop"},
		{Hook: "input", Policy: "drop", Priority: 1 << 30}} {
		if _, why := n.Check(); why == "" {
			t.Errorf("%+v: no error", n)
		}
	}
}
