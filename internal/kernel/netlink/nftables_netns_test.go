//go:build linux && !portable

package netlink

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
)

// nft loads a ruleset in the network namespace of the test, which nft(8) of the distribution
// checks and translates.
func nft(t *testing.T, ruleset string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ruleset")
	if err := os.WriteFile(file, []byte(ruleset), 0o600); err != nil {
		t.Fatal(err)
	}
	kerneltest.Do(t, "nft", "-f", file)
}

// TestNftables: rules are printed as nft(8) takes them, with verdict, hook and counter.
func TestNftables(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		if n, err := Nftables(); err != nil || len(n.Rules)+len(n.Objects)+len(n.Sets) > 0 {
			t.Fatalf("without rules: %+v, %v", n, err)
		}
		rules := []struct{ rule, want, verdict string }{ // want: if it is not the rule
			{"tcp dport 22 counter drop", "", "drop"},
			{"udp dport 53 counter reject", "", "reject"},
			{"ip saddr 192.0.2.0/24 counter drop", "", "drop"},
			{"ip saddr 192.0.2.64/26 counter drop", "", "drop"},
			{"ip saddr != 192.0.2.1 tcp dport 443 counter accept", "", "accept"},
			{"ip6 daddr 2001:db8::/32 counter drop", "", "drop"},
			{"ip6 daddr 2001:db8::1 udp sport 123 counter drop", "", "drop"},
			{"meta l4proto udp counter drop", "", "drop"},
			{"iifname \"eth0\" counter drop", "", "drop"},
			{"ct state established,related counter accept", "", "accept"},
			{"ct state invalid counter drop", "", "drop"},
			{"tcp dport 1000-2000 counter drop", "tcp dport >= 1000 tcp dport <= 2000 counter drop", "drop"},
			{"tcp dport != 1000-2000 counter drop", "", "drop"},
			{"tcp dport { 22, 80 } counter drop", "tcp dport @__set0 counter drop", "drop"},
			{"ip saddr @few counter drop", "", "drop"},
			{"ip saddr . tcp dport @pairs counter drop", "", "drop"},
			{"limit rate over 10/second counter drop", "", "drop"},
			{"meta mark 7 counter log prefix \"no way: \" drop", "meta mark 7 counter log prefix \"no way:\" drop",
				"drop"},
			{"meta l4proto tcp ip ttl 1 counter reject with tcp reset", "", "reject"},
			{"icmp type 8 counter drop", "", "drop"},
			{"meta nfproto ipv6 counter drop", "", "drop"},
			{"meta nfproto ipv4 meta l4proto udp counter drop", "", "drop"},
			{"fib saddr oif missing counter drop", "[fib] 0x00000000 counter drop", "drop"},
			{"tcp dport 5202 numgen random mod 100 0 counter drop", "", "drop"},
			{"tcp dport 5203 numgen random mod 100 < 3 counter drop", "", "drop"},
			{"tcp dport 5204 numgen inc mod 7 offset 5 6 counter drop", "", "drop"},
			{"tcp dport 5205 jhash ip saddr mod 100 3 counter drop",
				fmt.Sprintf("tcp dport 5205 [hash] 0x%x counter drop", native.AppendUint32(nil, 3)), "drop"},
			{"tcp dport 5206 fib daddr type local counter drop", fmt.Sprintf("tcp dport 5206 [fib] 0x%x counter drop",
				native.AppendUint32(nil, 2)), "drop"},
			{"tcp dport 5208 tcp option maxseg size 500 counter drop", "tcp dport 5208 [exthdr] 0x01f4 counter drop",
				"drop"},
			{"tcp dport 5209 socket transparent 1 counter drop", "tcp dport 5209 [socket] 0x01 counter drop", "drop"},
			{"tcp dport 5210 meta mark > 100 counter drop", "", "drop"},
			{"tcp dport 5211 ip dscp 10 counter drop",
				"tcp dport 5211 meta nfproto ipv4 @nh,8,8 & 0xfc 0x28 counter drop", "drop"},
			{"tcp dport 5212 counter numgen inc mod 2 vmap { 0 : drop, 1 : accept }",
				"tcp dport 5212 counter numgen inc mod 2 vmap @__map0", "vmap"},
			{"counter name \"named\" drop", "", "drop"},
			{"quota over 1000 bytes counter drop", "", "drop"},
			{"udp dport 9 drop", "", "drop"}, // without counter
			{"counter jump other", "", "jump"},
		}
		text := "table inet filter {\ncounter named { }\nquota month { 5000 bytes }\nset few { type ipv4_addr; " +
			"size 4; elements = { 192.0.2.7, 192.0.2.8, 192.0.2.9 } }\nset pairs { type ipv4_addr . inet_service; " +
			"}\nchain other { }\nchain input {\ntype filter hook input priority 0; policy drop;\n"
		for _, r := range rules {
			text += r.rule + "\n"
		}
		nft(t, text+"}\n}\ntable ip6 second { chain out { type filter hook output priority 0;\ncounter accept\n}\n}\n")
		n, err := Nftables()
		if err != nil {
			t.Fatal(err)
		}
		byHandle := map[string]netstate.NftRule{}
		for _, r := range n.Rules {
			byHandle[fmt.Sprint(r.Family, " ", r.Text)] = r
			t.Log(r.Place(), ": ", r.Text)
		}
		for _, r := range rules {
			want := r.rule
			if r.want != "" {
				want = r.want
			}
			got, found := byHandle["inet "+want]
			if !found || got.Verdict != r.verdict || got.Hook != "input" || got.Table != "filter" ||
				got.Chain != "input" || got.Handle == 0 || got.Counted != strings.Contains(want, "counter") &&
				!strings.Contains(want, "name") {
				t.Errorf("%s: %+v", r.rule, got)
			}
		}
		if p := byHandle["inet policy drop"]; p.Handle != 0 || p.Hook != "input" || !p.Drops() ||
			p.Place() != "inet filter input policy" {
			t.Errorf("policy: %+v", p)
		}
		if c := byHandle["ip6 counter accept"]; c.Hook != "output" || !c.Counted || c.Drops() {
			t.Errorf("second table: %+v", c)
		}
		if len(n.Sets) != 1 || n.Sets[0] != (netstate.NftSet{Family: "inet", Table: "filter", Name: "few", Size: 4,
			Elements: 3}) {
			t.Errorf("sets: %+v", n.Sets)
		}
		if len(n.Objects) != 2 || n.Objects[0].Kind != "counter" || n.Objects[0].Name != "named" ||
			n.Objects[1].Quota != 5000 {
			t.Errorf("objects: %+v", n.Objects)
		}
	})
}

