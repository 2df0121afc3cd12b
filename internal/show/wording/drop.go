package wording

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// dropReasons is the reference that explains the kernel's reasons for drops.
const dropReasons = "Linux include/net/dropreason-core.h"

// filters adds the text of a cause that is a filter which drops packets.
func filters(c cause.Of[cause.Direction], by, reasons, reference, fix string) {
	say(c, words[cause.Direction]{
		summary: func(f record.Finding, a cause.Direction) string {
			of := map[string]string{"rx": "that arrive by ", "tx": "that are to leave by ", "": "of "}[a.Direction]
			return by + " drops packets " + of + cmp.Or(f.About.Interface, "this host")
		},
		fix:  []string{fix},
		read: reference + "; " + dropReasons,
		found: "The kernel dropped packets of an interface by " + by + " (" + reasons +
			"); likely from ten on that are to be sent, or that are at least a hundredth of those received.",
	})
}

var _ = later(func() {
	filters(cause.NetfilterDrop, "a firewall rule (netfilter)", "NETFILTER_DROP", "nft(8); iptables(8)",
		"nft list ruleset, or iptables-save -c and ip6tables-save -c: a rule with a counter, or with log, shows "+
			"which one; accept what is to pass before it")
	filters(cause.TCDrop, "a tc filter",
		"TC_INGRESS, TC_EGRESS, TC_COOKIE_ERROR, TC_CHAIN_NOTFOUND, TC_RECLASSIFY_LOOP", "tc(8)",
		"tc -s filter show dev DEV ingress, and egress or parent of its qdisc: change the filter that drops, or "+
			"remove it")
	say(cause.FirewallDrop, words[cause.FirewallRule]{
		summary: func(_ record.Finding, a cause.FirewallRule) string {
			return "a firewall rule drops packets: " + ruleOf(a).Place()
		},
		fixed: func(_ record.Finding, a cause.FirewallRule) []string {
			chain := fmt.Sprintf("%s %s %s", a.Family, a.Table, a.Chain)
			list, remove := "nft -a list chain "+chain, "nft delete rule "+ruleOf(a).Place()
			switch {
			case a.Tool != "":
				of := a.Tool + " -t " + a.Table
				list = fmt.Sprintf("%s -nvL %s --line-numbers", of, a.Chain)
				remove = fmt.Sprintf("%s -D %s NUMBER", of, a.Chain)
				if a.Number != 0 {
					remove = fmt.Sprintf("%s -D %s %d", of, a.Chain, a.Number)
				} else if a.Text == "" {
					remove = fmt.Sprintf("%s -P %s ACCEPT", of, a.Chain)
				}
			case a.Handle == 0 && a.Text == "":
				remove = fmt.Sprintf("nft chain %s '{ policy accept; }'", chain)
			case a.Handle == 0:
				remove = fmt.Sprintf("nft delete rule %s handle HANDLE", chain)
			}
			return []string{fmt.Sprintf("%s; accept what is to pass before it, or: %s", list, remove)}
		},
		readFor: func(a cause.FirewallRule) string { return cmp.Or(a.Tool, "nft") + "(8)" },
		found: "The counter of a rule of nftables that drops or rejects grew, or that of a chain whose policy " +
			"does; likely from ten packets on that are to be sent, or that are at least a hundredth of those received.",
	})
	say(cause.NftSetFull, words[cause.FirewallObject]{
		summary: func(_ record.Finding, a cause.FirewallObject) string {
			return "a set of the firewall is nearly full: " + a.String()
		},
		fixed: func(_ record.Finding, a cause.FirewallObject) []string {
			return []string{fmt.Sprintf("nft list set %s; a larger size, or a timeout of its elements", a)}
		},
		read: "nft(8), SETS",
		found: "A set of nftables has at least 90 % of the elements that it may have: rules that add to it do " +
			"nothing more.",
	})
	say(cause.NftQuotaUsed, words[cause.FirewallObject]{
		summary: func(_ record.Finding, a cause.FirewallObject) string {
			return "a quota of the firewall is used up: " + a.String()
		},
		fixed: func(_ record.Finding, a cause.FirewallObject) []string {
			return []string{fmt.Sprintf("nft list quota %s; nft reset quota %[1]s begins it anew", a)}
		},
		read:  "nft(8), QUOTA",
		found: "A named quota of nftables is used up: rules that refer to it match, or do no longer.",
	})
	say(cause.QdiscDrop, words[cause.Qdisc]{
		summary: func(f record.Finding, a cause.Qdisc) string {
			return fmt.Sprintf("the queue of %s (%s) drops packets", f.About.Interface, a.Kind)
		},
		fix: []string{"a full link drops by design: then none; otherwise a longer queue (limit) or a higher " +
			"rate of the shaper: tc -s qdisc show dev DEV"},
		readFor: func(a cause.Qdisc) string { return "tc(8); tc-" + a.Kind + "(8)" },
		found: "A queueing discipline other than ingress and clsact dropped packets, at least one in 100,000; " +
			"certain from ten on.",
	})
	say(cause.Shaped, words[cause.Qdisc]{
		summary: func(f record.Finding, a cause.Qdisc) string {
			return fmt.Sprintf("a shaper (%s) limits what %s sends; its queue drops packets so that TCP keeps to "+
				"that rate",
				a.Kind, f.About.Interface)
		},
		fix: []string{"none if the rate is intended, such as slightly below an uplink's; to raise it: tc qdisc " +
			"change dev DEV root cake bandwidth RATE, or of htb tc class change (tc class show dev DEV has the class)"},
		readFor: func(a cause.Qdisc) string { return "tc-" + a.Kind + "(8); RFC 7567" },
		found: "A shaper (cake, htb, hfsc, tbf) delayed packets; all drops were made by active queue management " +
			"(cake, codel, fq_codel, pie, red, …), at most 5 % of the packets.",
	})

	spell(func(_ string, d fact.Dropped) string {
		text := strings.Join(strings.Fields(fmt.Sprintf("%s %s: %d %s packets", cmp.Or(d.Interface, "no interface"),
			d.Direction, d.Packets, d.Protocol)), " ")
		// also of counters since the boot: it is traced between the readings
		text += " dropped in " + unit.FormatSeconds(d.OverS) + " for " + d.Reason
		if d.Place != "" {
			text += " in " + d.Place
		}
		return strings.Replace(text, " :", ":", 1)
	})
	spell(func(_ string, q fact.Qdisc) string {
		rate := ""
		if q.RateBps > 0 {
			rate = ", " + unit.FormatRate(q.RateBps)
		}
		return fmt.Sprintf("%s %s on %s%s: %d dropped%s, %d sent, %d over the limit; %s wait now", q.Kind, q.Handle,
			q.Interface, rate, q.Dropped, within(q.OverS, q.Boot), q.Sent, q.OverLimit,
			unit.FormatBytes(float64(q.WaitingBytes)))
	})
	spell(func(_ string, r fact.FirewallRule) string {
		if !r.Counted {
			return fmt.Sprintf("perhaps by %s, which has no counter: %s", r.Place, r.Text)
		}
		return r.Place + ": " + r.Text
	})
	spell(func(_ string, c fact.RuleCounter) string {
		return fmt.Sprintf("its counter grew by %d packets%s", c.Packets, within(c.OverS, c.Boot))
	})
	spell(func(_ string, s fact.FirewallSet) string {
		return fmt.Sprintf("%s: %d of %d elements", s.Name, s.Elements, s.Size)
	})
	spell(func(_ string, q fact.FirewallQuota) string {
		return fmt.Sprintf("%s: %d of %d bytes", q.Name, q.Bytes, q.Quota)
	})
	spell(func(_ string, c fact.Cable) string {
		return fmt.Sprintf("%s is connected to %s (LLDP)", c.Interface, c.Place)
	})
})

