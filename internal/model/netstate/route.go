package netstate

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// RouteEntry is one route of a routing table.
type RouteEntry struct {
	// To is the destination. Nexthops is set if there are several next hops.
	To       string         `json:"to,omitempty" is:"address"`
	Nexthops []RouteNexthop `json:"nexthops,omitempty"`
	Table    int            `json:"table"`
	// Text is the route as ip-route(8) prints it, without the table.
	Text string `json:"text" is:"words"`
	// Type is the route type of ip-route(8): "blackhole", "local" and so on. Absent: unicast.
	Type string `json:"type,omitempty" is:"word"`
	// Protocol is the origin of the route: "kernel", "boot", "bird" and so on, or a number. Absent:
	// unknown.
	Protocol string `json:"protocol,omitempty" is:"word"`
	// Via and Interface are the gateway and the interface of a route with one next hop. Via is
	// absent if the destination is on the link.
	Via       string `json:"via,omitempty" is:"peer"`
	Interface string `json:"interface,omitempty" is:"interface"`
	// Source is the preferred source address for packets of this host. Absent: the kernel selects
	// one.
	Source string `json:"source,omitempty" is:"address"`
	Metric uint32 `json:"metric,omitempty"`
	// Object is the ID of the nexthop object that the route uses. 0: none.
	Object int `json:"object,omitempty"`
	// Onlink reports whether the gateway may be outside the subnets of the interface.
	Onlink bool `json:"onlink,omitempty"`
	// Dead reports whether the interface is down.
	Dead bool `json:"dead,omitempty"`
}

// RouteNexthop is a next hop of a multipath route.
type RouteNexthop struct {
	Interface string `json:"interface" is:"interface"`
	Via       string `json:"via,omitempty" is:"peer"` // absent: the destination itself
	Weight    int    `json:"weight"`
	// Down reports whether the interface is down or has no carrier.
	Down bool `json:"down,omitempty"`
}

var routeTypes = []string{"unicast", "local", "broadcast", "anycast", "multicast", "blackhole", "unreachable",
	"prohibit", "throw", "nat"}

// ParseRoute parses a route in the format of ip-route(8). Unknown words are skipped. The caller
// must parse the next hops of a multipath route.
func ParseRoute(table int, to, text string) RouteEntry {
	r := RouteEntry{Table: table, To: to, Text: text}
	r.parse()
	return r
}

func (r *RouteEntry) parse() {
	words := strings.Fields(r.Text)
	if len(words) > 0 && words[0] != "unicast" && slices.Contains(routeTypes, words[0]) {
		r.Type = words[0]
	}
	if r.To == "" && slices.Contains(words, "default") { // of records without destinations
		if r.To = "0.0.0.0/0"; strings.Contains(r.Text, ":") {
			r.To = "::/0"
		}
	}
	if i := slices.Index(words, "nexthop"); i >= 0 {
		words = words[:i]
	}
	for i, word := range words {
		after := func(n int) string {
			if i+n < len(words) {
				return words[i+n]
			}
			return ""
		}
		switch word {
		case "via":
			if r.Via = after(1); r.Via == "inet6" {
				r.Via = after(2)
			}
		case "dev":
			r.Interface = after(1)
		case "proto":
			r.Protocol = after(1)
		case "src":
			r.Source = after(1)
		case "metric":
			n, _ := strconv.ParseUint(after(1), 10, 32) // 0: none, as the kernel has it
			r.Metric = uint32(n)
		case "nhid":
			r.Object, _ = strconv.Atoi(after(1)) // 0: none
		case "onlink":
			r.Onlink = true
		case "dead":
			r.Dead = true
		}
	}
}

// UnmarshalJSON decodes a route. If it only has Text, as in records of older versions, the other
// fields are parsed from that.
func (r *RouteEntry) UnmarshalJSON(b []byte) error {
	type fields RouteEntry
	if err := json.Unmarshal(b, (*fields)(r)); err != nil {
		return err
	}
	if r.Type == "" && r.Protocol == "" && r.Via == "" && r.Interface == "" {
		r.parse()
	}
	return nil
}

// By reports whether the route, or one of its next hops, uses the interface.
func (r RouteEntry) By(name string) bool {
	return name != "" && r.Interface == name ||
		slices.ContainsFunc(r.Nexthops, func(n RouteNexthop) bool { return n.Interface == name })
}
