package topology

import (
	"slices"
	"testing"

	"linerate/internal/model/unit"
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
	top := Topology{Hosts: hosts, Switches: []Switch{{Name: "switch"}, {Name: "lo"}, {Name: "real", Via: []string{"ssh", "real"}}}, Links: []Link{
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

func TestShapeDefaults(t *testing.T) {
	for _, test := range []struct {
		shape        Impairment
		burst, queue unit.Bytes
	}{
		{Impairment{}, 0, 0},
		{Impairment{Queue: unit.Depth{Size: 9000}}, 0, 9000},
		{Impairment{Rate: 1e9}, 312_500, 1_250_000},
		{Impairment{Rate: 300e6}, 128 << 10, 375_000},
		{Impairment{Rate: 200e6}, 128 << 10, 256 << 10},
		{Impairment{Rate: 100e6}, 31_250, 125_000},
		{Impairment{Rate: 1e6}, 2 * 1514, 4 * 1514},
		{Impairment{Rate: 1e6, MTU: 9000}, 2 * 9014, 4 * 9014},
		{Impairment{Rate: 1e9, Burst: 5000}, 5000, 1_250_000},
		{Impairment{Rate: 1e9, Burst: 5000, Queue: unit.Depth{Size: 20_000}}, 5000, 20_000},
	} {
		if burst, queue := test.shape.BurstSize(), test.shape.QueueSize(); burst != test.burst || queue != test.queue {
			t.Errorf("%+v: burst %d, queue %d; want %d, %d", test.shape, burst, queue, test.burst, test.queue)
		}
	}
}

func TestTowards(t *testing.T) {
	l := Link{From: end("a.eth0"), To: end("b.eth0"), Impairment: Impairment{Rate: 1e9, Delay: 5},
		Forward: &Impairment{Rate: 2e9}, Reverse: &Impairment{MTU: 9000, Loss: 0.1, Delay: 7, Queue: unit.Depth{Size: 8}, Burst: 9}}
	if got, want := l.Towards(l.From), (Impairment{Rate: 2e9, Delay: 5, MTU: 1500}); got != want {
		t.Errorf("from → to: %+v, want %+v", got, want)
	}
	if got, want := l.Towards(l.To), (Impairment{Rate: 1e9, Delay: 7, Loss: 0.1, Queue: unit.Depth{Size: 8}, Burst: 9, MTU: 9000}); got != want {
		t.Errorf("to → from: %+v, want %+v", got, want)
	}
	if l.Other(l.From) != l.To || l.Other(l.To) != l.From {
		t.Error("the other end is not the other end")
	}
}
