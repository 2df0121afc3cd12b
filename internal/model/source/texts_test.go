package source

import (
	"slices"
	"strings"
	"testing"
)

func TestTexts(t *testing.T) {
	for text, want := range map[string][]string{
		"nas":                       {"nas"},
		"10.0.0.{1..3}":             {"10.0.0.1", "10.0.0.2", "10.0.0.3"},
		"10.{p=1..2}.0.{10*p}:5202": {"10.1.0.10:5202", "10.2.0.20:5202"},
		"10.0.{0..1}.{1..2}":        {"10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.2"},
		"":                          {""},
	} {
		if got, err := Texts(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"10.0.0.{1..": "a brace is not closed", "10.0.0.{3..1}": "runs backwards", "10.0.0.{p}": `"p" is not bound`,
		"{0..1000000}": "more than 100000 copies", "{1..2}{0..9999999999}": "too large",
	} {
		if got, err := Texts(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d texts, %v; want %q", text, len(got), err, want)
		}
	}
}
