package conclude

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
)

// busyShare of the busiest interface's load makes an interface busy too: chance spreads
// flows unevenly, but acknowledgements and ARP are far below it.
const busyShare = 0.1

// span is how many of a host's interfaces were busy, over some trials.
type span struct {
	host      string
	low, high int
	of        int    // interfaces that the flows are meant to use
	way       string // " to send" or " to receive", where data flows both ways
}

// busyPorts counts, on the host whose interfaces are in question (Focus), how many
// were busy: in the direction in which data flows, and where it flows in both,
// in the one with fewer. of is 0 when these trials' flows are meant to use only
// one of that host's interfaces.
func busyPorts(run *record.Run, trials []record.Trial) span {
	asked := Focus(run)
	s := span{host: asked.Host}
	ends, routers := waysOf(run, trials)
	for _, q := range append(ends, routers...) {
		if q.Host == asked.Host && len(q.Interfaces) > 1 {
			s.of = max(s.of, len(q.Interfaces))
		}
	}
	if s.of == 0 {
		return s
	}
	first := true
	for _, t := range trials {
		h, ok := t.Reading(s.host)
		if !ok {
			continue
		}
		node, _ := run.Topology.Host(s.host)
		var rx, tx []float64
		for _, d := range h.Deltas() {
			if _, drawn := node.Interface(d.Interface); !drawn || asked.Forwards && !slices.Contains(asked.Interfaces, d.Interface) {
				continue // a real host's other interfaces carry what is not this run's
			}
			rx, tx = append(rx, d.RxBytes), append(tx, d.TxBytes)
		}
		in, out := dataOf(s.host, []record.Trial{t})
		n, way := busy(rx), ""
		switch {
		case asked.Forwards, out > 0 && in <= bothWays*out:
			n = busy(tx)
		case out > bothWays*in:
			way = " to receive"
			if m := busy(tx); m < n {
				n, way = m, " to send"
			}
		}
		if first {
			s.low, s.high, s.way, first = n, n, way, false
		}
		if n < s.low {
			s.way = way
		}
		s.low, s.high = min(s.low, n), max(s.high, n)
	}
	if first {
		s.of = 0 // nobody read that host's interfaces
	}
	return s
}

func busy(loads []float64) int {
	n := 0
	for _, l := range loads {
		if l > 0 && l >= busyShare*slices.Max(loads) {
			n++
		}
	}
	return n
}

// String says "one", "one to four".
func (s span) String() string {
	if s.low == s.high {
		return number(s.low)
	}
	return number(s.low) + " to " + number(s.high)
}

// byChance explains effects one side of which uses now more, now fewer interfaces: no
// number of repetitions makes that a dependable result.
func byChance(run *record.Run, effects []record.Effect) {
	for i := range effects {
		e := &effects[i]
		for _, side := range []string{e.To, e.From} {
			trials := slices.DeleteFunc(slices.Clone(run.Trials), func(t record.Trial) bool {
				return e.Factor == "" && t.Treatment != side || e.Factor != "" && (t.Levels[e.Factor] != side || !at(record.Treatment{Levels: t.Levels}, e))
			})
			if s := busyPorts(run, trials); s.of > 0 && s.low != s.high {
				e.Why = fmt.Sprintf("%d to %d interfaces by chance", s.low, s.high)
				if side == e.From {
					e.Why = side + ": " + e.Why
				}
				break
			}
		}
	}
}

func number(n int) string {
	words := []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}
