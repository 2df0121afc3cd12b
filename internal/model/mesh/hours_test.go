package mesh

import (
	"testing"
	"time"
	_ "time/tzdata"
)

func TestHours(t *testing.T) {
	for _, text := range []string{"", "01:00-05:00", "22:30-05:00", "12:00-24:00", "00:00-00:01"} {
		h, err := ParseHours(text)
		if err != nil || h.String() != text {
			t.Errorf("%q: %q, %v", text, h, err)
		}
	}
	for _, text := range []string{"01:00", "1:00-5:00", "01:00-25:00", "24:01-01:00", "24:00-01:00", "05:00-05:00",
		"00:00-24:00", "01:60-02:00", "-1:00-02:00", "01:00-05:00x", "+1:00-02:00", "01:00-02:00-03:00"} {
		if h, err := ParseHours(text); err == nil {
			t.Errorf("%q is %v", text, h)
		}
	}
}

// TestClockChanges: in New York clocks go from 02:00 to 03:00 on 10 March 2024, and from 02:00 back to 01:00 on
// 3 November.
func TestClockChanges(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when.In(zone)
	}
	for _, c := range []struct{ hours, from, next, end string }{
		{"01:00-05:00", "2024-06-01T00:59:30-04:00", "2024-06-01T01:00:00-04:00", ""},
		{"01:00-05:00", "2024-06-01T01:00:30-04:00", "2024-06-01T01:00:30-04:00", "2024-06-01T05:00:00-04:00"},
		{"01:00-05:00", "2024-06-01T05:00:00-04:00", "2024-06-02T01:00:00-04:00", ""},
		{"22:00-05:00", "2024-06-01T23:00:00-04:00", "2024-06-01T23:00:00-04:00", "2024-06-02T05:00:00-04:00"},
		{"22:00-05:00", "2024-06-01T05:00:00-04:00", "2024-06-01T22:00:00-04:00", ""},
		// An hour shorter, and an hour longer.
		{"01:00-05:00", "2024-03-10T01:00:00-05:00", "2024-03-10T01:00:00-05:00", "2024-03-10T05:00:00-04:00"},
		{"01:00-05:00", "2024-11-03T01:00:00-04:00", "2024-11-03T01:00:00-04:00", "2024-11-03T05:00:00-05:00"},
		// It begins in the hour that there is not, or is all in it.
		{"02:30-05:00", "2024-03-10T01:00:00-05:00", "2024-03-10T03:00:00-04:00", ""},
		{"02:15-02:45", "2024-03-10T01:00:00-05:00", "2024-03-11T02:15:00-04:00", ""},
		// The hour that there is twice.
		{"01:00-01:30", "2024-11-03T01:40:00-04:00", "2024-11-03T01:00:00-05:00", ""},
	} {
		h, err := ParseHours(c.hours)
		if err != nil {
			t.Fatal(err)
		}
		from := at(c.from)
		if got := h.Next(from); !got.Equal(at(c.next)) || !h.Within(got) {
			t.Errorf("%s from %s: next %s, expected %s", c.hours, c.from, got, c.next)
		}
		if c.end == "" {
			c.end = c.from // not within
		}
		if got := h.End(from); !got.Equal(at(c.end)) || h.Within(got) {
			t.Errorf("%s from %s: end %s, expected %s", c.hours, c.from, got, c.end)
		}
	}
	now := at("2024-06-01T00:59:30-04:00")
	if all := (Hours{}); !all.Within(now) || !all.Next(now).Equal(now) || !all.End(now).IsZero() {
		t.Error("all day")
	}
}
