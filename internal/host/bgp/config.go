package bgp

import (
	"fmt"
	"strings"

	"linerate/internal/model/message"
)

// Timers of the sessions in seconds. A neighbour that does not answer yet is retried soon. The end of a session
// is detected through its connection or link; the hold time is long so that few frames of sessions disturb
// links under test.
const (
	retry = 1
	hold  = 90
)

// maxNexthops is the maximum number of next hops of a route in BIRD.
const maxNexthops = 255

// Config returns BIRD's configuration for a request (bird.conf, BIRD 2.0).
func Config(request message.BGPRequest) string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	line("log stderr { warning, error, fatal, bug };")
	line("router id %s;", request.RouterID)
	line("protocol device { scan time 1; }")
	export := "source = RTS_STATIC"
	if request.Transit {
		export += " || source = RTS_BGP"
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		// Learned routes are exported to the kernel's table, equal ones as one multipath route; none is
		// imported.
		line(
			"protocol kernel kernel_%s { metric %d; merge paths on limit %d; %s { import none; export where source "+
				"= RTS_BGP; }; }",
			family, request.Metric, maxNexthops, family)
		line("protocol static own_%s {", family)
		line("  %s;", family)
		for _, network := range request.Announce {
			if network.Addr().Is4() == (family == "ipv4") {
				line("  route %s blackhole;", network)
			}
		}
		line("}")
	}
	for i, s := range request.Sessions {
		line("protocol bgp session_%d {", i+1)
		line("  local as %d;", request.AS)
		line("  neighbor %s as %d;", s.Address, s.AS)
		line("  interface %q;", s.Interface)
		line("  direct;")
		line("  connect delay time %d; connect retry time %d; error wait time %d, %d; hold time %d;", retry, retry,
			retry, retry, hold)
		// IPv4 networks by IPv6 next hops (RFC 8950).
		line("  ipv4 { extended next hop on; next hop self; import all; export where %s; };", export)
		line("  ipv6 { next hop self; import all; export where %s; };", export)
		line("}")
	}
	return b.String()
}