func ruleOf(a cause.FirewallRule) netstate.NftRule {
	return netstate.NftRule{Family: a.Family, Table: a.Table, Chain: a.Chain, Handle: a.Handle, Number: a.Number,
		Text: a.Text}
}

// Drops fills in the text of the rows of a drop table, in place, and returns the rows. Rows that
// have text keep it.
func Drops(list []record.Drop) []record.Drop {
	for i, d := range list {
		if d.Why != "" { // of an earlier version
			continue
		}
		if list[i].Why = why(d); d.MoreRules > 0 {
			list[i].Place += fmt.Sprintf(" and %d more rules", d.MoreRules)
		}
	}
	return list
}

// why returns why packets were dropped.
func why(d record.Drop) string {
	switch {
	case d.Kind == record.DropFilter:
		return fmt.Sprintf("a tc filter drops: tc -s filter show dev %s ingress, and egress", d.Named)
	case d.Kind == record.DropRule:
		return "a firewall rule: " + d.Named
	case d.Kind == record.DropOtherAddress && d.Named != "":
		return fmt.Sprintf("for another MAC address: answers of %s, if it or the router has a wrong neighbour "+
			"entry for this host, or flooded by a switch", d.Named)
	case d.Kind != "":
		return cmp.Or(kinds[d.Kind], d.Kind)
	case d.Cause == "":
		return meaning(d.Counter)
	}
	of, _ := causes.of(d.Cause)
	switch text := of.summary(record.Finding{}); {
	case d.Apart == nil:
		return text
	case d.Apart.All:
		return apart[d.Apart.Cause]
	default:
		return fmt.Sprintf("%s; up to %d: %s", text, d.Apart.Packets, apart[d.Apart.Cause])
	}
}

// kinds has the text for the kinds of drops.
var kinds = map[string]string{
	record.DropRing:         "the receive ring was full",
	record.DropDamaged:      "damaged or too long",
	record.DropRefused:      "refused by the tunnel",
	record.DropOtherAddress: "for other MAC addresses",
	record.DropStandby:      "on a standby member",
	record.DropUnhandled:    "larger than the MTU, of a VLAN or protocol that nothing handles, or for want of room",
	record.DropUnsent:       "not sent",
	record.DropQueue:        "the queue was full, or longer than its target",
	record.DropShaped:       "by a shaper's queue, so that TCP keeps to the rate",
	record.DropBacklog:      backlogFull,
	record.DropSharedBacklog: backlogFull +
		"; most packets that the CPUs took came by no interface of this host, but in other network namespaces or " +
		"by the loopback",
	record.DropReversePath: "the strict reverse-path filter",
}

const backlogFull = "the CPU's backlog was full"
