package counter_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/sciencetest"
)

// TestRouteless: a few packets of IPv6 without a route are those that come before an interface has
// its routes, and a host that reaches others by IPv6 alone counts IPv4 addresses of names.
func TestRouteless(t *testing.T) {
	route := func(to, text string) netstate.RouteEntry {
		return netstate.ParseRoute(facts.MainTable, to, text)
	}
	four, six := route("0.0.0.0/0", "default via 192.0.2.1 dev eth0"),
		route("::/0", "default via fe80::1 dev eth0 metric 1024")
	null := route("::/0", "unreachable default dev lo proto kernel metric 4294967295")
	for _, test := range []struct {
		name      string
		counter   string
		n         int64
		addresses []string // besides the loopback's and link-local ones
		routes    []netstate.RouteEntry
		found     bool
	}{
		{"three of IPv6", "Ip6.InNoRoutes", 3, []string{"192.0.2.15/24"}, nil, false},
		{"thirty of IPv6", "Ip6.InNoRoutes", 30, []string{"192.0.2.15/24"}, nil, true},
		{"a host without IPv4", "Ip.OutNoRoutes", 300, []string{"2001:db8::5/64"}, []netstate.RouteEntry{six}, false},
		{"a host without IPv4 or a router", "Ip.OutNoRoutes", 300, []string{"2001:db8::5/64"},
			[]netstate.RouteEntry{null}, false},
		{"it forwards IPv4", "IpExt.InNoRoutes", 3, []string{"2001:db8::5/64"}, []netstate.RouteEntry{six}, true},
		{"IPv4 on the link only", "Ip.OutNoRoutes", 300, []string{"192.0.2.15/24", "2001:db8::5/64"},
			[]netstate.RouteEntry{six}, false},
		{"a default route of each", "Ip.OutNoRoutes", 3, []string{"192.0.2.15/24", "2001:db8::5/64"},
			[]netstate.RouteEntry{four, six}, true},
		{"it lacks a default route", "Ip.OutNoRoutes", 3, []string{"192.0.2.15/24"}, []netstate.RouteEntry{null}, true},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Reading.End.SNMP[test.counter] = test.n
		s.Reading.Snapshot.Interfaces[0].Addresses = append(test.addresses, "fe80::5/64", "169.254.7.7/16")
		s.Reading.Snapshot.Interfaces = append(s.Reading.Snapshot.Interfaces,
			netstate.InterfaceSnapshot{Interface: "lo",
				Up: true, MTU: 65536, Addresses: []string{"127.0.0.1/8"}})
		s.Reading.Snapshot.Routes = test.routes
		if found := slices.ContainsFunc(diagnose.Hosts([]netstate.HostSnapshot{s}).Findings,
			func(f record.Finding) bool {
				return f.ID == "no-route"
			}); found != test.found {
			t.Errorf("%s: found %v", test.name, found)
		}
	}
}

// TestMultiQueueDrops: a queue of mq is a finding for what it dropped between the readings.
func TestMultiQueueDrops(t *testing.T) {
	for _, drops := range []uint64{0, 50} {
		s := diagnosetest.HostNamed("nas", 15)
		sciencetest.MultiQueue(&s.Reading.Begin, &s.Reading.End, "eth0", drops)
		list := diagnose.Hosts([]netstate.HostSnapshot{s}).Findings
		i := slices.IndexFunc(list, func(f record.Finding) bool {
			return f.ID == "qdisc-drop" && f.Confidence == record.Certain
		})
		if (i >= 0) != (drops > 0) || i >= 0 && !strings.Contains(diagnosetest.Facts(list[i]), `"dropped":50,`) {
			t.Errorf("%d drops: %+v", drops, list)
		}
	}
}
