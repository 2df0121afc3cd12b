package netstate

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestParseRoute: the fields of routes as ip-route(8) prints them; records that have a route's text
// alone, as those of older versions do, get the same fields, and what is written is read again as it was.
func TestParseRoute(t *testing.T) {
	for text, want := range map[string]RouteEntry{
		"default via 192.0.2.1 dev eth0 proto dhcp src 192.0.2.15 metric 100": {Via: "192.0.2.1", Interface: "eth0",
			Protocol: "dhcp", Source: "192.0.2.15", Metric: 100},
		"10.7.0.0/16 via inet6 fe80::7 dev a0 proto static onlink": {Via: "fe80::7", Interface: "a0",
			Protocol: "static", Onlink: true},
		"blackhole 10.0.0.0/8 proto bird metric 4278198272": {Type: "blackhole", Protocol: "bird",
			Metric: 4278198272},
		"unicast 192.0.2.0/24 dev eth0 scope link dead linkdown": {Interface: "eth0", Dead: true},
		"10.9.0.1 nhid 10 proto static nexthop via 10.1.0.2 dev a0 weight 1 nexthop via 10.1.0.3 dev b0 weight 3": {
			Object: 10, Protocol: "static"},
		"192.0.2.0/24 dev": {},
		"":                 {},
	} {
		want.Text, want.To, want.Table = text, "192.0.2.0/24", 254
		if got := ParseRoute(254, want.To, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v", text, got)
		}
		old, err := json.Marshal(map[string]any{"to": want.To, "table": 254, "text": text})
		if err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{old, written} {
			var got RouteEntry
			if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, %v", b, got, err)
			}
		}
	}
	if r := ParseRoute(254, "", "default via fe80::1 dev eth0"); r.To != "::/0" {
		t.Errorf("%+v", r)
	}
	two := RouteEntry{Nexthops: []RouteNexthop{{Interface: "a0"}, {Interface: "b0"}}}
	if !two.By("b0") || two.By("") || two.By("c0") {
		t.Error("by which interfaces it leaves")
	}
}
