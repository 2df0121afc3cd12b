package wording

import (
	"fmt"
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
// each of their details, with testdata/checks.golden. With -update it writes that file.
func TestChecks(t *testing.T) {
	var b strings.Builder
	for i, in := range inputs[checked](t, "checks.jsonl.gz") {
		fmt.Fprintf(&b, "== %s (%d)\n", in.Test, i)
		checks := trust.Run(in.Trials, in.Topology)
		if in.One {
			checks = trust.Trial(in.Trials[0], in.Topology)
		}
		for _, c := range checks {
			fmt.Fprintf(&b, "%s %s, pass %t, unevaluated %t, trial %d: %s\n", c.Check, c.Subject, c.Pass, c.Unevaluated,
				c.Trial, c.Detail)
		}
	}
	compare(t, "testdata/checks.golden", b.String())
}
