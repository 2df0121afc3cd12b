package wording

import (
	"cmp"
	"fmt"

	"linerate/internal/model/fact"
	"linerate/internal/model/unit"
)

// Text for what hosts and their queues held back or lost.
var _ = later(func() {
	spell(func(_ string, b fact.Backpressure) string {
		kind := cmp.Or(b.Kind, "a queue")
		text := "backpressure of the interface's queue: "
		if b.Drops > 0 {
			return text + fmt.Sprintf("%s of %s dropped %.0f packets before they were sent", kind, b.Interface, b.Drops)
		}
		return text + fmt.Sprintf("packets waited in %s of %s at %s of the readings, and %s left it", kind, b.Interface,
			unit.FormatPercent(b.Share), unit.FormatRate(b.Bps))
	})
	spell(func(_ string, d fact.DroppedThere) string {
		return fmt.Sprintf("%.0f packets were dropped there", d.Packets)
	})
	spell(func(_ string, s fact.SocketFull) string {
		text := fmt.Sprintf("its socket's buffer was full %s of the time", unit.FormatPercent(s.Share))
		if s.ByInterface {
			text += ": the interface took the datagrams no sooner"
		}
		return text
	})
	spell(func(string, fact.NotInTime) string { return "its program did not run in time" })
	spell(func(_ string, g fact.GivenUp) string {
		return fmt.Sprintf("%s of the datagrams were not sent, as they were %s late", unit.FormatPercent(g.Share),
			unit.FormatSeconds(g.LateS))
	})
	spell(func(host string, d fact.DatagramsLost) string {
		text := unit.FormatPercent(d.Share) + " of the datagrams were lost"
		if d.At != nil {
			text += ": " + lostAt(host, *d.At)
		}
		return text
	})
	spell(func(host string, t fact.ThreadCPU) string {
		return fmt.Sprintf("moving its bytes took %s of a processor of %s", unit.FormatPercent(t.Share), host)
	})
	spell(func(_ string, c fact.CPUsBusy) string {
		return fmt.Sprintf("%s, and moving bytes took %s of one", cpuLoad(c.Load), unit.FormatPercent(c.Moving))
	})
	spell(func(host string, c fact.CPUBusy) string {
		return fmt.Sprintf("CPU %d of %s was %s busy, %s with interrupts and softirqs", c.CPU, host,
			unit.FormatPercent(c.Busy), unit.FormatPercent(c.Kernel))
	})
	spell(lostAt)
})

func lostAt(host string, l fact.LostAt) string {
	text := lostBy(host, l, unit.FormatCount(l.Packets))
	if l.Several {
		text += ", of one or more datagrams each"
	}
	if l.Backlog > 0 {
		text += fmt.Sprintf(", or in the CPUs' queues of received packets, which dropped %s, mostly of other network "+
			"namespaces (softnet_stat)", unit.FormatCount(l.Backlog))
	}
	return text
}

func lostBy(host string, l fact.LostAt, packets string) string {
	sent, received := unit.FormatBytes(l.Sent), unit.FormatBytes(l.Received)
	switch l.By {
	case fact.LostInQdisc:
		return fmt.Sprintf("%s of %s dropped %s packets", l.Kind, l.At, packets)
	case fact.LostSending:
		return fmt.Sprintf("%s dropped %s packets that it was to send", l.At, packets)
	case fact.LostReceiving:
		return fmt.Sprintf("%s dropped %s packets that arrived", l.At, packets)
	case fact.LostInBacklog:
		return fmt.Sprintf("the CPUs' queues of received packets of %s dropped %s (softnet_stat)", l.At, packets)
	case fact.LostInFragments:
		return fmt.Sprintf("%s dropped %s fragments instead of reassembling them, as its memory for fragments was "+
			"full (Ip.ReasmFails; net.ipv4.ipfrag_high_thresh)", l.At, packets)
	case fact.LostInSocket:
		return fmt.Sprintf("up to %s of them in the receiving socket's buffer", packets)
	case fact.LostCarrier:
		return Fact(fact.Fact{Host: host, Is: *l.Carrier}) +
			", and without it an interface drops what it is to send: no counter has them"
	case fact.LostBefore:
		return fmt.Sprintf("on %s, before %s, which sent %s of the %s or more of its flows: no counter that was read "+
			"has them (on %[1]s: nft list ruleset, tc -s filter show dev %[5]s)", l.At, l.From, sent,
			unit.FormatBytes(l.Handed), l.Device)
	case fact.LostBetween:
		return fmt.Sprintf("between %s and %s: neither counts them as dropped", l.From, l.To)
	case fact.LostNeedless:
		return fmt.Sprintf("%s received %s of the %s that %s sent, so the rest may have been needless, too: an "+
			"acknowledgement reports one range that arrived twice (D-SACK, RFC 2883)", l.To, received, sent, l.From)
	case fact.LostBehind:
		return fmt.Sprintf("on %s, behind %s, which received %s of the %s that %s sent: no counter that was read has "+
			"them, and a firewall may drop them (on %[1]s: nft list ruleset, or linerate doctor --over 10s while the "+
			"flow runs)", l.At, l.To, received, sent, l.From)
	}
	return fmt.Sprintf("between %s and %s, or on %s behind it: no counter of drops has them", l.From, l.To, l.At)
}
