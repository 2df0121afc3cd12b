package nic

import (
	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// ForeignRules are about NICs of the BSDs.
var ForeignRules = []rule.Rule{
	{ID: cause.RingStalled.Code, Host: true, If: rule.OtherSystem, Parts: []string{facts.RingStates},
		Find: rule.EachInterface(ringStalled), Explains: []string{"tx-dropped"}},
	{ID: cause.InterruptsOfOneQueue.Code, Host: true, If: rule.OtherSystem, Parts: []string{facts.InterruptCounts},
		Find: rule.EachInterface(interruptsOfOneQueue)},
}

// ringStalled is about a transmit ring that is full and of which the NIC completes nothing (sys/net/mp_ring.c).
func ringStalled(p facts.Port) *record.Finding {
	if len(p.NIC.Stalled) == 0 {
		return nil
	}
	f := facts.FoundOn(cause.RingStalled, p, record.Likely, cause.None{})
	for _, ring := range p.NIC.Stalled {
		f.With(p.Host.Name, fact.StalledRing{Interface: p.Interface.Interface, Ring: ring})
	}
	return f
}

// Since the boot, a NIC of several queues has this share of its interrupts from one, and at least so many.
const mostOfOne, leastInterrupts = 0.9, 100_000

func interruptsOfOneQueue(p facts.Port) *record.Finding {
	if p.Host.System == "" || len(p.NIC.IRQs) < 2 {
		return nil
	}
	is, all := fact.QueueInterrupts{Interface: p.Interface.Interface, Queues: len(p.NIC.IRQs)}, int64(0)
	for _, i := range p.NIC.IRQs {
		all += i.Count
		if i.Count > is.Count {
			is.Queue, is.Count = i.Name, i.Count
		}
	}
	if is.Of = all; all < leastInterrupts || float64(is.Count) < mostOfOne*float64(all) {
		return nil
	}
	return facts.FoundOn(cause.InterruptsOfOneQueue, p, record.Possible, cause.None{}).With(p.Host.Name, is)
}
