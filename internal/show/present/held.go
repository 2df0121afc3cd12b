package present

import (
	"cmp"
	"fmt"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"maps"
	"slices"
	"strings"
)

// held is what held back the flows between two hosts in a treatment, over its
// trials, beside what was predicted for them.
type held struct {
	row       *row
	col       int // of the view
	from, to  string
	several   bool // the treatment has flows between other hosts, too
	low, high float64
	predicted []string // words, the most frequent first
	why       string   // of the prediction
	bps       float64  // mean of the flows
	least     float64  // of them
	most      float64
	flows     int
	within    int // flows that got what was predicted
	judged    int // flows for which something was
	by        []string
	because   string // of the last flow held back by the first of these
}

// heldBack lists what held flows back, in the order of the table of treatments.
func (v *view) heldBack() (list []held) {
	for r, c := range v.each() {
		pairs := v.heldIn(r.cells[c])
		for _, h := range pairs {
			h.row, h.col, h.several = r, c, len(pairs) > 1
			list = append(list, h)
		}
	}
	return list
}

// heldIn lists a treatment's, one for each pair of hosts.
func (v *view) heldIn(t *record.Treatment) (list []held) {
	type tally struct {
		by, predicted map[string]int
		because       map[string]string
	}
	var tallies []tally // one per entry of the list
	for _, trial := range v.run.TrialsOf(t.Name) {
		for _, f := range trial.Flows {
			if !f.Connected || flow.Of(f.Protocol).Transactional() {
				continue
			}
			i := slices.IndexFunc(list, func(h held) bool { return h.from == f.From && h.to == f.To })
			if i < 0 {
				i, list = len(list), append(list, held{from: f.From, to: f.To, least: f.GoodputBps})
				tallies = append(tallies, tally{map[string]int{}, map[string]int{}, map[string]string{}})
			}
			h, n := &list[i], &tallies[i]
			h.least, h.most = min(h.least, f.GoodputBps), max(h.most, f.GoodputBps)
			h.bps = (h.bps*float64(h.flows) + f.GoodputBps) / float64(h.flows+1)
			h.flows++
			n.by[f.LimitedBy]++
			n.because[f.LimitedBy] = f.LimitedWhy
			if p := f.Expected; p != nil {
				if h.judged == 0 || p.LowBps < h.low {
					h.low = p.LowBps
				}
				h.high, h.why = max(h.high, p.HighBps), p.Why
				h.judged++
				n.predicted[p.LimitedBy]++
				if p.Contains(f.GoodputBps) {
					h.within++
				}
			}
		}
	}
	for i, n := range tallies {
		list[i].by, list[i].predicted = frequent(n.by), frequent(n.predicted)
		list[i].because = n.because[list[i].by[0]]
	}
	return list
}

// frequent are the words, the most frequent first.
func frequent(said map[string]int) []string {
	return slices.SortedFunc(maps.Keys(said), func(a, b string) int { return cmp.Or(said[b]-said[a], strings.Compare(a, b)) })
}

// causes spells what flows were held back by.
func causes(words []string) string {
	var list []string
	for _, w := range words {
		list = append(list, cmp.Or(w, "not attributed"))
	}
	return strings.Join(list, ", ")
}

// span spells what was predicted.
func (h held) span(unit scale) string {
	if h.judged == 0 {
		return "–"
	}
	return span(significant(h.low*unit.Per, 3), significant(h.high*unit.Per, 3))
}

// got spells what the flows got in the mean.
func (h held) got(unit scale) string { return significant(h.bps*unit.Per, 3) }

// heldScale is that of the largest figure.
func heldScale(list []held) scale {
	most := 0.0
	for _, h := range list {
		most = max(most, h.bps, h.high)
	}
	return bitScale(most)
}

// as says how many of the flows got what was predicted; empty: all did.
func (h held) as() string {
	switch {
	case h.within == h.judged:
		return ""
	case h.judged == 1:
		return "not as predicted"
	}
	return fmt.Sprintf("%d of %d as predicted", h.within, h.judged)
}

// attributed reports whether a cause or a prediction is known of any.
func attributed(list []held) bool {
	return slices.ContainsFunc(list, func(h held) bool {
		return h.judged > 0 || slices.ContainsFunc(h.by, func(w string) bool { return w != "" })
	})
}

func predictions(list []held) bool {
	return slices.ContainsFunc(list, func(h held) bool { return h.judged > 0 })
}

// label names the treatment, and the pair of hosts where there are several.
func (h held) label(v *view) string {
	return h.between(v.label(h.row, h.col))
}

// between adds the pair of hosts to a treatment's name where it has several.
func (h held) between(name string) string {
	if h.several {
		name += ", " + h.from + " → " + h.to
	}
	return name
}
