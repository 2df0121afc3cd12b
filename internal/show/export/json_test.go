package export

import (
	"bytes"
	"math"
	"testing"
	"time"

	"linerate/internal/model/record"
)

// TestNotFinite: a number that JSON does not have is null, wherever it is, and the rest is as
// it was.
func TestNotFinite(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		v    any
		want string
	}{
		{nan, "null\n"},
		{[]float64{1, nan, math.Inf(-1)}, "[1, null, null]\n"},
		{map[string]*float64{"a": &nan, "b": nil}, "{\n  \"a\": null,\n  \"b\": null\n}\n"},
		{map[string]any{"a": [2]float64{nan, 2}}, "{\n  \"a\": [null, 2]\n}\n"},
		{&record.EffectSize{Mean: 1, Low: nan},
			"{\n  \"mean\": 1,\n  \"low\": null,\n  \"high\": 0,\n  \"half\": 0\n}\n"},
		{struct {
			At  time.Time
			Bps float64
			own float64
		}{time.Unix(0, 0).UTC(), nan, nan}, "{\n  \"At\": \"1970-01-01T00:00:00Z\",\n  \"Bps\": null\n}\n"},
	} {
		var out bytes.Buffer
		if err := Indented(&out, c.v); err != nil || out.String() != c.want {
			t.Errorf("%v: %s%v, want %s", c.v, out.String(), err, c.want)
		}
	}
	if !math.IsNaN(nan) {
		t.Error("the value itself was changed")
	}
}
