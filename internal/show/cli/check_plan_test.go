package cli

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/study"
	"linerate/internal/model/unit"
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

// TestChanges: levels that change nothing but options of flows are among the changes.
func TestChanges(t *testing.T) {
	const text = `
factors:
  fix:
    levels:
      defaults: {}
      bbr: {workload: {congestion_control: bbr}}
      both: {settings: [{host: a, sysctl: {net.ipv4.tcp_sack: 0}}], workload: {congestion_control: bbr, window: 4MiB}}
`
	plan := pairPlan(t, text)
	var got []string
	for _, row := range newPlanDocument(plan, 0).changes().Rows {
		line := ""
		for _, cell := range row.Cells {
			line += cell.Text + " | "
		}
		got = append(got, line)
	}
	want := []string{"bbr | flows: congestion_control bbr | ", "both | a: sysctl net.ipv4.tcp_sack=0 | ",
		" | flows: congestion_control bbr | ", " | flows: window 4MiB | "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPlanSensitivityOfTheBudget: what is promised is what the blocks detect that the budget
// has time for.
func TestPlanSensitivityOfTheBudget(t *testing.T) {
	const text = `
factors:
  sack:
    levels:
      plain: {}
      without: {settings: [{host: a, sysctl: {net.ipv4.tcp_sack: 0}}]}
design: {replicates: 8}
`
	plan := pairPlan(t, text)
	whole := planSensitivity(plan, 0)
	budget := unit.Duration(5*plan.BlockTime() + plan.BlockTime()/2)
	if err := plan.Redesign(study.Redesign{Budget: &budget}); err != nil {
		t.Fatal(err)
	}
	if got := planSensitivity(plan, 0); whole.Blocks != 8 || got.Blocks != 5 || got.Detectable <= whole.Detectable {
		t.Errorf("8 blocks: %+v; a budget for 5: %+v", whole, got)
	}
	reserve := len(plan.Treatments) // a block
	if got := planSensitivity(plan, reserve); got.Blocks != 4 ||
		!strings.HasSuffix(planTime(plan, reserve), "(budget): 4 of 8 blocks and the proof of what is kept") {
		t.Errorf("with a block for the proof: %+v, %s", got, planTime(plan, reserve))
	}
}

// pairPlan is the plan of two hosts with a link, and the rest of a study.
func pairPlan(t *testing.T, rest string) *study.Plan {
	t.Helper()
	s, err := study.Parse("x.yaml", []byte(`
study: pair
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a, to: b, rate: 300mbit}]
workload:
  flows: [{from: a, to: b}]
`+rest))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestPlanShapes: links with the same properties are one row, and a direction that differs is named.
func TestPlanShapes(t *testing.T) {
	const text = `
study: paths
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}, eth1: {addresses: [10.0.1.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}, eth1: {addresses: [10.0.1.2/24]}}}
    c: {interfaces: {eth0: {addresses: [10.0.2.1/24]}}}
    d: {interfaces: {eth0: {addresses: [10.0.2.2/24]}}}
  links:
    - {from: a.eth0, to: b.eth0, rate: 100mbit, delay: 20ms, loss: 0.05%}
    - {from: c.eth0, to: d.eth0, rate: 10mbit, reverse: {rate: 1mbit, jitter: 2ms, delay: 9ms}}
    - {from: a.eth1, to: b.eth1, rate: 100mbit, delay: 20ms, loss: 0.05%}
workload:
  flows: [{from: a, to: b, destination: 10.0.0.2}]
`
	s, err := study.Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	want := []planShape{
		{Links: []string{"a.eth0 – b.eth0", "a.eth1 – b.eth1"}, Forward: "100 Mbit/s, delay 20ms, loss 0.05%"},
		{Links: []string{"c.eth0 – d.eth0"}, Forward: "10 Mbit/s, no delay, no jitter",
			Reverse: "1 Mbit/s, delay 9ms, jitter 2ms"},
	}
	if got := newPlanDocument(plan, 0).Shapes; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
