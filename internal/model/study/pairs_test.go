package study_test

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/study"
)

// pairStudy is a study of four hosts with flows, and what else is in the file.
func pairStudy(flows, more string) string {
	return `study: pairs
question: which host is slow?
topology:
  hosts:
    h{i=1..4}: {interfaces: {eth0: {addresses: ["10.0.0.{i}/24"]}}}
  switches: {switch: {}}
  links: [{from: "h{1..4}", to: switch, rate: 100mbit}]
workload:
  flows:
` + flows + "\n" + more
}

// TestPairsOfHosts: flows that name pairs are a flow for each, at once or in rounds.
func TestPairsOfHosts(t *testing.T) {
	for _, test := range []struct {
		flows      string
		treatments int
		pairs      int // of all treatments
		most       int // flows of a treatment from a host, and to it
		compares   bool
	}{
		{`    - {pairs: all}`, 1, 12, 3, true},
		{`    - {pairs: all, rounds: true}`, 3, 12, 1, true},
		{`    - {pairs: shifts, rounds: true}`, 3, 12, 1, true},
		{`    - {pairs: pairs, rounds: true}`, 3, 12, 1, true},
		{`    - {pairs: ring, rounds: true}`, 2, 8, 1, true},
		{`    - {pairs: triage, rounds: true}`, 3, 12, 1, true},
		{`    - {pairs: all, among: "h{1..3}", rounds: true}`, 2, 6, 1, true},
		{`    - {pairs: all, among: ["h{1..2}", h4]}`, 1, 6, 2, true},
		{`    - {from: [h1, h2], to: [h3, h4]}`, 1, 4, 2, true},
		{`    - {from: [h1, h2], to: [h2, h3], rounds: true}`, 2, 3, 1, true},
		{`    - {from: "h{1..4}", to: "h{1..4}", rounds: true}`, 3, 12, 1, true},
		{`    - {from: "h{1..4}", to: "h{1..4}"}`, 1, 12, 3, false}, // without those from a host to itself
		{`    - {from: h1, to: h2}`, 1, 1, 1, false},
	} {
		s, err := study.Parse("f", []byte(pairStudy(test.flows, "")))
		if err != nil {
			t.Errorf("%s: %v", test.flows, err)
			continue
		}
		plan, err := study.NewPlan(s)
		if err != nil {
			t.Fatal(err)
		}
		pairs, most := map[string]bool{}, 0
		for _, tr := range plan.Treatments {
			ends := map[string]int{}
			for _, f := range tr.Flows {
				pairs[f.Opener+" "+f.Acceptor] = true
				ends["from "+f.Opener]++
				ends["to "+f.Acceptor]++
				most = max(most, ends["from "+f.Opener], ends["to "+f.Acceptor])
			}
		}
		if len(plan.Treatments) != test.treatments || len(pairs) != test.pairs || most != test.most ||
			s.PairsOfHosts != test.compares {
			t.Errorf("%s: %d treatments, %d pairs, %d flows of a host, %v", test.flows, len(plan.Treatments), len(pairs),
				most, s.PairsOfHosts)
		}
	}
}

// TestRoundsBesides: other flows are in each round, options of a flow are those of its pairs, and other factors are
// crossed with the rounds.
func TestRoundsBesides(t *testing.T) {
	file := pairStudy("    - {pairs: all, among: [h1, h2, h3], rounds: true, streams: 2}\n    - {from: h4, to: h1}",
		"factors: {mtu: {levels: {small: {}, large: {settings: [{host: h1, sysctl: {net.ipv4.tcp_sack: 0}}]}}}}")
	s, err := study.Parse("f", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Treatments) != 4 {
		t.Fatalf("%d treatments", len(plan.Treatments))
	}
	for _, tr := range plan.Treatments {
		from := map[string]int{}
		for _, f := range tr.Flows {
			from[f.Opener]++
		}
		if got := fmt.Sprint(from); got != "map[h1:2 h2:2 h3:2 h4:1]" || !strings.HasPrefix(tr.Levels["round"],
			"round ") {
			t.Errorf("%s: %s", tr.Name, got)
		}
	}
	again, err := study.Parse("f", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range again.Workload.Flows { // a resumed run has the same rounds
		if f.From != s.Workload.Flows[k].From || f.To != s.Workload.Flows[k].To {
			t.Errorf("flow %d differs", k)
		}
	}
}

func TestPairProblems(t *testing.T) {
	for flows, want := range map[string]string{
		`    - {pairs: al}`:                                                   `f:10:15: pairs: expected all, shifts, pairs, ring, halves or triage, not "al"; did you mean "all"?`,
		`    - {pairs: all, from: h1}`:                                        `f:10:26: from: pairs has the hosts`,
		`    - {from: h1, to: h2, among: [h1]}`:                               `f:10:26: among: the hosts of what?`,
		`    - {pairs: all, among: [h1]}`:                                     `f:10:15: pairs: hosts: expected 2`,
		`    - {pairs: all, among: [h1, h9]}`:                                 `f:10:27: no host "h9"`,
		`    - {from: [h1], to: [h1]}`:                                        `f:10:7: from and to have no two different hosts`,
		`    - {from: h1, to: h1}`:                                            `never leaves the host`,
		`    - {pairs: all, rounds: maybe}`:                                   `f:10:28: rounds: expected true or false`,
		`    - {pairs: all, to: h1}`:                                          `to: pairs has the hosts`,
		"    - {pairs: all, rounds: true}\n    - {pairs: ring, rounds: true}": `f:11:29: rounds: one flow of the workload can have them`,
	} {
		_, err := study.Parse("f", []byte(pairStudy(flows, "")))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", flows, err, want)
		}
	}
	for more, want := range map[string]string{
		`factors: {round: {levels: {a: {}, b: {}}}}`:                                            `the rounds of pairs are a factor of the name "round" already`,
		`factors: {x: {levels: {a: {}, b: {workload: {flows: [{pairs: all, rounds: true}]}}}}}`: `and none of a level`,
	} {
		_, err := study.Parse("f", []byte(pairStudy("    - {pairs: all, rounds: true}", more)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", more, err, want)
		}
	}
}
