package present

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
)

// TestUntried: what is not tried for one reason stands with that reason once, and a
// correction stands under Corrected whether it is tried or not.
func TestUntried(t *testing.T) {
	d := Tune(&record.Tune{Settings: []record.TuneSetting{
		{Key: "net.a", Value: "1", Verdict: record.NotTried, Why: "machine-wide", Corrected: "net.a = 1k"},
		{Key: "net.b", Value: "2", Verdict: record.NotTried, Why: "gone"},
		{Key: "net.c", Value: "3", Verdict: record.NotTried, Why: "machine-wide"},
	}}, "list", nil, nil)
	got := []string{}
	for _, blocks := range d.Summary {
		for _, b := range blocks {
			if p, is := b.(document.Prose); is {
				got = append(got, p.Text)
			}
		}
	}
	want := []string{"net.a = 1: the list has net.a = 1k", "net.a = 1; net.c = 3: machine-wide", "net.b = 2: gone"}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
