package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/show/number"
)

// Held is what held back the flows between two hosts in a treatment, over its
// trials, beside what was predicted for them.
type Held struct {
	Row             *Row
	Column          int // of the view
	From, To        string
	Several         bool // the treatment has flows between other hosts, too
	LowBps, HighBps float64
	Predicted       []string // words, the most frequent first
	Why             string   // of the prediction
	MeanBps         float64  // mean of the flows
	LeastBps        float64  // of them
	MostBps         float64
	flows, trials   int
	low, high       float64 // of what was predicted for the flows of a trial together
	Within          int     // flows that got what was predicted
	Judged          int     // flows for which something was
	By              []string
	Because         string // of the last flow held back by the first of these

	saidBy, saidPredicted map[string]int    // flows by word
	because               map[string]string // by word
}

// HeldBack lists what held flows back, in the order of the table of treatments.
func (v *View) HeldBack() (list []Held) {
	for r, c := range v.Each() {
		pairs := v.heldIn(r.Treatments[c])
		for _, h := range pairs {
			h.Row, h.Column, h.Several = r, c, len(pairs) > 1
			list = append(list, h)
		}
	}
	return list
}

// heldIn lists a treatment's, one for each pair of hosts.
func (v *View) heldIn(t *record.Treatment) (list []Held) {
	for _, trial := range v.Run.TrialsOf(t.Name) {
		sums := map[int][2]float64{} // of predictions in this trial
		for _, f := range trial.Flows {
			if !f.Connected || flow.Of(f.Protocol).Transactional() {
				continue
			}
			i := slices.IndexFunc(list, func(h Held) bool { return h.From == f.From && h.To == f.To })
			if i < 0 {
				i, list = len(list), append(list, Held{From: f.From, To: f.To, LeastBps: f.GoodputBps,
					saidBy: map[string]int{}, saidPredicted: map[string]int{}, because: map[string]string{}})
			}
			h := &list[i]
			h.LeastBps, h.MostBps = min(h.LeastBps, f.GoodputBps), max(h.MostBps, f.GoodputBps)
			h.MeanBps = (h.MeanBps*float64(h.flows) + f.GoodputBps) / float64(h.flows+1)
			h.flows++
			sum := sums[i]
			h.saidBy[f.LimitedBy]++
			h.because[f.LimitedBy] = f.LimitedWhy
			if p := f.Expected; p != nil {
				if h.Judged == 0 || p.LowBps < h.LowBps {
					h.LowBps = p.LowBps
				}
				h.HighBps, h.Why = max(h.HighBps, p.HighBps), p.Why
				h.Judged++
				sum[0], sum[1] = sum[0]+p.LowBps, sum[1]+p.HighBps
				h.saidPredicted[p.LimitedBy]++
				if p.Contains(f.GoodputBps) {
					h.Within++
				}
			}
			sums[i] = sum
		}
		for i, sum := range sums {
			h := &list[i]
			if h.trials++; h.trials == 1 {
				h.low = sum[0]
			}
			h.low, h.high = min(h.low, sum[0]), max(h.high, sum[1])
		}
	}
	for i := range list {
		h := &list[i]
		h.By, h.Predicted = frequent(h.saidBy), frequent(h.saidPredicted)
		h.Because = h.because[h.By[0]]
	}
	return list
}

// frequent are the words, the most frequent first.
func frequent(said map[string]int) []string {
	return slices.SortedFunc(maps.Keys(said), func(a, b string) int {
		return cmp.Or(said[b]-said[a], strings.Compare(a, b))
	})
}

// Causes spells what flows were held back by.
func Causes(words []string) string {
	var list []string
	for _, w := range words {
		list = append(list, cmp.Or(w, "not attributed"))
	}
	return strings.Join(list, ", ")
}

// Span spells what was predicted for the flows of a trial together.
func (h Held) Span(unit number.Scale) string {
	if h.Judged < h.flows || h.flows == 0 {
		return "–"
	}
	return number.Span(number.Significant(h.low*unit.Per, 3), number.Significant(h.high*unit.Per, 3))
}

// Got spells what the flows of a trial got together, in the mean of the trials.
func (h Held) Got(unit number.Scale) string { return number.Significant(h.sumBps()*unit.Per, 3) }

// each is the number of flows in a trial.
func (h Held) each() float64 { return float64(h.flows) / float64(max(1, h.trials)) }

func (h Held) sumBps() float64 { return h.MeanBps * h.each() }

// HeldScale is that of the largest figure.
func HeldScale(list []Held) number.Scale {
	most := 0.0
	for _, h := range list {
		most = max(most, h.sumBps(), h.high)
	}
	return number.BitScale(most)
}

// As says how many of the flows got what was predicted; empty: all did.
func (h Held) As() string {
	switch {
	case h.Within == h.Judged:
		return ""
	case h.Judged == 1:
		return "not as predicted"
	}
	return fmt.Sprintf("%d of %d as predicted", h.Within, h.Judged)
}

// Attributed reports whether a cause or a prediction is known of any.
func Attributed(list []Held) bool {
	return slices.ContainsFunc(list, func(h Held) bool {
		return h.Judged > 0 || slices.ContainsFunc(h.By, func(w string) bool { return w != "" })
	})
}

// Predictions reports whether something was predicted for any.
func Predictions(list []Held) bool {
	return slices.ContainsFunc(list, func(h Held) bool { return h.Judged > 0 })
}

// Label names the treatment, and the pair of hosts where there are several.
func (h Held) Label(v *View) string {
	return h.Between(v.Label(h.Row, h.Column))
}

// Together is Between for the flows of a trial, with their number where it is not 1.
func (h Held) Together(name string) string {
	if h.each() == 1 {
		return h.Between(name)
	}
	if !h.Several {
		return fmt.Sprintf("%s, %.3g flows", name, h.each())
	}
	return fmt.Sprintf("%s ×%.3g", h.Between(name), h.each())
}

// Between adds the pair of hosts to a treatment's name where it has several.
func (h Held) Between(name string) string {
	if h.Several {
		name += ", " + h.From + " → " + h.To
	}
	return name
}
