package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/show/number"
	"linerate/internal/show/wording"
)

// Held describes what limited the flows between two hosts in the trials of a treatment, beside the
// predictions for them.
type Held struct {
	Row             *Row
	Column          int // index in the view
	From, To        string
	Several         bool // whether the treatment also has flows between other hosts
	LowBps, HighBps float64
	Predicted       []string // words, most frequent first
	Why             string   // explains the prediction
	MeanBps         float64  // mean of the flows
	LeastBps        float64  // of the flows
	MostBps         float64
	flows, trials   int
	low, high       float64 // sum of the predictions for the flows of a trial
	Within          int     // number of flows that achieved the prediction
	Judged          int     // number of flows with a prediction
	// By are the words for what limited the flows, most frequent first.
	By      []string
	Because string // of the last flow with the first of these

	saidBy, saidPredicted map[string]int    // number of flows by word
	because               map[string]string // by word
}

// HeldBack lists what limited flows, in the order of the table of treatments.
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

// heldIn returns an entry for each pair of hosts of a treatment.
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
			h.because[f.LimitedBy] = wording.Limited(f.LimitedFacts, f.LimitedWhy)
			if p := f.Expected; p != nil {
				if h.Judged == 0 || p.LowBps < h.LowBps {
					h.LowBps = p.LowBps
				}
				h.HighBps, h.Why = max(h.HighBps, p.HighBps), wording.Limited(p.Facts, p.Why)
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

// frequent returns the words, most frequent first.
func frequent(said map[string]int) []string {
	return slices.SortedFunc(maps.Keys(said), func(a, b string) int {
		return cmp.Or(said[b]-said[a], strings.Compare(a, b))
	})
}

// Causes joins the words for what limited flows.
func Causes(words []string) string {
	list := lists.Map(words, func(w string) string { return cmp.Or(w, "not attributed") })
	return strings.Join(list, ", ")
}

// Span formats the range that was predicted for the flows of a trial in total.
func (h Held) Span(unit number.Scale) string {
	if h.Judged < h.flows || h.flows == 0 {
		return "–"
	}
	return number.Span(number.Significant(h.low*unit.Per, 3), number.Significant(h.high*unit.Per, 3))
}

// Got formats the total of the flows of a trial, as the mean over the trials.
func (h Held) Got(unit number.Scale) string { return number.Significant(h.sumBps()*unit.Per, 3) }

// each returns the number of flows in a trial.
func (h Held) each() float64 { return float64(h.flows) / float64(max(1, h.trials)) }

func (h Held) sumBps() float64 { return h.MeanBps * h.each() }

// HeldScale returns the unit of the largest figure.
func HeldScale(list []Held) number.Scale {
	most := 0.0
	for _, h := range list {
		most = max(most, h.sumBps(), h.high)
	}
	return number.BitScale(most)
}

// As says how many of the flows achieved the prediction. Empty: all.
func (h Held) As() string {
	switch {
	case h.Within == h.Judged:
		return ""
	case h.Judged == 1:
		return "not as predicted"
	}
	return fmt.Sprintf("%d of %d as predicted", h.Within, h.Judged)
}

// Attributed reports whether a cause or a prediction is known for any entry.
func Attributed(list []Held) bool {
	return slices.ContainsFunc(list, func(h Held) bool {
		return h.Judged > 0 || slices.ContainsFunc(h.By, func(w string) bool { return w != "" })
	})
}

// Predictions reports whether there is a prediction for any entry.
func Predictions(list []Held) bool {
	return slices.ContainsFunc(list, func(h Held) bool { return h.Judged > 0 })
}

// Label names the treatment, with the pair of hosts if there are several.
func (h Held) Label(v *View) string {
	return h.Between(v.Label(h.Row, h.Column))
}

// Together is Between for the flows of a trial, with their number if it is not 1.
func (h Held) Together(name string) string {
	if h.each() == 1 {
		return h.Between(name)
	}
	if !h.Several {
		return fmt.Sprintf("%s, %.3g flows", name, h.each())
	}
	return fmt.Sprintf("%s ×%.3g", h.Between(name), h.each())
}

// Between adds the pair of hosts to a treatment's name if the treatment has several.
func (h Held) Between(name string) string {
	if h.Several {
		name += ", " + h.From + " → " + h.To
	}
	return name
}
