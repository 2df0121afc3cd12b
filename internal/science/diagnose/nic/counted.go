package nic

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// eachCounters returns a rule's Find that calls find with the growth of each interface's counters.
func eachCounters(find func(*facts.Host,
	netstate.InterfaceCounters) *record.Finding) func(facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		for _, h := range f.Hosts {
			for _, c := range h.Counted {
				if finding := find(h, c); finding != nil {
					findings = append(findings, *finding)
				}
			}
		}
		return findings
	}
}

// countedOn returns a finding about a counter of an interface that grew by n. of is the number of
// packets counted meanwhile.
func countedOn[A any](c cause.Of[A], args A, h *facts.Host, confidence, name, counter string, n, of uint64) (
	f *record.Finding) {
	row := h.Counter(counter, int64(n))
	row.Interface, row.Packets = name, of
	f = facts.Found(c, h, confidence, args).With(h.Name, row).At(h.Devices(name)...)
	f.About.Interface = name
	return f
}

// tunnel returns the kind of a tunnel interface as an argument of causes; zero: it is no tunnel.
func tunnel(h *facts.Host, name string) cause.Tunnel {
	kind := h.Tunnel(name)
	return cause.Tunnel{Kind: kind, IPsec: slices.Contains(ipsec, kind)}
}

func interfaceErrors(h *facts.Host, c netstate.InterfaceCounters) *record.Finding {
	if of := tunnel(h, c.Interface); c.RxErrors > 0 && of.Kind != "" {
		return countedOn(cause.InterfaceErrors, of, h, record.Likely, c.Interface, "rx_errors", c.RxErrors, c.RxPackets)
	}
	counter, n := facts.Damaged(c)
	if n == 0 {
		return nil
	}
	f := countedOn(cause.InterfaceErrors, cause.Tunnel{}, h, record.Certain, c.Interface, counter, n, c.RxPackets)
	if counter == "rx_errors" && c.RxCRC > 0 {
		f.With(h.Name, fact.WrongChecks{Interface: c.Interface, Frames: c.RxCRC})
	}
	return f
}

func framesTooLong(h *facts.Host, c netstate.InterfaceCounters) *record.Finding {
	if c.RxLength == 0 || h.Tunnel(c.Interface) != "" {
		return nil
	}
	return countedOn(cause.FramesTooLong, cause.None{}, h, record.Certain, c.Interface, "rx_length_errors", c.RxLength,
		c.RxPackets)
}

// often reports whether n packets are enough for a finding: at least 10, and 0.01 % of all.
func often(n, of uint64) bool { return n >= 10 && float64(n) >= 1e-4*float64(of) }

// rxDropped is about rx_dropped, which has several causes (net/core/dev.c): frames longer than the
// MTU of a veth or tap, for which the kernel gives no reason; frames of a VLAN or protocol without
// a handler; and packets for which a CPU's backlog or the driver has no room. A few frames of a
// switch's protocols do no harm. A larger share has another cause, in particular if the kernel was
// traced and gave no reason for any of it.
func rxDropped(h *facts.Host, c netstate.InterfaceCounters) *record.Finding {
	t := facts.Tally{Name: c.Interface, Counter: "rx_dropped"}
	n := c.RxDropped - min(c.RxDropped, h.Benign[t])
	if !often(n, c.RxPackets) {
		return nil
	}
	behind := func(d netstate.KernelDrop) bool { return facts.Harms(d, t) }
	reasons := h.Dropped(behind)
	if h.Boot && len(reasons) == 0 && h.Benign[t] > 0 {
		return nil // what is dropped now without harm was most likely dropped since the boot as well
	}
	confidence, args := record.Possible, cause.Unreceived{Known: cause.Many}
	share := float64(n) / float64(n+c.RxPackets) // a veth counts as received what it does not drop
	switch {
	case len(reasons) > 0:
		confidence, args.Known = record.Likely, cause.Reason
	case share < 0.01:
		args.Known = cause.Few
	case h.State.KernelDrops != nil && h.State.KernelDrops.Lost == 0 && !h.Boot:
		confidence, args.Known = record.Likely, cause.NoReason
	}
	if args.Known == cause.NoReason || args.Known == cause.Many {
		i, _ := h.Snapshot(c.Interface)
		args.MTU = max(i.MTU, 0)
	}
	f := countedOn(cause.RxDropped, args, h, confidence, c.Interface, "rx_dropped", n, c.RxPackets).
		With(h.Name, reasons...)
	var named []string
	for _, d := range h.Traced {
		if behind(d) && len(named) < 4 && !slices.Contains(named, d.Reason) {
			named = append(named, d.Reason)
			f.Fixed(record.Advice(h.Name, hint.DropReason{Reason: d.Reason}))
		}
	}
	return f
}

