package study

import (
	"strings"
	"testing"
)

// routed is two hosts on networks of their own, with a router between.
const routed = `
study: routed
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    r: {forward: true, interfaces: {lan: {addresses: [10.0.0.254/24]}, wan: {addresses: [10.1.0.254/24]}}}
    b: {interfaces: {eth0: {addresses: [10.1.0.2/24]}}, routes: [{to: default, via: 10.1.0.254}]}
  links:
    - {from: a, to: r.lan, rate: 1gbit}
    - {from: r.wan, to: b, rate: 100mbit, delay: 5ms}
workload:
  flows: [FLOW]
factors:
  f:
    levels:
      plain: {PLAIN}
      with:
        settings: [SETTINGS]
`

// TestWaysOfTreatments: a flow is held to the topology as each treatment has it.
func TestWaysOfTreatments(t *testing.T) {
	const (
		route   = "{host: a, route: {to: 10.1.0.0/16, via: 10.0.0.254}}"
		alias   = "{host: b, address: {interface: eth0, address: 10.1.0.7/24}}"
		inTable = "{host: a, route: {to: 10.1.0.0/16, via: 10.0.0.254, table: 7}}, {host: a, rule: {to: " +
			"10.1.0.0/16, table: 7}}"
		to7 = "{from: a, to: b, destination: 10.1.0.7}"
	)
	for _, test := range []struct {
		name, flow, plain, settings string
		want                        string // in the error; empty: accepted
	}{
		{"a route that every treatment needs", "{from: a, to: b}", "", route,
			`unreachable flow in treatment "plain": no path from a to 10.1.0.2`},
		{"that may be missing", "{from: a, to: b}", "unreachable: true", route, ""},
		{"in a table", "{from: a, to: b}", "unreachable: true", inTable, ""},
		{"a table that no rule leads to", "{from: a, to: b}", "unreachable: true",
			strings.Split(inTable, ", {host: a, rule")[0], `unreachable flow in treatment "with"`},
		{"an address at its level only", to7, "workload: {flows: [{from: r, to: b}]}", route + ", " + alias, ""},
		{"an address at another level", to7, "unreachable: true", route + ", " + alias,
			`10.1.0.7 is not an address of "b" in treatment "plain": expected 10.1.0.2`},
		{"a source with a route to it", "{from: b, to: a, source: 10.1.0.7}", "workload: {flows: [{from: r, to: b}]}",
			route + ", " + alias, ""},
		{"a route that prefers what the level adds", "{from: r, to: b}", "",
			alias + ", {host: b, route: {to: 10.0.0.0/24, via: 10.1.0.254, source: 10.1.0.7}}", ""},
		{"a bucket without a burst", "{from: r, to: b}", "",
			"{host: a, qdisc: {interface: eth0, kind: tbf, rate: 1mbit}}", "tbf needs a rate and a burst"},
		{"a qdisc before a delay", "{from: r, to: b}", "", "{host: b, qdisc: {interface: eth0, kind: fq}}", ""},
	} {
		text := strings.NewReplacer("FLOW", test.flow, "PLAIN", test.plain, "SETTINGS", test.settings).Replace(routed)
		_, err := Parse("test.yaml", []byte(text))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) ||
			strings.Count(err.Error(), "\n") > 0):
			t.Errorf("%s: got %v, want only %q", test.name, err, test.want)
		}
	}
}

// TestDestinationThatLevelsAdd: a host that has addresses in treatments only.
func TestDestinationThatLevelsAdd(t *testing.T) {
	text := strings.Replace(pair, `{addresses: [10.9.0.2/24, 10.0.0.2/24, "fd00::2/64"]}`, "{}", 1) + `
factors:
  alias:
    levels:
      one: {settings: [{host: b, address: {interface: eth0, address: 10.0.0.7/24}}]}
      two: {settings: [{host: b, address: {interface: eth0, address: 10.0.0.8/24}}]}
`
	p := plan(t, parse(t, text))
	for i, want := range []string{"10.0.0.7", "10.0.0.8"} {
		if got := p.Treatments[i].Flows[0].Destination.String(); got != want {
			t.Errorf("%s: the flow goes to %s, want %s", p.Treatments[i].Name, got, want)
		}
	}
}
