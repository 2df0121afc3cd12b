package topology

import (
	"slices"
	"testing"
)

func end(text string) (e End) {
	if err := e.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return e
}

func TestCompleteNamesSwitchPorts(t *testing.T) {
	hosts := []Host{
		{Name: "server", Interfaces: []Interface{{Name: "eth0"}, {Name: "eth1"}}},
		{Name: "client", Interfaces: []Interface{{Name: "eth0"}}},
		{Name: "a-very-long-host-name-1", Interfaces: []Interface{{Name: "eth0"}}},
		{Name: "a-very-long-host-name-2", Interfaces: []Interface{{Name: "eth0"}}},
		{Name: "plug", Interfaces: []Interface{{Name: "enp129s0f0np0.9"}}},
	}
	top := Topology{Hosts: hosts, Switches: []Switch{{Name: "switch"}, {Name: "lo"},
		{Name: "real", Via: []string{"ssh", "real"}}}, Links: []Link{
		{From: end("server.eth0"), To: end("switch")},
		{From: end("switch"), To: end("server.eth1")},
		{From: end("client"), To: end("switch")},
		{From: end("a-very-long-host-name-1"), To: end("switch")},
		{From: end("a-very-long-host-name-2"), To: end("switch")},
		{From: end("plug"), To: end("switch.client-eth0")},
		{From: end("switch"), To: end("lo")},
	}}
	want := []string{
		"server.eth0 switch.server-eth0",
		"switch.server-eth1 server.eth1",
		"client.eth0 switch.client2-eth0", // client-eth0 is taken by name
		"a-very-long-host-name-1.eth0 switch.a-very-lon-eth0",
		"a-very-long-host-name-2.eth0 switch.a-very-lo2-eth0",
		"plug.enp129s0f0np0.9 switch.client-eth0",
		"switch.lo2 lo.switch", // lo is the kernel's
	}
	top.Complete()
	var got []string
	for _, l := range top.Links {
		got = append(got, l.From.String()+" "+l.To.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if top.Switches[2].Bridge != "real" || top.Switches[0].Bridge != "" {
		t.Errorf("switches are %+v", top.Switches)
	}
	again := slices.Clone(top.Links)
	top.Complete()
	if !slices.Equal(again, top.Links) {
		t.Errorf("the second time gives %v", top.Links)
	}
}
