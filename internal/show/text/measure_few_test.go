package text

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/export"
	"linerate/internal/show/showtest"
)

// TestMeasureTextNoneReceived: without two datagrams that were received the jitter is not known,
// neither in the figures nor in the table of flows, whatever was counted before the window.
func TestMeasureTextNoneReceived(t *testing.T) {
	for received, want := range map[int64]int{0: 2, 1: 2, 2: 0} {
		m := showtest.Datagrams(showtest.Measurement(1))
		d := record.Datagrams{Sent: 3472, Received: received, Lost: 3472 - received, JitterUs: 1420}
		*m.Flows[0].Datagrams, *m.Directions[0].Datagrams = d, d
		text := measureText(t, m, 120)
		if n := strings.Count(text, "–\n") + strings.Count(text, "jitter –"); n != want || want > 0 &&
			strings.Contains(text, "1.42 ms") {
			t.Errorf("%d received: %d dashes, want %d in\n%s", received, n, want, text)
		}
	}
}

// TestMeasureTextFewRequests: each figure stands beside its label, and what a percentile needs
// behind all of them.
func TestMeasureTextFewRequests(t *testing.T) {
	for count, want := range map[int64]string{
		10_000: "p90 21.8 ms, p99 25.6 ms, p99.9 25.7 ms, max 25.8 ms;",
		194:    "p90 21.8 ms, 3rd slowest 25.6 ms, max 25.8 ms (of 194 requests: p99 needs 1,000);",
		60: "7th slowest 21.8 ms, 2nd slowest 25.6 ms, max 25.8 ms (of 60 requests: p90 needs 100, p99 needs " +
			"1,000);",
	} {
		m := showtest.Measurement(1)
		m.Latency = &export.Latency{Latency: showtest.Latency()}
		m.Latency.Loaded = &record.Distribution{Count: count, P50Us: 20_400, P90Us: 21_800, P99Us: 25_600,
			P999Us: 25_700, MaxUs: 25_800}
		if text := strings.Join(strings.Fields(measureText(t, m, 200)), " "); !strings.Contains(text, want) {
			t.Errorf("%d requests: no %q in\n%s", count, want, text)
		}
	}
}
