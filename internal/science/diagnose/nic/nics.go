package nic

import (
	"slices"

	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// TunedRules are about settings of NICs that may be unsuitable.
var TunedRules = []rule.Rule{
	{ID: cause.RingSmall.Code, Host: true, Growth: true,
		Parts: []string{"rings", "hardware", facts.Counters(facts.Missed)}, Find: rule.EachNIC(ringSmall),
		Explains: []string{"ring-overrun", "ring-empty"}},
	{ID: cause.InterruptsDelayed.Code, Host: true, Parts: []string{"coalescing", "hardware"},
		Find: rule.EachNIC(interruptsDelayed)},
	{ID: cause.LROWhileForwarding.Code, Host: true, Parts: []string{"rx-lro", "hardware",
		facts.Parameters("net.ipv4.ip_forward")},
		Find: rule.EachNIC(lroForwarding)},
	{ID: cause.WirelessWeak.Code, Host: true, If: hasWiFi, Parts: []string{facts.WiFi},
		Find: rule.EachNIC(wirelessWeak)},
	{ID: cause.Wireless.Code, Host: true, Parts: []string{"wireless", "addresses"}, Find: rule.EachNIC(wireless)},
	{ID: cause.TransmitQueueShort.Code, Host: true, Parts: []string{"queue lengths", "hardware"},
		Find:     rule.EachNIC(queueShort),
		Explains: []string{"qdisc-drop"}},
}

// found returns a finding about an interface with one fact as evidence.
func found[A any](c cause.Of[A], p facts.Port, confidence string, args A, is any) *record.Finding {
	return facts.FoundOn(c, p, confidence, args).With(p.Host.Name, is)
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
	return found(cause.RingSmall, p, record.Likely, cause.None{}, fact.ShortRing{Interface: p.Interface.Interface,
		Descriptors: r.Rx, Most: r.MostRx, Missed: n, Time: p.Host.Time()}).Fixed(record.Step{Host: p.Host.Name,
		Command: []string{"ethtool", "-G", p.Interface.Interface, "rx", fmt.Sprint(min(r.MostRx, 4096))}})
}

func interruptsDelayed(p facts.Port) *record.Finding {
	const long = 200 // µs
	c := p.NIC.Coalesce
	if c == nil || c.RxUs < long || c.AdaptRx || !p.Hardware() {
		return nil
	}
	return found(cause.InterruptsDelayed, p, record.Possible, cause.Delay{Us: c.RxUs},
		fact.Coalescing{Interface: p.Interface.Interface, RxUs: c.RxUs, RxFrames: c.RxFrames})
}

func lroForwarding(p facts.Port) *record.Finding {
	if !p.NIC.Features["rx-lro"] || p.Host.Number("net.ipv4.ip_forward", 0) != 1 || !p.Hardware() {
		return nil
	}
	return found(cause.LROWhileForwarding, p, record.Likely, cause.None{},
		fact.LROForwarding{Interface: p.Interface.Interface})
}

func wireless(p facts.Port) *record.Finding {
	if !p.NIC.Wireless || len(p.Interface.Addresses) == 0 || !p.Interface.Up {
		return nil
	}
	return found(cause.Wireless, p, record.Possible, cause.None{}, fact.Wireless{Interface: p.Interface.Interface})
}

func hasWiFi(h *facts.Host) bool {
	return slices.ContainsFunc(h.State.NICs, func(n netstate.NIC) bool { return n.WiFi != nil })
}

// wirelessWeak goes by the signal and by the frames that were sent again. Drivers count retries for each frame that is
// sent, of which several may be of one packet. A low bitrate alone may be that of an idle link.
func wirelessWeak(p facts.Port) *record.Finding {
	const weakDBm, lowMbps, few = -75, 30, 1000
	w := p.NIC.WiFi
	if w == nil {
		return nil
	}
	weak := w.SignalDBm < 0 && w.SignalDBm <= weakDBm
	again := w.TxPackets >= few && 2*w.TxRetries >= w.TxPackets || w.TxPackets >= few && 50*w.TxFailed >= w.TxPackets
	slow := w.TxMbps > 0 && w.TxMbps < lowMbps || w.RxMbps > 0 && w.RxMbps < lowMbps
	confidence := record.Possible
	switch {
	case weak && slow, again:
		confidence = record.Likely
	case !weak && !slow:
		return nil
	}
	return found(cause.WirelessWeak, p, confidence, cause.None{}, fact.WirelessLink{Interface: p.Interface.Interface,
		SignalDBm: w.SignalDBm, RxMbps: w.RxMbps, TxMbps: w.TxMbps, TxPackets: w.TxPackets, TxRetries: w.TxRetries,
		TxFailed: w.TxFailed, FrequencyMHz: w.FrequencyMHz})
}

func queueShort(p facts.Port) *record.Finding {
	const few = 100
	n := p.NIC.TxQueueLen
	if n <= 0 || n >= few || p.NIC.SpeedMbps < 1000 || !p.Hardware() {
		return nil
	}
	return found(cause.TransmitQueueShort, p, record.Possible, cause.None{},
		fact.TransmitQueue{Interface: p.Interface.Interface, Packets: n})
}
