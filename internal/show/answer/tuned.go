package answer

import (
	"fmt"
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/science/tuning"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// tuned is a result whose answer is composed, with the response that counts, the first one.
type tuned struct {
	*record.Tune
	of metric.Metric
}

// newTuned leaves out what lacks its effects, as in a result of another version.
func newTuned(result record.Tune) tuned {
	of := metric.Of(&record.Run{Responses: result.Responses})[0]
	if result.ByRank {
		of = of.ByRank()
	}
	for _, proof := range []**record.TuneProof{&result.Proof, &result.Fewer} {
		if *proof != nil && (*proof).Effect == nil {
			*proof = nil
		}
	}
	unknown := func(t record.TuneTrade) bool { return t.Effect == nil }
	if o := result.Offer; o != nil && (slices.ContainsFunc(o.Gains, unknown) || slices.ContainsFunc(o.Costs, unknown)) {
		result.Offer = nil
	}
	return tuned{&result, of}
}

// others are the responses beside the one that counts.
func (t tuned) others() []metric.Metric { return metric.Of(&record.Run{Responses: t.Responses})[1:] }

// tried are the settings that were tried.
func (t tuned) tried() []record.TuneSetting {
	return slices.DeleteFunc(slices.Clone(t.Settings), func(s record.TuneSetting) bool {
		return s.Verdict == record.NotTried
	})
}

// withValue is a setting in a sentence: which congestion control it is belongs to its name.
func withValue(s record.TuneSetting) string {
	if s.Key == setting.CongestionControl && s.Value != "" {
		return "congestion control (" + s.Key + " = " + s.Value + ")"
	}
	return s.Key
}

// list joins settings: "a, b and c".
func list(settings []record.TuneSetting) string {
	var names []string
	for _, s := range settings {
		names = append(names, withValue(s))
	}
	return words.Join(names, "and")
}

// together continues a sentence about settings that do it: none of them does it alone.
func (t tuned) together(whole *record.Effect, helps []record.TuneSetting) string {
	if none := t.noneAlone(whole, helps); none != "" {
		return " together: " + none
	}
	return ""
}

// noneAlone says of several settings that do it that one of them would not do: alone they make no
// difference, or surely less than the whole. Empty: that is not shown.
func (t tuned) noneAlone(whole *record.Effect, helps []record.TuneSetting) string {
	if len(helps) < 2 {
		return ""
	}
	neither := words.Verb(len(helps)-1, "neither", "none of them")
	none, most := true, tuning.MostAlone(helps)
	if most == 0 {
		return ""
	}
	for _, s := range helps {
		same := s.Alone.Verdict == record.NoDifference
		if same && tuning.Proven(s.Alone, nil, 0) {
			return "" // it does good alone, by something else than what counts
		}
		none = none && same
	}
	switch {
	case none:
		return "alone " + neither + " makes a difference"
	case !t.of.Lower && most < whole.Ratio.Low:
		return fmt.Sprintf("alone %s gives more than %.2f×", neither, most)
	}
	return ""
}

// trades joins effects of a setting: "latency p50 (the list without it 1.04× (1.01–1.09))" and
// "goodput (alone 0.14× (0.13–0.15))".
func trades(list []tuning.Shown) string { return words.Join(tradeTexts(list), "and") }

func tradeTexts(list []tuning.Shown) (said []string) {
	for _, one := range list {
		by := "alone "
		if one.Without {
			by = "the list without it "
		}
		said = append(said, one.Response.Label+" ("+by+wording.EffectSize(one.Response, one.Effect)+")")
	}
	return said
}
