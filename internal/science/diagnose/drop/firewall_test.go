package drop_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// rule7 is a rule of nftables that drops what is to a port, with a counter.
func rule7(before, packets uint64) *netstate.Nftables {
	n := &netstate.Nftables{Rules: []netstate.NftRule{{Family: "inet", Table: "filter", Chain: "input", Hook: "input",
		Handle: 7, Text: "udp dport 9 counter drop", Verdict: "drop", Counted: true, Packets: packets}}}
	was := *n
	was.Rules = slices.Clone(n.Rules)
	was.Rules[0].Packets = before
	n.Since(&was, 3)
	return n
}

// TestFirewallDrop: a rule that drops is found where its counter grew, by table, chain, handle
// and text, and is the place of what was dropped.
func TestFirewallDrop(t *testing.T) {
	traced := func(n int64) *netstate.KernelDrops {
		return &netstate.KernelDrops{
			Rows: []netstate.KernelDrop{{Reason: "NETFILTER_DROP", Interface: "eth0", Direction: "rx",
				Protocol: "IPv4 UDP", Place: "nf_hook_slow", Packets: n}}}
	}
	for name, test := range map[string]struct {
		change func(*netstate.HostSnapshot)
		want   string // confidence; empty: nothing is found
		place  string // in the table of drops
	}{
		"grew": {func(s *netstate.HostSnapshot) {
			s.State.Nftables = rule7(5, 45)
		}, record.Likely, "inet filter input handle 7"},
		"traced as well": {func(s *netstate.HostSnapshot) {
			s.State.Nftables, s.State.KernelDrops = rule7(5, 45), traced(40)
		}, record.Likely, "eth0 NETFILTER_DROP inet filter input handle 7"},
		"a few": {func(s *netstate.HostSnapshot) {
			s.State.Nftables = rule7(0, 9)
		}, record.Possible, "inet filter input handle 7"},
		"few of what came": {func(s *netstate.HostSnapshot) {
			s.State.Nftables, s.Reading.End.Interfaces[0].RxPackets = rule7(0, 40), 100_000
		}, record.Possible, "inet filter input handle 7"},
		"does not drop": {func(s *netstate.HostSnapshot) {
			s.State.Nftables = rule7(5, 45)
			s.State.Nftables.Rules[0].Verdict = "accept"
		}, "", ""},
		"its counter fell": {func(s *netstate.HostSnapshot) { s.State.Nftables = rule7(45, 0) }, "", ""},
		"before the reading": {func(s *netstate.HostSnapshot) {
			s.State.Nftables = rule7(45, 45)
		}, record.Possible, "inet filter input handle 7"},
		"a policy": {func(s *netstate.HostSnapshot) {
			s.State.Nftables = rule7(5, 45)
			s.State.Nftables.Rules[0].Handle, s.State.Nftables.Rules[0].Text = 0, "policy drop"
		}, record.Likely, "inet filter input policy"},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		test.change(&s)
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == "firewall-drop" })
		if i < 0 {
			if test.want != "" {
				t.Errorf("%s: found %+v", name, e.Findings)
			}
			continue
		}
		f := e.Findings[i]
		if f.Confidence != test.want || f.ExplainedBy != "" ||
			f.Args != ruleArgs(s.State.Nftables.Rules[0]) ||
			!strings.Contains(diagnosetest.Facts(f), s.State.Nftables.Rules[0].Text) ||
			f.Boot != (name == "before the reading") {
			t.Errorf("%s: %+v", name, f)
		}
		for _, other := range e.Findings {
			if other.ID == "netfilter-drop" && other.ExplainedBy != "firewall-drop" {
				t.Errorf("%s: %+v", name, other)
			}
		}
		if !slices.ContainsFunc(e.Drops, func(d record.Drop) bool {
			return test.place == strings.Join(strings.Fields(d.Where+" "+d.Counter+" "+d.Place), " ")
		}) {
			t.Errorf("%s: drops %+v", name, e.Drops)
		}
		for _, d := range e.Drops { // the same packets are listed once
			if d.By == "" && d.Again != (name == "traced as well") {
				t.Errorf("%s: %+v", name, d)
			}
		}
	}

	s := diagnosetest.HostNamed("nas", 15)
	s.State.Nftables, s.State.KernelDrops = rule7(0, 0), traced(40)
	s.State.Nftables.Rules[0].Counted = false
	e := diagnose.Hosts([]netstate.HostSnapshot{s})
	if len(e.Findings) != 1 || e.Findings[0].ID != "netfilter-drop" ||
		!slices.ContainsFunc(e.Findings[0].Facts, func(one fact.Fact) bool {
			is, has := one.Is.(fact.FirewallRule)
			return has && is.Place == "inet filter input handle 7" && !is.Counted
		}) {
		t.Errorf("without a counter: %+v", e.Findings)
	}
}

func ruleArgs(r netstate.NftRule) cause.FirewallRule {
	return cause.FirewallRule{Family: r.Family, Table: r.Table, Chain: r.Chain, Handle: r.Handle}
}

// TestFirewallBounds: sets and quotas are found when they are full.
func TestFirewallBounds(t *testing.T) {
	for want, n := range map[string]netstate.Nftables{
		"": {Sets: []netstate.NftSet{{Size: 100, Elements: 89}},
			Objects: []netstate.NftObject{{Kind: "quota", Quota: 10, Bytes: 9}, {Kind: "counter", Bytes: 100}}},
		"nft-set-full": {Sets: []netstate.NftSet{{Family: "ip", Table: "t", Name: "s", Size: 100, Elements: 90}}},
		"nft-quota-used": {Objects: []netstate.NftObject{{Family: "ip", Table: "t", Name: "q", Kind: "quota", Quota: 10,
			Bytes: 10}}},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.State.Nftables = &n
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		if want == "" && len(e.Findings) > 0 || want != "" && (len(e.Findings) != 1 || e.Findings[0].ID != want) {
			t.Errorf("%s: %+v", want, e.Findings)
		}
	}
}
