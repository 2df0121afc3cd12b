package nic

import (
	"fmt"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about settings of NICs, and about CPUs and memory.
var TunedRules = []rule.Rule{
	{ID: "ring-small", Host: true,
		About:  "A NIC's receive ring has at most 512 descriptors and a quarter of what it can have, and rx_missed_errors grew.",
		Growth: true, Parts: nicParts, Find: rule.EachNIC(ringSmall), SameCause: rule.SameSummary,
		Explains: []string{"ring-overrun", "ring-empty"}},
	{ID: "interrupts-delayed", Host: true,
		About: "A NIC waits 200 µs and longer for more packets before it interrupts, and does not adapt.",
		Parts: nicParts, Find: rule.EachNIC(interruptsDelayed), SameCause: rule.SameSummary},
	{ID: "lro-while-forwarding", Host: true, About: "Large receive offload is on, and the host forwards packets.",
		Parts: []string{"nics", "parameters"}, Find: rule.EachNIC(lroForwarding), SameCause: rule.SameSummary},
	{ID: "wireless", Host: true, About: "An interface with addresses is wireless.", Parts: nicParts,
		Find: rule.EachNIC(wireless), SameCause: rule.SameSummary},
	{ID: "transmit-queue-short", Host: true,
		About: "A NIC of 1 Gbit/s or more has a txqueuelen below 100, without being 0.", Parts: nicParts,
		Find: rule.EachNIC(queueShort), SameCause: rule.SameSummary, Explains: []string{"qdisc-drop"}},
}

func ringSmall(p facts.Port) *record.Finding {
	const few = 512
	r := p.NIC.Rings
	if r == nil || r.Rx <= 0 || r.Rx > few || r.MostRx < 4*r.Rx || !p.Hardware() {
		return nil
	}
	n := max(p.Counted().RxMissed, uint64(p.Grown(facts.Missed))) // the driver's is refreshed first, see missedByDriver
	if n == 0 {
		return nil
	}
	return rule.Found(p, record.Likely, fmt.Sprintf("the receive ring of %s is short, and it has missed packets",
		p.Interface.Interface), said.EthtoolPage,
		[]string{fmt.Sprintf("%s: %d of %d descriptors; %s grew by %d%s", p.Interface.Interface, r.Rx, r.MostRx,
			facts.Missed, n,
			said.Within(p.Host))}, fmt.Sprintf("ethtool -G %s rx %d", p.Interface.Interface, min(r.MostRx, 4096)))
}

func interruptsDelayed(p facts.Port) *record.Finding {
	const long = 200 // µs
	c := p.NIC.Coalesce
	if c == nil || c.RxUs < long || c.AdaptRx || !p.Hardware() {
		return nil
	}
	return rule.Found(p, record.Possible,
		fmt.Sprintf("%s holds each packet back for up to %d µs, so that it interrupts less often",
			p.Interface.Interface,
			c.RxUs), said.EthtoolPage+"; Linux Documentation/networking/napi.rst",
		[]string{fmt.Sprintf("%s: rx-usecs %d, rx-frames %d, adaptive-rx off", p.Interface.Interface, c.RxUs,
			c.RxFrames)},
		"ethtool -C "+p.Interface.Interface+" adaptive-rx on, or rx-usecs 20 for short answers")
}

func lroForwarding(p facts.Port) *record.Finding {
	if !p.NIC.Features["rx-lro"] || p.Host.Number("net.ipv4.ip_forward", 0) != 1 || !p.Hardware() {
		return nil
	}
	return rule.Found(p, record.Likely,
		fmt.Sprintf("%s merges received segments into ones that cannot be forwarded as they were (LRO)",
			p.Interface.Interface),
		"Linux Documentation/networking/segmentation-offloads.rst; ethtool(8)",
		[]string{p.Interface.Interface + ": rx-lro is on; net.ipv4.ip_forward = 1"}, "ethtool -K "+
			p.Interface.Interface+" lro off")
}

func wireless(p facts.Port) *record.Finding {
	if !p.NIC.Wireless || len(p.Interface.Addresses) == 0 || !p.Interface.Up {
		return nil
	}
	return rule.Found(p, record.Possible, fmt.Sprintf("%s is wireless: its rate and delay depend on the air",
		p.Interface.Interface),
		"IEEE 802.11; iw(8)",
		[]string{p.Interface.Interface + " is a wireless interface"}, "a cable for what is to be measured; iw dev "+
			p.Interface.Interface+" link shows signal and rate")
}

func queueShort(p facts.Port) *record.Finding {
	const few = 100
	n := p.NIC.TxQueueLen
	if n <= 0 || n >= few || p.NIC.SpeedMbps < 1000 || !p.Hardware() {
		return nil
	}
	return rule.Found(p, record.Possible,
		fmt.Sprintf("the transmit queue of %s is short: bursts of several programs are dropped", p.Interface.Interface),
		"ip-link(8); tc-pfifo_fast(8)",
		[]string{fmt.Sprintf("%s: txqueuelen %d", p.Interface.Interface, n)}, "ip link set dev "+p.Interface.Interface+
			" txqueuelen 1000, or the qdisc fq")
}
