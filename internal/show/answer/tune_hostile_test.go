package answer

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/science/sciencetest"
	"linerate/internal/science/tuning"
)

// TestTuneOfAnything: a stored result from which any key is missing, at any depth, has an answer.
func TestTuneOfAnything(t *testing.T) {
	run, settings := sciencetest.List(up, sameWords, up, down, sameWords, sameWords)
	sciencetest.Beside(run, map[string]string{"only net.a": down})
	whole := tuning.Judge(run, settings, nil)
	e := whole.List
	trade := []record.TuneTrade{{Response: "goodput", Effect: e}}
	proof := record.TuneProof{Run: "tune-2", Settings: []string{"net.a"}, Effect: e, AgainstList: e}
	whole.Proof, whole.Fewer, whole.Written = &proof, &proof, e
	whole.Offer = &record.TuneOffer{TuneProof: proof, Gains: trade, Costs: trade,
		Accept: []string{"--accept-latency 10%"}}
	whole.Settings[0].Keep, whole.Settings[0].Beside = true, e
	whole.Removed = &record.Proven{Run: "tune-2", Settings: []string{"net.a"}}
	search := *whole
	search.Search = &record.TuneSearch{Key: "net.a", Enough: "1",
		Values: []record.TuneValue{{Name: "1", Effect: e}, {Name: "2"}}}
	for _, result := range []*record.Tune{whole, &search} {
		for _, unwritten := range []string{"", record.UnwrittenUnjudged, record.UnwrittenBudget,
			record.UnwrittenWorthless, record.UnwrittenTrade, record.UnwrittenUnproven, "later"} {
			result.Unwritten = unwritten
			text, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			var all map[string]any
			if err := json.Unmarshal(text, &all); err != nil {
				t.Fatal(err)
			}
			without(all, func() {
				text, err := json.Marshal(all)
				if err != nil {
					t.Fatal(err)
				}
				var stored record.Tune
				if json.Unmarshal(text, &stored) == nil && Tune(&stored).Answer == "" {
					t.Errorf("no answer for %s", text)
				}
			})
		}
	}
}

// without calls f with each key of a document removed, and with each list emptied.
func without(part any, f func()) {
	switch part := part.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(part)) {
			value := part[key]
			delete(part, key)
			f()
			if list, is := value.([]any); is && len(list) > 0 {
				part[key] = []any{}
				f()
			}
			part[key] = value
			without(value, f)
		}
	case []any:
		for _, one := range part {
			without(one, f)
		}
	}
}
