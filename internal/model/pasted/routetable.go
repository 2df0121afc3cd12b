package pasted

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	&format{name: "route", system: several,
		part: "routes", row: reads((*machine).tableRoute), again: (*machine).otherTableRoute,
		sure: func(line string) bool {
			return routeTitle.MatchString(line) || routeHead.MatchString(line) || linuxRoute.MatchString(line)
		}, command: func(c command) bool {
			return c.is("route") && !c.has("get", "add", "del", "delete", "change", "monitor", "flush") ||
				c.is("netstat") && (c.flag('r') || c.has("--route")) && !c.flag('s')
		}})

// routeContext is the state on which the meaning of a row of a routing table depends.
type routeContext struct {
	routeHeads []string // words of the head
	routeWidth int      // of the column of destinations, which cuts IPv6 addresses; 0: it cuts none
	routeSix   bool     // whether the rows are of IPv6
	routeBSD   bool
	routeOther bool // whether the rows are of neither family, such as those of Encap
}

var (
	routeTitle = pattern.MustCompile(`^(?:Kernel IP(?:v6)? routing (?:table|cache)|Routing tables(?: \(fib: \d+\))?|` +
		`Internet6?:|Encap:)$`)
	// "Destination     Gateway         Genmask         Flags Metric Ref    Use Iface"
	// "Destination                    Next Hop                   Flag Met Ref Use If"
	// "Destination        Gateway            Flags     Netif Expire"
	routeHead = pattern.MustCompile(`^Destination\s+(?:Gateway\s+(?:Genmask\s+)?Flags\s|Next Hop\s+Flags?\s)`)
	// "10.0.0.0        -               255.0.0.0       !     0      -        0 -"
	linuxRoute = pattern.MustCompile(`^(\S+)\s+(\S+)\s+(\d{1,3}(?:\.\d{1,3}){3})\s+([U!][A-Za-z]*)\s+` +
		`(\d{1,10}|-)\s+(\d{1,10}|-)\s+(\d{1,10}|-)\s+(\S{1,15})(?:\s+[\d-]+\s+[\d-]+\s+[\d-]+)?$`)
	linuxRoute6 = pattern.MustCompile(`^(\S+/\d{1,3}|\[?::\]?|` +
		`default)\s+(\S+)\s+([U!][A-Za-z!]*)\s+(-?\d{1,10})\s+\d+\s+` +
		`(-?\d+)\s+(\S{1,15})$`)
	bsdFlags = pattern.MustCompile(`^U[A-Za-z0-9]*$`)
)

// tableRoute parses a line of route(8), or of netstat(8) -r.
func (m *machine) tableRoute(line string) bool {
	switch {
	case routeTitle.MatchString(line):
		m.routeContext = routeContext{routeSix: strings.Contains(line, "IPv6") || line == "Internet6:",
			routeBSD:   !strings.HasPrefix(line, "Kernel"),
			routeOther: line == "Encap:" || strings.HasSuffix(line, "cache")}
		return m.ignore()
	case routeHead.MatchString(line):
		m.routeHeads, m.routeWidth = strings.Fields(strings.Replace(line, "Next Hop", "Gateway", 1)), 0
		m.routeBSD = !slices.Contains(m.routeHeads, "Genmask") && !slices.Contains(m.routeHeads, "If")
		m.routeSix = m.routeSix || slices.Contains(m.routeHeads, "If")
		if m.routeBSD {
			m.routeWidth = strings.Index(line, "Gateway") - 1
		}
		return m.ignore()
	case m.routeOther:
		return m.behind("route") && m.ignore()
	}
	if row := linuxRoute.FindStringSubmatch(line); row != nil {
		return m.linuxRow(row)
	}
	if row := linuxRoute6.FindStringSubmatch(line); row != nil && !m.routeBSD {
		return m.linuxRow6(row)
	}
	if !m.routeBSD || !m.behind("route") {
		return false
	}
	return m.bsdRoute(strings.Fields(line))
}

// otherTableRoute reports whether a line is a route to a destination for which the machine has a
// different one.
func (m *machine) otherTableRoute(line string, gap bool) bool {
	row := linuxRoute.FindStringSubmatch(line)
	if !gap || row == nil {
		return false
	}
	r, key, is := m.linuxRouteOf(row)
	return is && m.routeDiffers(r, key, true)
}

// routed makes a route of the table main, in the notation of ip-route(8), and its key.
func routed(kind string, to netip.Prefix, via, dev string, metric uint64) (r netstate.RouteEntry, key string) {
	words := []string{to.String()}
	if to.Bits() == 0 {
		words[0] = "default"
	}
	if kind != "" {
		words = append([]string{kind}, words...)
	}
	for _, option := range [][2]string{{"via", via}, {"dev", dev}} {
		if option[1] != "" {
			words = append(words, option[0], option[1])
		}
	}
	if via == "" && dev != "" && to.Addr().Is4() {
		words = append(words, "scope", "link")
	}
	if metric > 0 {
		words = append(words, "metric", strconv.FormatUint(metric, 10))
	}
	r = netstate.ParseRoute(mainTable, to.String(), plain.Short(strings.Join(words, " "), 300))
	return r, routeKey(r, words)
}

// omit counts a route that is known to be there and not known completely. It returns true.
func (m *machine) omit() bool {
	if m.Reading.Snapshot.RoutesOmitted < mostRows {
		m.Reading.Snapshot.RoutesOmitted++
	}
	return m.ignore()
}

