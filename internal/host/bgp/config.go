package bgp

import (
	"fmt"
	"strings"

	"linerate/internal/model/message"
)

// Times of the sessions, in seconds. A neighbour that is not there yet is tried
// again soon. One that ends is noticed by the end of its connection, or by its
// link: nothing here depends on the hold time, so that it is long, and few frames
// that are not the trial's own are on the links.
const (
	retry = 1
	hold  = 90
)

// mostWays is how many next hops BIRD puts into a route.
const mostWays = 255

// Config is BIRD's configuration for an order (bird.conf, BIRD 2.0).
func Config(o message.BGPRequest) string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	line("log stderr { warning, error, fatal, bug };")
	line("router id %s;", o.RouterID)
	line("protocol device { scan time 1; }")
	export := "source = RTS_STATIC"
	if o.Transit {
		export += " || source = RTS_BGP"
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		// What is learned goes into the kernel's table, as one route where several
		// are equally good; nothing comes from there.
		line("protocol kernel kernel_%s { metric %d; merge paths on limit %d; %s { import none; export where source = RTS_BGP; }; }", family, o.Metric, mostWays, family)
		line("protocol static own_%s {", family)
		line("  %s;", family)
		for _, network := range o.Announce {
			if network.Addr().Is4() == (family == "ipv4") {
				line("  route %s blackhole;", network)
			}
		}
		line("}")
	}
	for i, s := range o.Sessions {
		line("protocol bgp session_%d {", i+1)
		line("  local as %d;", o.AS)
		line("  neighbor %s as %d;", s.Address, s.AS)
		line("  interface %q;", s.Interface)
		line("  direct;")
		line("  connect delay time %d; connect retry time %d; error wait time %d, %d; hold time %d;", retry, retry, retry, retry, hold)
		// IPv4 networks by IPv6 next hops (RFC 8950).
		line("  ipv4 { extended next hop on; next hop self; import all; export where %s; };", export)
		line("  ipv6 { next hop self; import all; export where %s; };", export)
		line("}")
	}
	return b.String()
}
