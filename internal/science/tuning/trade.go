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

// Accepted is how much worse each response may get for a gain in another one: a share, by
// the name that AcceptName gives the response.
type Accepted map[string]float64

// AcceptName is the name under which a loss in a response is accepted: all percentiles of
// latency have one.
func AcceptName(response string) string {
	if strings.HasPrefix(response, "latency") {
		return "latency"
	}
	return strings.ReplaceAll(response, "_", "-")
}

// AcceptNames are those of all responses that a study can be judged by.
func AcceptNames() []string {
	var names []string
	for _, name := range metric.ResponseNames() {
		if name = AcceptName(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// takes reports whether a loss is accepted: the bad end of its interval is within.
func (a Accepted) takes(r metric.Metric, e *record.Effect) bool {
	_, bad, _, ok := relative(r, e, 0)
	return ok && -bad <= a[AcceptName(r.Name)]
}

// harmed reports whether an effect in a response is a loss that is not accepted.
func (a Accepted) harmed(r metric.Metric, e *record.Effect) bool {
	return e != nil && e.Verdict == record.Worsens && !a.takes(r, e)
}

// refuses reports whether an effect is a loss in some response that is not accepted.
func (a Accepted) refuses(e *record.Effect) bool {
	return slices.ContainsFunc(responsesOf(e), func(r metric.Metric) bool { return a.harmed(r, r.Effect(e)) })
}

// Proven says whether an effect improves something, and worsens nothing by more than is
// accepted. A response other than the first counts if it is better by more than the margin of
// what matters.
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

// NotKept makes a result whose best set is not Proven one that keeps nothing. A setting that
// helped in the list, and of which its proof shows nothing, is inconclusive then.
func NotKept(t *record.Tune) {
	for i := range t.Settings {
		s := &t.Settings[i]
		if t.Proof != nil && t.Offer == nil && s.Verdict == record.Helps && slices.Contains(t.Proof.Settings, s.Key) {
			s.Verdict, s.Why = record.Inconclusive, "not shown by what would be kept: "+s.Why
		}
		if s.Judged != nil {
			s.Verdict, s.Why = s.Judged.Verdict, s.Judged.Why
		}
		s.Keep = false
	}
}

// Unproven says why what is enough is not Proven, where it is no trade.
func Unproven(e *record.Effect) string {
	if e == nil || e.Verdict != record.Inconclusive || !gains(e, 0) {
		return "the settings by themselves are not proven to improve anything without a loss"
	}
	r, _ := metric.Find(e.Response)
	return fmt.Sprintf("whether they cost %s is not known, %s; more blocks tell (--replicates)", r.Label, ratioText(e))
}

// responsesOf are the responses that an effect is known in, the first one first.
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

// offer is a proof as a trade; nil: it gains nothing, or costs nothing.
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
		_, bad, _, ok := relative(r, e, 0)
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

// traded is what a setting improves and at what cost: "latency p50 (the list without it 1.04×
// (1.01–1.09))" and "goodput (alone 0.14× (0.13–0.15))". Of the percentiles of latency it has one.
func traded(s record.TuneSetting, responses []string) (gains, costs []string) {
	var named []string
	for _, name := range responses {
		r, known := metric.Find(name)
		if !known || slices.Contains(named, AcceptName(r.Name)) {
			continue
		}
		alone, removed := r.Effect(s.Alone), r.Effect(s.Removed)
		by := "the list without it "
		shown := removed
		if alone != nil && (alone.Verdict == record.Improves || alone.Verdict == record.Worsens) {
			by, shown = "alone ", alone
		}
		switch v, _, _ := verdict(alone, removed); v {
		case record.Helps:
			gains = append(gains, r.Label+" ("+by+sizeText(r, shown)+")")
		case record.Harms:
			costs = append(costs, r.Label+" ("+by+sizeText(r, shown)+")")
		default:
			continue
		}
		named = append(named, AcceptName(r.Name))
	}
	return gains, costs
}

// harming names the settings that harm, and those that cost the response that counts for a gain
// in another one.
func harming(t *record.Tune, of metric.Metric) (said []string) {
	var harms []record.TuneSetting
	for _, s := range t.Settings {
		if s.Verdict == record.Harms {
			harms = append(harms, s)
		}
	}
	if len(harms) > 0 {
		said = append(said, list(harms)+" "+plural(len(harms), "harms", "harm")+": leave "+
			plural(len(harms), "it", "them")+" out")
	}
	for _, s := range t.Settings {
		if gains, costs := traded(s, t.Responses); harmsFirst(s, of) {
			said = append(said, fmt.Sprintf("%s harms %s: leave it out, unless you need %s more", s.Key, join(costs),
				join(gains)))
		}
	}
	return said
}

// harmsFirst reports whether a setting that is not kept costs the response that counts for a gain
// in another one.
func harmsFirst(s record.TuneSetting, of metric.Metric) bool {
	v, _, _ := verdict(of.Effect(s.Alone), of.Effect(s.Removed))
	return !s.Keep && s.Verdict == record.Trades && v == record.Harms
}

// Worthless says why nothing is kept of a list of which no set is better than the baseline.
func Worthless(t *record.Tune) string {
	var gains, costs []string
	for _, s := range t.Settings {
		for _, name := range t.Responses {
			r, _ := metric.Find(name)
			switch v, _, _ := verdict(r.Effect(s.Alone), r.Effect(s.Removed)); {
			case s.Verdict != record.Trades:
			case v == record.Helps && !slices.Contains(gains, r.Label):
				gains = append(gains, r.Label)
			case v == record.Harms && !slices.Contains(costs, r.Label):
				costs = append(costs, r.Label)
			}
		}
	}
	if len(gains) == 0 {
		return "no setting of the list clearly improves anything"
	}
	return "nothing is kept, since what improves " + join(gains) + " costs " + join(costs)
}

// Offered says what an offer gains and costs, in absolute units.
func Offered(o *record.TuneOffer) string {
	var gains, costs []string
	spell := func(t record.TuneTrade) string {
		r, _ := metric.Find(t.Response)
		text := r.Label + " " + fromTo(r, t.From, t.To)
		if t.Effect.Verdict == record.Worsens && t.Worst != nil {
			return fmt.Sprintf("%s (at most %.0f %% worse)", text, max(1, math.Ceil(100**t.Worst)))
		}
		return text + " (" + sizeText(r, t.Effect) + ")"
	}
	for _, t := range o.Gains {
		gains = append(gains, spell(t))
	}
	for _, t := range o.Costs {
		costs = append(costs, spell(t))
	}
	n := len(o.Settings)
	return fmt.Sprintf("%s %s %s at the cost of %s", join(o.Settings), plural(n, "improves", "improve"), join(gains),
		join(costs))
}
