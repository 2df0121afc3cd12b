package study

import (
	"slices"
	"strings"
	"testing"
)

const inParts = pair + `
factors:
  connections: {levels: {"1": {}, "2": {workload: {copies: 2}}, "5": {workload: {copies: 5}}}}
  addresses:
    levels:
      "1": {}
      "2": {settings: [{host: b, address: {interface: eth0, address: 10.0.0.3/24}}], workload: {destinations: all}}
      "5": {settings: [{host: b, address: {interface: eth0, address: "10.0.0.{3..6}/24"}}], workload: {destinations: all}}
  way: {role: condition, levels: {there: {}, back: {workload: {direction: read}}}}
  cc: {levels: {cubic: {}, reno: {workload: {congestion_control: reno}}}}
  mss: {levels: {full: {}, small: {workload: {mss: 500}}, tiny: {workload: {mss: 100}}}}
design:
  parts:
    crossed: {levels: {connections: ["1", "5"], addresses: ["1", "5"], way: [there]}}
    rows: {levels: {connections: ["1", "2", "5"], addresses: ["1", "2", "5"], way: [there]}, together: [connections, addresses]}
    others: {levels: {connections: ["2"]}, one_by_one: [cc, mss], on_demand: true}
`

func namesOf(p *Plan) (list []string) {
	for _, t := range p.Treatments {
		list = append(list, t.Name)
	}
	return list
}

// TestParts: a design of parts tries theirs alone, each combination once, and in the
// order of the levels; what is on demand only if it is named.
func TestParts(t *testing.T) {
	s := parse(t, inParts)
	crossed := []string{"connections 1, addresses 1, there", "connections 1, addresses 5, there",
		"connections 5, addresses 1, there", "connections 5, addresses 5, there"}
	normal := slices.Insert(slices.Clone(crossed), 2, "connections 2, addresses 2, there")
	others := []string{
		"connections 2, addresses 1, there", "connections 2, addresses 1, small, there",
		"connections 2, addresses 1, tiny, there",
		"connections 2, addresses 1, reno, there", "connections 2, addresses 1, back",
		"connections 2, addresses 1, small, back",
		"connections 2, addresses 1, tiny, back", "connections 2, addresses 1, reno, back",
	}
	for _, test := range []struct {
		ask  []string
		want []string
	}{
		{nil, normal}, {[]string{"crossed"}, crossed}, {[]string{"others"}, others},
		{[]string{AllParts}, slices.Concat(crossed[:2], others, normal[2:])},
	} {
		p, err := NewPlan(s, test.ask...)
		if err != nil {
			t.Fatal(err)
		}
		if got := namesOf(p); !slices.Equal(got, test.want) {
			t.Errorf("parts %v:\n%s\nwant\n%s", test.ask, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
	p, err := NewPlan(s, "crossed")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Only([]string{"back"}); err == nil || !strings.Contains(err.Error(), "no treatment has back") {
		t.Errorf("a level that no part has: %v", err)
	}
	if _, err := NewPlan(s, "row"); err == nil || err.Error() != `no part "row" in study pair; did you mean "rows"?` {
		t.Errorf("%v", err)
	}
	if _, err := NewPlan(parse(t, pair), "rows"); err == nil ||
		!strings.Contains(err.Error(), "study pair has no parts") {
		t.Errorf("%v", err)
	}
	if p, err := NewPlan(parse(t, pair), AllParts); err != nil || len(p.Treatments) != 1 {
		t.Errorf("%v, %v", p, err)
	}
}

// TestCopies: copies of a flow go to one address, or to all in turn, those that a level
// adds as well; each is a process of its own, and addresses of other networks are none
// of theirs.
func TestCopies(t *testing.T) {
	p := plan(t, parse(t, inParts, "workload.tool=iperf"))
	want := map[string]string{
		"connections 1, addresses 5, there": "p1w 10.0.0.2",
		"connections 2, addresses 2, there": "p1w 10.0.0.2, p2w 10.0.0.3",
		"connections 5, addresses 1, there": "p1w 10.0.0.2, p2w 10.0.0.2, p3w 10.0.0.2, p4w 10.0.0.2, p5w 10.0.0.2",
		"connections 5, addresses 5, there": "p1w 10.0.0.2, p2w 10.0.0.3, p3w 10.0.0.4, p4w 10.0.0.5, p5w 10.0.0.6",
	}
	for _, tr := range p.Treatments {
		var got []string
		for _, f := range tr.Flows {
			got = append(got, f.Process+" "+f.Destination.String())
		}
		if w, asked := want[tr.Name]; asked && strings.Join(got, ", ") != w {
			t.Errorf("%s: %s, want %s", tr.Name, strings.Join(got, ", "), w)
		}
		delete(want, tr.Name)
	}
	if len(want) > 0 {
		t.Errorf("not tried: %v", want)
	}
}
