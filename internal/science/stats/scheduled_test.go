package stats

import (
	"testing"

	"linerate/internal/model/record"
)

// TestScheduled: an outage in which one request is lost for each of ten connections delays those due
// meanwhile: they are late, or not sent at the end of the window, and are no part of what is available.
func TestScheduled(t *testing.T) {
	// 100 requests a second for 600 s. In an outage of 11 s ten are lost, and 1,090 are sent late.
	h := NewHistogram()
	for i := range 60_000 - 10 {
		us := int64(200)
		if i < 1090 {
			us = 1_500_000 + int64(i)
		}
		if err := h.RecordValue(us * 1000); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Distribution(h)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		done, lost, waiting int64
		longestUs           float64
		want                record.Scheduled
	}{
		"worked off": {59_990, 10, 0, 0, record.Scheduled{Due: 60_000, InTime: 58_900, Late: 1090, Lost: 10}},
		"not worked off": {59_990 - 500, 10, 500, 5e6, record.Scheduled{Due: 60_000, InTime: 58_400,
			Late: 1090, Lost: 10, Unsent: 500}},
		"in flight at the edge": {59_985, 10, 5, 200, record.Scheduled{Due: 59_995, InTime: 58_895,
			Late: 1090, Lost: 10}},
	} {
		f := record.Flow{Protocol: "udp-rr", PacePerS: 100, Transactions: &record.Transactions{Done: c.done,
			Unanswered: c.lost, Waiting: c.waiting, LongestWaitUs: c.longestUs, Connections: 10, Latency: all}}
		got, err := Counts([]record.Flow{f}, 600)
		c.want.WithinS, c.want.Share = 1, float64(c.want.InTime)/float64(c.want.Due)
		if err != nil || got.Scheduled == nil || *got.Scheduled != c.want {
			t.Errorf("%s: %+v, %v", name, got.Scheduled, err)
		}
		f.PacePerS = 0
		if got, _ := Counts([]record.Flow{f}, 600); got.Scheduled != nil {
			t.Errorf("%s, without a pace: %+v", name, got.Scheduled)
		}
	}
}
