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

// TestSentences: each sentence of the answer is a paragraph, and what linerate added to a list is
// marked in its row and named with the reason.
func TestSentences(t *testing.T) {
	d := Tune(&record.Tune{Run: "tune-7", Responses: []string{"goodput"},
		Answer: "The list does 1.2 things. net.a helps. net.b harms.", Settings: []record.TuneSetting{
			{Key: "net.a", Value: "1", Verdict: record.Helps},
			{Key: "net.c", Value: "1", Verdict: record.NoDifference, Added: "it is the default"},
			{Key: "net.d", Value: "1", Verdict: record.NoDifference, Added: "the other is in use",
				Corrected: "net.d = 2"},
		}}, "list", nil, nil)
	got := []string{d.Answer}
	for _, blocks := range d.Summary {
		for _, b := range blocks {
			switch b := b.(type) {
			case document.Prose:
				got = append(got, b.Text)
			case *document.Table:
				for _, row := range b.Rows {
					got = append(got, strings.TrimSpace(row.Cells[0].Text))
				}
			}
		}
	}
	for _, want := range []string{
		"The list does 1.2 things.", "net.a helps.", "net.b harms.", "net.c (added)", "net.d",
		"net.c = 1 is added: it is the default",
		"net.d = 1 is tried in place of the list's net.d = 2: the other is in use",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, strings.Join(got, "\n"))
		}
	}
}
