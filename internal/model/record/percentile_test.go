package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestSlowest: places are spelled as people say them, by the nearest rank.
func TestSlowest(t *testing.T) {
	for values, want := range map[int64]string{1: "slowest", 100: "2nd slowest", 200: "3rd slowest", 300: "4th slowest",
		1000: "11th slowest", 1100: "12th slowest", 2000: "21st slowest", 11_100: "112th slowest",
		12_100: "122nd slowest"} {
		if got := Slowest(0.99, values); got != want {
			t.Errorf("%d: %s, want %s", values, got, want)
		}
	}
}

// TestRanksInJSON: a document names the percentiles of few values, and comes back as it was.
func TestRanksInJSON(t *testing.T) {
	d := Distribution{Count: 200, P50Us: 5, P99Us: 9, MaxUs: 12, Histogram: []byte{1}}
	text, err := json.Marshal(&Trial{Latency: &d})
	if want := `"max":12,"histogram":"AQ==","ranks":{"p99":"3rd slowest of 200","p999":"slowest of 200","p9999":"slowest of 200"}}`; err !=
		nil || !strings.Contains(string(text), want) {
		t.Errorf("%s (%v), want within it %s", text, err, want)
	}
	var back Trial
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Latency, &d) {
		t.Errorf("%v: came back as %+v", err, back.Latency)
	}
	if text, err := json.Marshal(Distribution{Count: 100_000}); err != nil || strings.Contains(string(text), "ranks") {
		t.Errorf("%s (%v): all are known", text, err)
	}
}
