package wording

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/trust"
)

// checked is what a test gave to package trust: trials of a run, or one trial.
type checked struct {
	Test     string
	One      bool
	Trials   []record.Trial
	Topology *topology.Topology
}

// TestChecks compares all trust checks of testdata/checks.jsonl.gz, which has an input for nearly
// each of their details, with testdata/checks.golden, as they are after they
// were stored. With -update it writes that file.
func TestChecks(t *testing.T) {
	var b strings.Builder
	for i, in := range inputs[checked](t, "checks.jsonl.gz") {
		fmt.Fprintf(&b, "== %s (%d)\n", in.Test, i)
		checks := trust.Run(in.Trials, in.Topology)
		if in.One {
			checks = trust.Trial(in.Trials[0], in.Topology)
		}
		text, err := json.Marshal(checks)
		var stored []record.Check
		if err := errors.Join(err, json.Unmarshal(text, &stored)); err != nil || !reflect.DeepEqual(stored, checks) {
			t.Errorf("%s (%d): %v: %s is not read as it was written", in.Test, i, err, text)
		}
		for _, c := range Checks(stored) {
			fmt.Fprintf(&b, "%s %s, pass %t, unevaluated %t, trial %d: %s\n", c.Check, c.Subject, c.Pass, c.Unevaluated,
				c.Trial, c.Detail)
		}
	}
	compare(t, "testdata/checks.golden", b.String())
}
