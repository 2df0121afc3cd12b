package answer

import (
	"fmt"
	"slices"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/science/tuning"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// tuned is a result of tune with its first response, of.
type tuned struct {
	*record.Tune
	of metric.Metric
}

// newTuned returns a result whose answer can be composed: without a proof or an offer that lacks
// an effect, as a result of another version may.
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

// others returns the responses after the first.
func (t tuned) others() []metric.Metric { return metric.Of(&record.Run{Responses: t.Responses})[1:] }

// tried returns the settings that were tried.
func (t tuned) tried() []record.TuneSetting {
	return slices.DeleteFunc(slices.Clone(t.Settings), func(s record.TuneSetting) bool {
		return s.Verdict == record.NotTried
	})
}

// withValue returns the key of a setting, with the value if it is the congestion control.
func withValue(s record.TuneSetting) string {
	if s.Key == setting.CongestionControl && s.Value != "" {
		return "congestion control (" + s.Key + " = " + s.Value + ")"
	}
	return s.Key
}

// list joins settings: "a, b and c".
func list(settings []record.TuneSetting) string {
	names := lists.Map(settings, withValue)
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
