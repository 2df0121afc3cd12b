package report

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestSettingsBeside: what a setting does to latency stands under what it does to
// goodput, where it does something; under the list it always does.
func TestSettingsBeside(t *testing.T) {
	effect := func(verdict string, ratio float64, latency string, later float64) *record.Effect {
		e := &record.Effect{Verdict: verdict, Ratio: record.RatioEstimate{Mean: ratio, Low: ratio - 0.01, High: ratio + 0.01}}
		b := *e
		b.Response, b.Verdict, b.Ratio = "latency_p99", latency, record.RatioEstimate{Mean: later, Low: later - 0.01, High: later + 0.01}
		e.Beside = []record.Effect{b}
		return e
	}
	c := &record.Tune{
		Responses: []string{"goodput", "latency_p99"},
		Settings: []record.TuneSetting{
			{Key: "net.a", Verdict: record.Trades, Alone: effect(record.Improves, 1.02, record.Worsens, 4), Removed: effect(record.Worsens, 0.98, record.Improves, 0.25)},
			{Key: "net.b", Verdict: record.NoDifference, Alone: effect(record.NoDifference, 1, record.NoDifference, 1.01), Removed: effect(record.NoDifference, 1, record.Inconclusive, 0.9)},
		},
		List: effect(record.Improves, 1.02, record.Inconclusive, 3.9), Off: effect(record.NoDifference, 1, record.NoDifference, 1),
	}
	var out strings.Builder
	if err := tunedSettings(&out, c); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	want := "alone list without it trades net.a 1.02× (1.01–1.03) 0.98× (0.97–0.99) latency p99 4.00× (3.99–4.01) 0.25× (0.24–0.26) " +
		"no difference net.b 1.00× (0.99–1.01) 1.00× (0.99–1.01) " +
		"the list as a whole 1.02× (1.01–1.03) improves latency p99 3.90× (3.89–3.91) inconclusive off again 1.00× (0.99–1.01) no difference"
	if got != want {
		t.Errorf("got\n%s\nwant, spaces aside,\n%s", out.String(), want)
	}
}
