package answer

import (
	"testing"

	"linerate/internal/model/record"
)

// TestBecause: a kept file has the value that each setting was proven against.
func TestBecause(t *testing.T) {
	for want, prior := range map[string]map[string]string{
		"corrected from x = 1":                                nil,
		"was 4096 131072; corrected from x = 1":               {"a": "4096 131072", "b": "4096 131072"},
		"was 2 on a, 0 on b and 1 on c; corrected from x = 1": {"c": "1", "a": "2", "b": "0"},
	} {
		if got := (TuneWords{}).Because(record.TuneSetting{Prior: prior, Corrected: "x = 1"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNotRead: the answer says how much of the list was not read, and so not tried.
func TestNotRead(t *testing.T) {
	for n, want := range map[int]string{
		0: "Nothing of the list can be tried here.",
		1: "Nothing of the list can be tried here. 1 line of the list was not read, and not tried.",
		3: "Nothing of the list can be tried here. 3 lines of the list were not read, and not tried.",
	} {
		shown := Tune(&record.Tune{Lint: &record.Lint{Unread: make([]record.LintUnread, n)}})
		if shown.Answer != want {
			t.Errorf("%q, want %q", shown.Answer, want)
		}
	}
}
