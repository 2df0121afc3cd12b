package suspects

import (
	"encoding/json"
	"testing"

	plan "linerate/internal/model/mesh"
)

// TestFailedPairs: a mesh of few hosts, of which most pairs failed, has a conclusion that can be stored.
func TestFailedPairs(t *testing.T) {
	in := Input{Hosts: []plan.Host{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}}
	in.Observations = []Observation{{0, 0, 1, 46e6, 47e6, false}, {0, 1, 2, 0, 47e6, true}, {0, 2, 3, 0, 47e6, true},
		{0, 3, 0, 0, 47e6, true}, {1, 0, 2, 45e6, 47e6, false}, {1, 1, 3, 0, 47e6, true}, {1, 2, 0, 44e6, 47e6, false},
		{1, 3, 1, 0, 47e6, true}}
	for n := range len(in.Observations) {
		some := in
		some.Observations = in.Observations[:n+1]
		c := Conclude(some)
		if _, err := json.Marshal(c); err != nil {
			t.Errorf("%d pairs: %v: %+v", n+1, err, c)
		}
	}
}
