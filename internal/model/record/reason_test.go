package record

import "testing"

// TestReasoned: an effect's reason is its code, or read from the words of an older version.
func TestReasoned(t *testing.T) {
	for _, test := range []struct {
		effect     Effect
		code       string
		byInterval bool
	}{
		{Effect{}, "", true},
		{Effect{Reason: Reason{Code: ReasonSpans}, Why: "anything"}, ReasonSpans, true},
		{Effect{Reason: Reason{Code: ReasonFewBlocks}, Why: "the interval spans"}, ReasonFewBlocks, false},
		{Effect{Why: "the interval spans 0.90× to 1.10×"}, ReasonSpans, true},
		{Effect{Why: "a: 1 to 4 interfaces by chance"}, ReasonChance, false},
		{Effect{Why: "1 requests against 9: of so much fewer a percentile may differ so much by chance"}, ReasonWorded,
			false},
		{Effect{Why: "a verdict takes 4 blocks, and there are 2"}, ReasonWorded, false},
	} {
		if got := test.effect.Reasoned().Code; got != test.code || test.effect.ByInterval() != test.byInterval {
			t.Errorf("%+v: %q, by its interval %t", test.effect, got, test.effect.ByInterval())
		}
	}
}
