package answer

import (
	"testing"

	"linerate/internal/model/record"
)

func TestOutageWords(t *testing.T) {
	for _, c := range []struct {
		group record.OutageGroup
		want  string
	}{
		{record.OutageGroup{}, "–"},
		{record.OutageGroup{Flows: 9}, "less than 8 ms"},
		{record.OutageGroup{Flows: 9, MostLostS: 0.214}, "less than 8 ms (longest 214 ms)"},
		{record.OutageGroup{Flows: 9, LostS: 0.214, MostLostS: 0.214}, "214 ms"},
		{record.OutageGroup{Flows: 9, LostS: 0.214, MostLostS: 3.456}, "214 ms (longest 3.46 s)"},
		{record.OutageGroup{Flows: 9, LostS: 0.214, MostLostS: 2, Stopped: 2},
			"214 ms (2 of 9 for the rest of the window)"},
		{record.OutageGroup{Flows: 9, LostS: 2, MostLostS: 2, Stopped: 9}, "the rest of the window"},
		{record.OutageGroup{Flows: 1, LostS: 1.5, LostAtMostS: 2.5, MostLostS: 1.5}, "1.5 s to 2.5 s"},
		{record.OutageGroup{Flows: 9, LostAtMostS: 2}, "less than 2 s"},
	} {
		if got := LostFor(c.group, 0.008); got != c.want {
			t.Errorf("%+v is %q, want %q", c.group, got, c.want)
		}
	}
	for want, g := range map[string]record.OutageGroup{"none of 3": {Flows: 3}, "all 3": {Flows: 3, Moved: 3},
		"1 of 3 (33 %)": {Flows: 3, Moved: 1}, "–": {}} {
		if got := Moved(g); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
