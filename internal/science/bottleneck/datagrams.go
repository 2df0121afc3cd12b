package bottleneck

import (
	"cmp"

	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// datagrams returns what held a UDP flow back. The sender waits for no acknowledgement: it uses a
// CPU and fills its own link even if most datagrams are lost behind its host, and then the loss
// decides what the flow gets.
func (s scene) datagrams(f record.Flow) (by string, why []fact.Fact) {
	busy, exhausted := s.exhausted(f)
	d := cmp.Or(f.Datagrams, &record.Datagrams{})
	lost := s.lostDatagrams(f)
	_, carried := s.full(f, !lost.behind)
	full, late := share(float64(d.BlockedUs)/1e6, s.WindowS), share(float64(d.Skipped), float64(d.Sent+d.Skipped))
	var back, shaped []fact.Fact
	var held *fact.SocketFull
	if !lost.behind {
		if full >= most {
			held = &fact.SocketFull{Share: full}
		}
		back, shaped = s.backpressure(f), s.shaped(f, held)
	}
	switch {
	case reaches(f, f.RateCapBps) && carried == nil:
		by, why = RateCap, facts(fact.CapShare{Cap: fact.CapRate, Bps: f.RateCapBps,
			Share: f.GoodputBps / f.RateCapBps})
	case carried != nil:
		by, why = FullLink, carried
	case lost.behind && lost.atReceiver && exhausted:
		by, why = Generator, busy
	case lost.inBuffer:
		by = SlowReader
	case lost.behind:
		by = Loss
	case shaped != nil:
		by, why = FullLink, shaped
	case back != nil:
		by, why = InterfaceQueue, back
	case held != nil:
		held.ByInterface = true
		by, why = InterfaceQueue, facts(*held)
	case exhausted:
		by, why = Generator, busy
	case late > 0 && late >= most*(1-share(f.GoodputBps, f.RateCapBps)):
		by, why = Generator, facts(fact.NotInTime{})
	default:
		why = busy
	}
	if why = join(why, lost.facts); late > 0 {
		why = append(why, facts(fact.GivenUp{Share: late, LateS: flow.MaxLate.Seconds()})...)
	}
	return by, why
}