// TestNftRegisters: a comparison is of what was written last into its register.
func TestNftRegisters(t *testing.T) {
	big := func(kind uint16, value byte) []byte { return appendAttribute(nil, kind, []byte{0, 0, 0, value}) }
	data := func(kind uint16, value ...byte) []byte {
		return appendAttribute(nil, kind, appendAttribute(nil, 1, value))
	}
	for name, test := range map[string]struct {
		expression string
		data       []byte
		want       string
	}{
		"mask": {"bitwise", slices.Concat(big(1, 1), big(2, 1), data(4, 0xff, 0), data(5, 0, 0)),
			"th dport & 0xff00 0x0007"},
		"xor": {"bitwise", slices.Concat(big(1, 1), big(2, 1), data(4, 0xff, 0xff), data(5, 0, 3)),
			"[bitwise] 0x0007"},
		"shift":        {"bitwise", slices.Concat(big(1, 1), big(2, 1), big(6, 1), data(7, 2)), "[bitwise] 0x0007"},
		"another":      {"bitwise", slices.Concat(big(1, 1), big(2, 2), data(4, 0xff, 0), data(5, 0, 0)), "th dport 7"},
		"a value":      {"immediate", slices.Concat(big(1, 1), data(2, 0, 7)), "[immediate] [immediate] 0x0007"},
		"no result":    {"counter", nil, "counter th dport 7"},
		"not known":    {"later", big(1, 1), "[later] [?] 0x0007"},
		"the hop":      {"rt", slices.Concat(big(1, 1), big(2, 1)), "[rt] 0x0007"},
		"another hop":  {"rt", slices.Concat(big(1, 2), big(2, 1)), "th dport 7"},
		"of a network": {"byteorder", slices.Concat(big(1, 1), big(2, 1)), "th dport 7"},
	} {
		text := nftText{family: 2}
		text.add("payload", slices.Concat(big(1, 1), big(2, 2), big(3, 2), big(4, 2)))
		text.add(test.expression, test.data)
		text.add("cmp", slices.Concat(big(1, 1), big(2, 0), data(3, 0, 7)))
		if got := text.String(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// FuzzNftRule: any bytes are read within their bounds, and make a text of a bounded length that
// does not act on a terminal.
func FuzzNftRule(f *testing.F) {
	expression := func(name string, data []byte) []byte {
		return appendAttribute(nil, 1, append(appendText(nil, 1, name), appendAttribute(nil, 2, data)...))
	}
	big := func(kind uint16, value byte) []byte { return appendAttribute(nil, kind, []byte{0, 0, 0, value}) }
	payload := expression("payload", slices.Concat(big(1, 1), big(2, 1), big(3, 12), big(4, 4)))
	cmp := expression("cmp", slices.Concat(big(1, 1), big(2, 0),
		appendAttribute(nil, 3, appendAttribute(nil, 1, []byte{192, 0, 2, 1}))))
	f.Add(byte(2), appendAttribute(appendText(nil, 1, "filter"), 4, append(payload, cmp...)))
	f.Add(byte(1), appendAttribute(nil, 4, expression("bitwise", big(1, 1))))
	f.Fuzz(func(t *testing.T, family byte, b []byte) {
		r := nftRule(family, b)
		if len([]rune(r.Text)) > longestNftText || strings.ContainsAny(r.Text+r.Table+r.Chain, "\x1b\n\x00") {
			t.Errorf("%+v", r)
		}
	})
}
