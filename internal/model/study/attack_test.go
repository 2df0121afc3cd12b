package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/attacks"
)

// labWith is a study with an attack of a kind, and with a line more of its topology.
func labWith(k attacks.Kind, more string) string {
	extra := ""
	if k.Name == attacks.ARPSpoofing {
		extra = ", claims: client"
	}
	return fmt.Sprintf(`study: attacked
topology:
  hosts:
    client: {interfaces: {eth0: {addresses: [10.0.0.1/24, "fd00::1/64"]}}}
    attacker: {interfaces: {eth0: {addresses: [10.0.0.66/24, "fd00:1::1/64"]}}, routes: [{to: "fd00::/64", via: "fd00:1::fe"}]}
    server: {interfaces: {eth0: {addresses: [10.0.0.2/24, "fd00::2/64"]}}, routes: [{to: "fd00:1::/64", via: "fd00::fe"}]}
    router: {forward: true, interfaces: {eth0: {addresses: ["fd00::fe/64"]}, eth1: {addresses: ["fd00:1::fe/64"]}}}
%s  switches:
    switch:
    other:
  links:
    - {from: client, to: switch}
    - {from: attacker, to: switch}
    - {from: server, to: switch}
    - {from: router.eth0, to: switch}
    - {from: router.eth1, to: switch}
workload:
  flows:
    - {from: client, to: server, protocol: http, pace: 10}
    - {from: client, to: server, protocol: udp-rr, pace: 10}
  attacks:
    - {kind: %s, from: attacker, to: server%s}
`, more, k.Name, extra)
}

// TestAttacksArePlanned: an attack of each kind gets its address, and its port from the flow
// that connects to the same host.
func TestAttacksArePlanned(t *testing.T) {
	for _, k := range attacks.Kinds {
		s, err := Parse("attacked.yaml", []byte(labWith(k, "")))
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		list := plan(t, s).Treatments[0].Attacks
		if len(list) != 1 {
			t.Errorf("%s: %d attacks", k.Name, len(list))
			continue
		}
		a := list[0]
		destination, f := "10.0.0.2", ""
		if k.Family == 6 {
			destination = "fd00::2"
		}
		switch k.Transport {
		case "tcp":
			f = "f1"
		case "udp":
			f = "f2"
		}
		if a.Destination.String() != destination || a.Flow != f || !a.Network.Contains(a.Destination) ||
			a.PerSecond() != k.Rate || a.AtATime() != k.Connections {
			t.Errorf("%s: %+v", k.Name, a)
		}
	}
}

// TestAttacksAreOfLabs: an attack of any kind is refused as soon as one host or switch is one
// that linerate does not make, whether the workload has it or a level, before anything is
// started.
func TestAttacksAreOfLabs(t *testing.T) {
	for _, k := range attacks.Kinds {
		for _, real := range []string{
			"    nas: {via: [ssh, root@nas], interfaces: {eth0: {addresses: [192.168.1.2/24]}}}\n",
			"    nas: {via: [env], interfaces: {eth0: {addresses: [192.168.1.2/24]}}}\n",
		} {
			refused(t, k, labWith(k, real))
		}
		for _, real := range []string{"other: {unmanaged: true}", "other: {via: [ssh, root@rack], bridge: br0}",
			"other: {snmp: {address: 192.0.2.1, credentials: rack.yaml}}"} {
			refused(t, k, strings.Replace(labWith(k, ""), "    other:\n", "    "+real+"\n", 1))
		}
		file := labWith(k, "    nas: {via: [env], interfaces: {eth0: {addresses: [192.168.1.2/24]}}}\n")
		before, line, _ := strings.Cut(file, "  attacks:\n    - ")
		refused(t, k, before+"factors:\n  attack:\n    levels:\n      none: {}\n      attacked: {workload: {attacks: ["+
			strings.TrimSpace(line)+"]}}\n")
	}
}

func refused(t *testing.T, k attacks.Kind, file string) {
	t.Helper()
	s, err := Parse("attacked.yaml", []byte(file))
	if err == nil || !strings.Contains(err.Error(), "attacks are made in labs alone, and ") {
		t.Errorf("%s: %v\n%s", k.Name, err, file)
	}
	if s != nil {
		t.Errorf("%s: there is a study", k.Name)
	}
}

// TestLevelsReplaceAttacks: a level has the workload's attacks, others, or none.
func TestLevelsReplaceAttacks(t *testing.T) {
	k, _ := attacks.Find(attacks.SYNFlood)
	s, err := Parse("attacked.yaml", []byte(labWith(k, "")+`factors:
  attack:
    levels:
      the workload's: {}
      none: {workload: {attacks: []}}
      two: {workload: {attacks: [{kind: icmp-flood, from: attacker, to: server, rate: 5}, {kind: slowloris, from: attacker, to: server}]}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, treatment := range plan(t, s).Treatments {
		var list []string
		for _, a := range treatment.Attacks {
			list = append(list, a.String())
		}
		got = append(got, strings.Join(list, "; "))
	}
	want := []string{
		"attacker: syn-flood of server, 10000 frames per second", "",
		"attacker: icmp-flood of server, 5 frames per second; attacker: slowloris of server, 1000 connections, 500 " +
			"per second",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