// linuxRow stores a route of IPv4 of Linux.
func (m *machine) linuxRow(row []string) bool {
	if loopback.MatchString(row[8]) {
		return m.ignore()
	}
	r, key, is := m.linuxRouteOf(row)
	extended := slices.Contains(m.routeHeads, "Metric") && slices.Contains(m.routeHeads, "MSS")
	if !is || extended && len(row[8]) >= 6 { // its destination is a name, or the name of the interface is cut
		return m.omit()
	}
	m.keepRoute(r, key, true)
	return true
}

// networks are the names of networks(5) that every system has.
var networks = map[string]string{"default": "0.0.0.0", "loopback": "127.0.0.0", "link-local": "169.254.0.0"}

// linuxRouteOf returns a route of IPv4 of Linux: the kernel reports the table main. Routes that
// discard packets have no gateway; of those that answer with an error, the flag is "!".
func (m *machine) linuxRouteOf(row []string) (r netstate.RouteEntry, key string, is bool) {
	word, bits := row[1], maskBits(row[3])
	if network := networks[word]; network != "" {
		word = network
	}
	a, err := netip.ParseAddr(word)
	if err != nil || !a.Is4() || bits < 0 {
		return r, "", false
	}
	to, via, dev, kind := netip.PrefixFrom(a, bits), "", row[8], ""
	if strings.Contains(row[4], "G") {
		via = row[2]
	}
	switch {
	case strings.Contains(row[4], "!"):
		kind, via, dev = "unreachable", "", ""
	case dev == "*":
		kind, via, dev = "blackhole", "", ""
	}
	metric := uint64(0)
	if i := slices.Index(m.routeHeads, "Metric"); i == 4 || i < 0 && !m.command.is("netstat") && m.routeHeads == nil {
		metric, _ = strconv.ParseUint(row[5], 10, 32)
	}
	r, key = routed(kind, to, via, dev, metric)
	return r, key, true
}

// linuxRow6 stores a route of IPv6 of Linux. The kernel reports all tables: local addresses have the
// flag "n", and those of the default configuration discard packets on the loopback.
func (m *machine) linuxRow6(row []string) bool {
	if loopback.MatchString(row[6]) || strings.Contains(row[3], "n") || strings.HasPrefix(row[1], "ff00:") {
		return m.ignore()
	}
	to, is := destination(strings.Trim(row[1], "[]"), true)
	via, err := netip.ParseAddr(row[2])
	if !is || !to.Addr().Is6() || err != nil && strings.Contains(row[3], "G") {
		return m.omit()
	}
	kind, gateway := "", ""
	if strings.Contains(row[3], "!") {
		kind = "unreachable"
	} else if strings.Contains(row[3], "G") {
		gateway = via.String()
	}
	metric, _ := strconv.ParseUint(row[4], 10, 32)
	r, key := routed(kind, to, gateway, row[6], metric)
	m.keepRoute(r, key, true)
	return true
}

// bsdRoute stores a route of netstat -r of FreeBSD, OpenBSD or macOS. What is no route for packets to
// others is left out: neighbours, addresses of the host, routes for sockets that are bound to an
// interface (macOS), and the ones that each system has on its loopback.
func (m *machine) bsdRoute(words []string) bool {
	flag := slices.Index(m.routeHeads, "Flags")
	dev := slices.IndexFunc(m.routeHeads, func(w string) bool {
		return w == "Netif" || w == "Iface" || w == "Interface"
	})
	if flag < 2 || dev < flag || len(words) <= dev || !bsdFlags.MatchString(words[flag]) {
		return false
	}
	flags, netif := words[flag], words[dev]
	_, neighbour := mac(words[1])
	to, is := bsdDestination(words[0], strings.Contains(flags, "H"), m.routeSix)
	discards := strings.Contains(flags, "B") || strings.Contains(flags, "R") && is && to.Addr().Is4() &&
		!to.Addr().IsLoopback() && !to.Addr().IsMulticast()
	if neighbour || loopback.MatchString(netif) && !discards || strings.ContainsAny(flags, "bmI") ||
		strings.Contains(flags, "H") && strings.ContainsAny(flags, "lL") {
		return m.ignore()
	}
	via := ""
	if gateway, err := netip.ParseAddr(strings.Split(words[1], "%")[0]); strings.Contains(flags, "G") && err == nil {
		via = gateway.String()
	} else if strings.Contains(flags, "G") {
		is = false
	}
	for _, word := range words[:2] {
		is = is && !(strings.Contains(word, ":") && m.routeWidth > 0 && len(word) >= m.routeWidth)
	}
	if !is {
		return m.omit()
	}
	kind := ""
	switch {
	case strings.Contains(flags, "B"):
		kind, via, netif = "blackhole", "", ""
	case strings.Contains(flags, "R"):
		kind, via, netif = "unreachable", "", ""
	}
	r, key := routed(kind, to, via, netif, 0)
	m.keepRoute(r, key, true)
	return true
}

// bsdDestination parses a destination: "default", "192.0.2.0/24", "192.0.2/24", "192.0.2" (a network
// by its class), "fe80::%em0/64".
func bsdDestination(word string, host, six bool) (to netip.Prefix, is bool) {
	if word == "default" {
		return destination(word, six)
	}
	text, bits, sized := strings.Cut(word, "/")
	text, _, _ = strings.Cut(text, "%")
	octets := strings.Count(text, ".") + 1
	if !strings.Contains(text, ":") && octets < 4 {
		text += strings.Repeat(".0", 4-octets)
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return to, false
	}
	size := a.BitLen()
	switch {
	case sized:
		if size, err = strconv.Atoi(bits); err != nil {
			return to, false
		}
	case a.Is4() && octets < 4 && !host:
		size = 8 * octets
	}
	to = netip.PrefixFrom(a, size)
	return to, to.IsValid()
}
