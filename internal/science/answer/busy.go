package answer

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
)

// busyShare of the busiest port's load makes a port busy too: chance spreads
// flows unevenly, but acknowledgements and ARP are far below it.
const busyShare = 0.1

// span is how many of a host's ports were busy, over some trials.
type span struct {
	host      string
	low, high int
	of        int // ports that the flows are meant to use
}

// busyPorts counts, on the host whose several ports the flows are meant to use,
// how many were. of is 0 when no host has several.
func busyPorts(run *record.Run, trials []record.Trial) span {
	s := focus(run, trials)
	if s.of == 0 {
		return s
	}
	first := true
	for _, t := range trials {
		h, ok := t.Reading(s.host)
		if !ok {
			continue
		}
		incoming := 0.0
		for _, f := range t.Flows {
			if f.To == s.host {
				incoming += float64(f.ReceivedBytes)
			}
			if f.From == s.host {
				incoming -= float64(f.ReceivedBytes)
			}
		}
		var loads []float64
		node, _ := run.Topology.Host(s.host)
		for _, d := range h.Deltas() {
			if _, drawn := node.Port(d.Port); !drawn {
				continue // a real host's other ports carry what is not this run's
			}
			if incoming >= 0 {
				loads = append(loads, d.RxBytes)
			} else {
				loads = append(loads, d.TxBytes)
			}
		}
		n := 0
		for _, l := range loads {
			if l > 0 && l >= busyShare*slices.Max(loads) {
				n++
			}
		}
		if first {
			s.low, s.high, first = n, n, false
		}
		s.low, s.high = min(s.low, n), max(s.high, n)
	}
	if first {
		s.of = 0 // nobody read that host's ports
	}
	return s
}

// focus finds the host with the most ports on the flows' intended paths.
func focus(run *record.Run, trials []record.Trial) span {
	used := map[string][]string{}
	var order []string
	for _, t := range trials {
		for _, f := range t.Flows {
			for _, end := range path(f) {
				if _, ok := run.Topology.Host(end.Node); !ok || slices.Contains(used[end.Node], end.Port) {
					continue
				}
				if len(used[end.Node]) == 0 {
					order = append(order, end.Node)
				}
				used[end.Node] = append(used[end.Node], end.Port)
			}
		}
	}
	var s span
	for _, host := range order {
		if n := len(used[host]); n > 1 && n > s.of {
			s = span{host: host, of: n}
		}
	}
	return s
}

// String says "one", "one to four".
func (s span) String() string {
	if s.low == s.high {
		return number(s.low)
	}
	return number(s.low) + " to " + number(s.high)
}

// byChance explains effects whose level uses now more, now fewer ports: no
// number of repetitions makes that a dependable result.
func byChance(run *record.Run) {
	for i, e := range run.Effects {
		for _, side := range []string{e.To, e.From} {
			var trials []record.Trial
			for _, t := range run.Trials {
				same := t.Levels[e.Factor] == side
				for f, l := range e.At {
					same = same && t.Levels[f] == l
				}
				if same {
					trials = append(trials, t)
				}
			}
			if s := busyPorts(run, trials); s.of > 0 && s.low != s.high {
				run.Effects[i].Why = fmt.Sprintf("%d to %d ports by chance", s.low, s.high)
				if side == e.From {
					run.Effects[i].Why = fmt.Sprintf("%s: %s", side, run.Effects[i].Why)
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
