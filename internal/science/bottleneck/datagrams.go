package bottleneck

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// datagrams names what held a UDP flow back. Its sender waits for no acknowledgement: it takes
// a processor and fills its own link however much of that is lost behind its host, where
// what it gets is decided then.
func (s scene) datagrams(f record.Flow) (by, why string) {
	busy, exhausted := s.exhausted(f)
	d := cmp.Or(f.Datagrams, &record.Datagrams{})
	lost := s.lostDatagrams(f)
	_, carried := s.full(f, !lost.behind)
	full, late := share(float64(d.BlockedUs)/1e6, s.WindowS), share(float64(d.Skipped), float64(d.Sent+d.Skipped))
	back, held, shaped := "", "", ""
	if !lost.behind {
		if full >= most {
			held = fmt.Sprintf("its socket's buffer was full %s of the time", unit.FormatPercent(full))
		}
		back, shaped = s.backpressure(f), s.shaped(f, held)
	}
	switch {
	case reaches(f, f.RateCapBps) && carried == "":
		by, why = RateCap, fmt.Sprintf("%s of its rate of %s", unit.FormatPercent(f.GoodputBps/f.RateCapBps),
			unit.FormatRate(f.RateCapBps))
	case carried != "":
		by, why = FullLink, carried
	case lost.behind && lost.atReceiver && exhausted:
		by, why = Generator, busy
	case lost.inBuffer:
		by = SlowReader
	case lost.behind:
		by = Loss
	case shaped != "":
		by, why = FullLink, shaped
	case back != "":
		by, why = InterfaceQueue, back
	case held != "":
		by, why = InterfaceQueue, held+": the interface took the datagrams no sooner"
	case exhausted:
		by, why = Generator, busy
	case late > 0 && late >= most*(1-share(f.GoodputBps, f.RateCapBps)):
		by, why = Generator, "its program did not run in time"
	default:
		why = busy
	}
	for _, more := range []string{lost.text, givenUp(late)} {
		why = strings.Trim(why+"; "+more, "; ")
	}
	return by, why
}

// givenUp says which share of its datagrams a sender did not send; "": it sent all.
func givenUp(late float64) string {
	if late <= 0 {
		return ""
	}
	return fmt.Sprintf("%s of the datagrams were not sent, as they were %s late", unit.FormatPercent(late),
		unit.FormatSeconds(flow.MaxLate.Seconds()))
}
