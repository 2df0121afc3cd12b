package study

import (
	"testing"

	"linerate/internal/model/record"
)

// TestPlanOfKeepsPaths: a run that is resumed elsewhere finds the credentials of its switches
// where the study was that it was begun with.
func TestPlanOfKeepsPaths(t *testing.T) {
	const text = `study: behind-a-switch
topology:
  hosts:
    a: {via: [ssh, a], interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {via: [ssh, b], interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  switches:
    sg300: {snmp: {address: 192.0.2.9, credentials: sg300.snmp}}
    other: {snmp: {address: "[2001:db8::1]:161", credentials: /etc/other.snmp}}
  links:
    - {from: a, to: sg300}
    - {from: sg300, to: other}
    - {from: b, to: other}
workload:
  flows:
    - {from: a, to: b}
design: {replicates: 1}
`
	s, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s.Topology.Locate("/srv/studies")
	plan, err := PlanOf(&record.Run{StudyFile: text, Topology: s.Topology, Design: record.Design{Replicates: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"sg300": "/srv/studies/sg300.snmp", "other": "/etc/other.snmp"} {
		if got, _ := plan.Study.Topology.Switch(name); got.SNMP.Credentials != want {
			t.Errorf("%s: %s", name, got.SNMP.Credentials)
		}
	}
	for address, want := range map[string]string{"192.0.2.9": "192.0.2.9", "rack.example.org:1161": "rack.example.org",
		"2001:db8::1": "2001:db8::1"} {
		one := *s.Topology.Switches[0].SNMP
		one.Address = address
		if host, _, ok := one.Endpoint(); host != want || !ok {
			t.Errorf("%s: %s, %t", address, host, ok)
		}
	}
}
