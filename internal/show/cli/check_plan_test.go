package cli

import (
	"strings"
	"testing"

	"linerate/internal/model/study"
)

// TestIfShaped: check names the figure that a run finds where a real host's link is virtual
// or shaped; a lab's links are shaped in any case.
func TestIfShaped(t *testing.T) {
	const text = `
study: pair
topology:
  hosts:
    a: {VIA interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {VIA interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b, rate: 300mbit}]
workload:
  flows: [{from: a, to: b}]
`
	for via, want := range map[string]string{
		"":           "",
		"via: [x], ": "the limit is 286.9 Mbit/s in place of 282.4 Mbit/s",
	} {
		s, err := study.Parse("x.yaml", []byte(strings.ReplaceAll(text, "VIA ", via)))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := study.NewPlan(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := ifShaped(plan); !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q, want %q", via, got, want)
		}
	}
}