func txDropped(h *facts.Host, c netstate.InterfaceCounters) *record.Finding {
	if !often(c.TxDropped, c.TxPackets) {
		return nil
	}
	t := facts.Tally{Name: c.Interface, Counter: "tx_dropped"}
	return countedOn(cause.TxDropped, cause.None{}, h, record.Likely, c.Interface, t.Counter, c.TxDropped, c.TxPackets).
		With(h.Name, h.Dropped(func(d netstate.KernelDrop) bool { return facts.Harms(d, t) })...)
}

func txCarrier(h *facts.Host, c netstate.InterfaceCounters) *record.Finding {
	if c.TxCarrier == 0 {
		return nil
	}
	return countedOn(cause.TxCarrier, tunnel(h, c.Interface), h, record.Likely, c.Interface, "tx_carrier_errors",
		c.TxCarrier, c.TxPackets)
}

func collisions(h *facts.Host, c netstate.InterfaceCounters) *record.Finding {
	if c.Collisions == 0 {
		return nil
	}
	f := countedOn(cause.Collisions, tunnel(h, c.Interface), h, record.Likely, c.Interface, "collisions",
		c.Collisions, c.TxPackets)
	if c.LateCollisions > 0 {
		f.With(h.Name, fact.LateCollisions{Interface: c.Interface, Frames: c.LateCollisions})
	}
	return f
}

func otherHostFrames(h *facts.Host, c netstate.InterfaceCounters) *record.Finding {
	if c.RxOtherhost < 100 || float64(c.RxOtherhost) < 0.1*float64(c.RxPackets) {
		return nil
	}
	f := countedOn(cause.OtherHostFrames, cause.None{}, h, record.Likely, c.Interface, "rx_otherhost_dropped",
		c.RxOtherhost, c.RxPackets)
	f.Touches = nil // of which addresses they are is not known
	return f
}

func standbyTraffic(h *facts.Host, c netstate.InterfaceCounters) *record.Finding {
	if c.RxNoHandler < 100 || float64(c.RxNoHandler) < 0.01*float64(c.RxPackets) {
		return nil
	}
	return countedOn(cause.StandbyTraffic, cause.None{}, h, record.Possible, c.Interface, "rx_nohandler", c.RxNoHandler,
		c.RxPackets)
}

// CounterRules are about counters of interfaces.
var CounterRules = []rule.Rule{
	{ID: cause.InterfaceErrors.Code, Host: true, Growth: true, Parts: []string{facts.Counters("rx_errors")},
		Find:     eachCounters(interfaceErrors),
		Explains: []string{"tcp-retransmissions", "reassembly-failed"}},
	{ID: cause.FramesTooLong.Code, Host: true, Growth: true, Parts: []string{facts.Counters("rx_length_errors")},
		Find:     eachCounters(framesTooLong),
		Explains: []string{"interface-errors", "rx-dropped", "tcp-retransmissions"}},
	{ID: cause.RxDropped.Code, Host: true, Growth: true, Parts: []string{facts.Counters("rx_dropped")},
		Find:     eachCounters(rxDropped),
		Explains: []string{"tcp-retransmissions"}},
	{ID: cause.TxDropped.Code, Host: true, Load: true, Growth: true, Parts: []string{facts.Counters("tx_dropped")},
		Find:     eachCounters(txDropped),
		Explains: []string{"tcp-retransmissions", "ip-discards", "udp-send-buffer", "retransmission-refused"}},
	{ID: cause.TxCarrier.Code, Host: true, Growth: true, Parts: []string{facts.Counters("tx_carrier_errors")},
		Find: eachCounters(txCarrier)},
	{ID: cause.Collisions.Code, Host: true, Growth: true, Parts: []string{facts.Counters("collisions")},
		Find: eachCounters(collisions)},
	{ID: cause.OtherHostFrames.Code, Host: true, Growth: true, Parts: []string{facts.Counters("rx_otherhost_dropped")},
		Find: eachCounters(otherHostFrames)},
	{ID: cause.StandbyTraffic.Code, Host: true, Growth: true, Parts: []string{facts.Counters("rx_nohandler")},
		Find: eachCounters(standbyTraffic)},
}

// ipsec are the kinds of tunnels whose packets need an IPsec state (net/ipv4/ip_vti.c,
// net/xfrm/xfrm_interface_core.c).
var ipsec = []string{"vti", "vti6", "xfrm"}
