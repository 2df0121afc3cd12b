package tuning

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// Accepted has the loss in each response that is accepted for a gain in another one, as a
// share (0.1: 10 %), by AcceptName of the response. Nil: no loss is accepted.
type Accepted map[string]float64

// AcceptName returns the key of a response in Accepted. All percentiles of latency share one.
func AcceptName(response string) string {
	if strings.HasPrefix(response, "latency") {
		return "latency"
	}
	return strings.ReplaceAll(response, "_", "-")
}

// AcceptNames returns the AcceptName of all responses that a study can be judged by.
func AcceptNames() []string {
	var names []string
	for _, name := range metric.ResponseNames() {
		if name = AcceptName(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// takes reports whether a loss is accepted: the unfavourable end of its interval is within what
// is accepted.
func (a Accepted) takes(r metric.Metric, e *record.Effect) bool {
	_, bad, _, ok := Relative(r, e, 0)
	return ok && -bad <= a[AcceptName(r.Name)]
}

// harmed reports whether an effect in a response is a loss that is not accepted.
func (a Accepted) harmed(r metric.Metric, e *record.Effect) bool {
	return e != nil && e.Verdict == record.Worsens && !a.takes(r, e)
}

// refuses reports whether an effect has a loss in any response that is not accepted.
func (a Accepted) refuses(e *record.Effect) bool {
	return slices.ContainsFunc(responsesOf(e), func(r metric.Metric) bool { return a.harmed(r, r.Effect(e)) })
}

// Proven reports whether an effect improves a response, and worsens none by more than is accepted.
// An improvement in a response other than the first counts if it exceeds the margin and the effect
// in the first response is not inconclusive.
func Proven(e *record.Effect, accept Accepted, margin float64) bool {
	if e == nil || accept.refuses(e) {
		return false
	}
	improves := e.Verdict == record.Improves
	for _, r := range responsesOf(e) {
		b := r.Effect(e)
		if b != e && matters(r, b, margin) {
			improves = improves || e.Verdict != record.Inconclusive
		}
	}
	return improves
}

// NotKept changes a result whose best set is not Proven so that it keeps no setting. A setting
// that helped in the list becomes inconclusive if the proof does not show it.
func NotKept(t *record.Tune) {
	for i := range t.Settings {
		s := &t.Settings[i]
		if t.Proof != nil && t.Offer == nil && s.Verdict == record.Helps && slices.Contains(t.Proof.Settings, s.Key) {
			s.Verdict = record.Inconclusive
			s.Reasons = slices.Insert(slices.Clone(s.Reasons), 0, statement(record.WhyNotShown))
		}
		if s.Judged != nil {
			s.Verdict, s.Reasons = s.Judged.Verdict, s.Judged.Reasons
		}
		s.Keep = false
	}
}

// responsesOf returns the responses in which an effect is known, beginning with the first.
func responsesOf(e *record.Effect) (list []metric.Metric) {
	if r, known := metric.Find(e.Response); known {
		list = append(list, r)
	}
	for i := range e.Beside {
		if r, known := metric.Find(e.Beside[i].Response); known {
			list = append(list, r)
		}
	}
	return list
}

// offer returns a proof with its gains and costs. Nil: it has no gain, or no cost.
func offer(run *record.Run, level string, proof record.TuneProof) *record.TuneOffer {
	o := &record.TuneOffer{TuneProof: proof}
	flags := map[string]float64{}
	acceptable := true
	for _, r := range responsesOf(proof.Effect) {
		e := r.Effect(proof.Effect)
		t := record.TuneTrade{Response: r.Name, From: figure(run, factor(run).Baseline, r), To: figure(run, level, r)}
		alone := *e
		alone.Beside = nil
		t.Effect = &alone
		_, bad, _, ok := Relative(r, e, 0)
		if worst := -bad; ok && worst > 0 {
			t.Worst = &worst
		}
		switch e.Verdict {
		case record.Improves:
			o.Gains = append(o.Gains, t)
		case record.Worsens:
			o.Costs = append(o.Costs, t)
			if t.Worst == nil {
				acceptable = false
				continue
			}
			name := AcceptName(r.Name)
			flags[name] = max(flags[name], *t.Worst)
		}
	}
	if len(o.Gains) == 0 || len(o.Costs) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if acceptable {
			// The next 5 %, since another run's interval ends elsewhere.
			percent := 5 * math.Ceil(20*flags[name]+1e-9)
			o.Accept = append(o.Accept, fmt.Sprintf("--accept-%s %s%%", name,
				strconv.FormatFloat(percent, 'f', -1, 64)))
		}
	}
	return o
}

// Shown is an effect in a response: of a setting alone or, if Without is set, of the list without
// that setting.
type Shown struct {
	Response metric.Metric
	Effect   *record.Effect
	Without  bool
}

// Traded returns the effects in which a setting is a gain, and those in which it is a cost. Of the
// percentiles of latency they contain only the first.
func Traded(s record.TuneSetting, responses []string) (gains, costs []Shown) {
	var named []string
	for _, name := range responses {
		r, known := metric.Find(name)
		if !known || slices.Contains(named, AcceptName(r.Name)) {
			continue
		}
		alone, removed := r.Effect(s.Alone), r.Effect(s.Removed)
		shown := Shown{r, removed, true}
		if alone != nil && (alone.Verdict == record.Improves || alone.Verdict == record.Worsens) {
			shown = Shown{r, alone, false}
		}
		switch Combined(alone, removed) {
		case record.Helps:
			gains = append(gains, shown)
		case record.Harms:
			costs = append(costs, shown)
		default:
			continue
		}
		named = append(named, AcceptName(r.Name))
	}
	return gains, costs
}
