package evidence

import (
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
)

// TestLimits: limits that are spelled alike are one, and others are said with what they are
// of.
func TestLimits(t *testing.T) {
	treatment := func(bps float64, why string) []*record.Treatment {
		return []*record.Treatment{{LimitBps: bps, LimitWhy: why}}
	}
	for _, c := range []struct {
		rows []view.Row
		want string
	}{
		{[]view.Row{{Name: "write", Treatments: treatment(0, "unknown")}}, ""},
		{[]view.Row{{Name: "write", Treatments: treatment(95.641e6, "tbf")},
			{Name: "read", Treatments: treatment(95.639e6, "tbf")}}, "95.64 Mbit/s = tbf"},
		{[]view.Row{{Name: "write", Treatments: treatment(95.641e6, "tbf of client")},
			{Name: "read", Treatments: treatment(95.639e6, "tbf of server")}}, "95.64 Mbit/s"},
		{[]view.Row{{Name: "write", Treatments: treatment(95.64e6, "tbf")},
			{Name: "read", Treatments: treatment(286.9e6, "tbf")}}, "95.64 Mbit/s for write, 286.9 for read"},
		{[]view.Row{{Name: "a", Treatments: treatment(1e6, "")}, {Name: "b", Treatments: treatment(2e6, "")},
			{Name: "c", Treatments: treatment(3e6, "")}, {Name: "d", Treatments: treatment(4e6, "")},
			{Name: "e", Treatments: treatment(5e6, "")}},
			"1.000 to 5.000 Mbit/s, by treatment"},
	} {
		v := view.New(&record.Run{Treatments: []record.Treatment{{Name: "write"}}})
		v.Scale, v.Rows = number.BitScale(95e6), c.rows
		if got := limitOf(v, 0); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
