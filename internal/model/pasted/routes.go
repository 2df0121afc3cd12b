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

// routing is what is known of a machine's routes while its text is parsed.
type routing struct {
	tables map[int]bool   // tables whose routes the text contains
	every  bool           // whether the text contains the routes of all tables
	names  map[string]int // numbers given to table names that only the machine knows
	rules  map[netstate.RuleEntry]bool
	routes map[string]routeSeen
	hops   bool // whether the next indented line may be a next hop of the last route
	// hopIndex has the index of each route by its destination, table, metric, gateway and interface, and
	// that of one of them without the gateway, apart for gateways that are names.
	hopIndex map[string]int
}

// routeSeen is a route of a machine: its text, and whether it is of a table of route(8) or netstat(8),
// which say less of a route.
type routeSeen struct {
	netstate.RouteEntry
	tabular bool
}

// Table numbers of linux/rtnetlink.h.
const localTable, mainTable, defaultTable = 255, 254, 253

// firstNamed is the first number given to a table name that only the machine knows.
const firstNamed = 1 << 30

var tableNumbers = map[string]int{"local": localTable, "main": mainTable, "default": defaultTable}

var (
	routeTypes = []string{"unicast", "blackhole", "unreachable", "prohibit", "throw", "local", "broadcast", "anycast",
		"multicast", "nat"}
	// attributes are words that follow the destination of a route.
	attributes = []string{"via", "nhid", "proto", "scope", "src", "metric", "from", "table", "tos", "linkdown", "dead",
		"onlink", "mtu", "advmss", "uid", "encap"}
	nextHop   = pattern.MustCompile(`^\s+nexthop (?:via (inet6 )?(\S+) )?\s*dev (\S{1,15}) weight (\d{1,3})(.*)$`)
	ruleRow   = pattern.MustCompile(`^(\d{1,10}):\s+(not )?from (\S+)(.*)$`)
	routeMore = pattern.MustCompile(`^\s+(cache\b|nexthop\b|nhid\b)`)
)

var routeFormat = &format{name: "ip route", part: "routes", row: reads((*machine).route),
	again: (*machine).otherRoute, sure: func(line string) bool {
		words, is := routeWords(line)
		return is && len(words) > 3 || ruleRow.MatchString(line)
	}, command: func(c command) bool { return c.ip("route") || c.ip("rule") }}

var _ = register(routeFormat)

// routeWords returns the words of a line. Is is false if it is no route.
func routeWords(line string) (words []string, is bool) {
	line = strings.TrimLeft(line, " \t")
	first, _, _ := strings.Cut(line, " ")
	if !strings.ContainsAny(first, ".:\t") && first != "default" && !slices.Contains(routeTypes, first) {
		return nil, false // what most lines of other texts are, without a list of their words
	}
	words = strings.Fields(line)
	_, is = isRoute(words)
	return words, is
}

// isRoute reports whether a line, given as words, is a route, and the index of its destination. In
// a line of a neighbour table, a MAC address or a state follows the interface.
func isRoute(words []string) (at int, is bool) {
	if slices.Contains(routeTypes, words[0]) {
		at = 1
	}
	if len(words) <= at {
		return 0, false
	}
	if _, is := destination(words[at], false); !is {
		return 0, false
	}
	rest := words[at+1:]
	switch whole := at == 1 || words[at] == "default" || strings.Contains(words[at], "/"); {
	case len(rest) == 0:
		return at, whole // its attributes are in the following lines
	case rest[0] == "dev" && !whole:
		return at, len(rest) > 2 && slices.Contains(attributes, rest[2])
	}
	return at, rest[0] == "dev" || slices.Contains(attributes, rest[0])
}

// destination parses a prefix in the notation of ip-route(8).
func destination(word string, six bool) (netip.Prefix, bool) {
	if word == "default" && six {
		return netip.PrefixFrom(netip.IPv6Unspecified(), 0), true
	} else if word == "default" {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0), true
	}
	if a, err := netip.ParseAddr(word); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(word)
	return p, err == nil
}

// table returns the number of a table. A name that only the machine knows gets a unique number.
func (m *machine) table(word string) int {
	if n, has := tableNumbers[word]; has {
		return n
	}
	if n, err := strconv.ParseUint(word, 10, 32); err == nil {
		return int(n)
	}
	if m.names == nil {
		m.names = map[string]int{}
	}
	if _, has := m.names[word]; !has && len(m.names) < mostRows {
		m.names[word] = firstNamed + len(m.names)
	}
	return m.names[word]
}

// routeOf parses a route, and returns it with its words except those of the table.
func (m *machine) routeOf(line string) (r netstate.RouteEntry, words []string, is bool) {
	words, is = routeWords(line)
	if !is || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
		return r, nil, false
	}
	at, _ := isRoute(words)
	via := slices.Index(words, "via")
	six := slices.Contains(m.command, "-6")
	if via >= 0 && via+1 < len(words) {
		six = strings.Contains(words[via+1], ":") // and not "via inet6 ADDRESS", of IPv4
	} else if i := slices.Index(words, "src"); i >= 0 && i+1 < len(words) {
		six = strings.Contains(words[i+1], ":")
	}
	to, _ := destination(words[at], six || slices.Contains(words, "pref"))
	table := mainTable
	if name := m.command.after("table"); name != "" && name != "all" && m.command.is("ip") {
		table = m.table(name)
	}
	if i := slices.Index(words, "table"); i >= 0 && i+1 < len(words) {
		table = m.table(words[i+1])
		words = slices.Delete(words, i, i+2)
	}
	return netstate.ParseRoute(table, to.String(), plain.Short(strings.Join(words, " "), 300)), words, true
}

// routeKey returns a key that distinguishes the routes of a machine.
func routeKey(r netstate.RouteEntry, words []string) string {
	key := r.To + " " + strconv.Itoa(r.Table)
	for i, w := range words {
		if w == "metric" && i+1 < len(words) {
			key += " " + words[i+1]
		}
	}
	return key
}

// otherRoute reports whether a line is a route to a destination for which the machine has a
// different one.
func (m *machine) otherRoute(line string, gap bool) bool {
	r, words, is := m.routeOf(line)
	if !gap || !is || strings.HasPrefix(r.To, "fe80:") || strings.HasPrefix(r.To, "ff00:") {
		return false
	}
	return m.routeDiffers(r, routeKey(r, words), false)
}

// routeDiffers reports whether the machine has another route with a key. Routes of different tools are
// compared by gateway and interface.
func (m *machine) routeDiffers(r netstate.RouteEntry, key string, tabular bool) bool {
	seen, has := m.routes[key]
	if has && seen.tabular != tabular {
		return seen.Via != r.Via || seen.Interface != r.Interface
	}
	return has && seen.Text != r.Text
}

// route parses a line of ip route, ip route get or ip rule.
func (m *machine) route(line string) bool {
	if row := ruleRow.FindStringSubmatch(line); row != nil {
		return m.rule(row)
	}
	snapshot := &m.Reading.Snapshot
	if hop := nextHop.FindStringSubmatch(line); hop != nil && m.hops && m.behindPart("routes") &&
		len(snapshot.Routes) > 0 {
		r := &snapshot.Routes[len(snapshot.Routes)-1]
		weight, _ := strconv.Atoi(hop[4])
		r.Nexthops = append(r.Nexthops, netstate.RouteNexthop{Interface: hop[3], Via: hop[2], Weight: weight,
			Down: strings.Contains(hop[5], "dead") || strings.Contains(hop[5], "linkdown")})
		r.Text = plain.Short(r.Text+" "+strings.Join(strings.Fields(line), " "), 1000)
		return true
	}
	if m.behindPart("routes") && routeMore.MatchString(line) {
		return m.ignore()
	}
	r, words, is := m.routeOf(line)
	if !is {
		return false
	}
	if slices.Contains(words, "uid") || strings.Contains(strings.Join(m.command, " "), "route get") {
		m.lookup(words)
		return true
	}
	m.keepRoute(r, routeKey(r, words), false)
	m.every = m.every || m.command.after("table") == "all" || r.Table == localTable && m.command.after("table") == ""
	return true
}

// keepRoute stores a route. If another tool printed it as well, the text of ip(8) is kept.
func (m *machine) keepRoute(r netstate.RouteEntry, key string, tabular bool) {
	if m.routes == nil {
		m.routes, m.tables, m.hopIndex = map[string]routeSeen{}, map[int]bool{}, map[string]int{}
	}
	list := &m.Reading.Snapshot.Routes
	m.tables[r.Table] = true
	seen := m.routes[key]
	if m.hops = false; len(*list) >= mostRows || seen.Text == r.Text {
		return
	}
	m.routes[key] = routeSeen{r, tabular}
	way := strings.Join([]string{key, r.Via, r.Interface}, " ")
	if at, has := m.hopIndex[way]; has && r.Interface != "" && ((*list)[at].Text == r.Text || seen.tabular != tabular) {
		if !tabular {
			(*list)[at] = r
		}
		return
	}
	// route(8) without -n prints names of gateways, which are those that others print as addresses.
	by, name := key+" "+r.Interface, "name "+key+" "+r.Interface
	if _, err := netip.ParseAddr(r.Via); r.Via != "" && err != nil {
		if _, has := m.hopIndex[by]; has {
			return
		}
		m.hopIndex[name] = len(*list)
	} else if at, has := m.hopIndex[name]; has {
		delete(m.hopIndex, name)
		(*list)[at], m.hopIndex[way], m.hopIndex[by] = r, at, at
		return
	} else {
		m.hopIndex[by] = len(*list)
	}
	m.hops, m.hopIndex[way] = true, len(*list)
	*list = append(*list, r)
}

// lookup stores an answer of ip route get.
func (m *machine) lookup(words []string) {
	after := func(word string) string { return plain.Short(command(words).after(word), longestName) }
	at, _ := isRoute(words)
	l := netstate.RouteLookup{Destination: words[at], Source: after("from"), Interface: after("dev"),
		Gateway: after("via")}
	if l.Source == "" {
		l.ChosenSource = after("src")
	}
	if list := &m.Reading.Snapshot.Lookups; len(*list) < mostRows {
		*list = append(*list, l)
	}
}

// rule stores a row of ip rule.
func (m *machine) rule(row []string) bool {
	priority, err := strconv.Atoi(row[1])
	if err != nil {
		return false
	}
	entry := netstate.RuleEntry{Priority: priority, Other: row[2] != ""}
	prefix := func(word string) string {
		p, is := destination(word, false)
		if !is {
			entry.Other = true
			return ""
		}
		return p.String()
	}
	if row[3] != "all" {
		entry.From = prefix(row[3])
	}
	words := command(strings.Fields(row[4]))
	for i := 0; i < len(words); i += 2 {
		switch word := words[i]; {
		case i+1 == len(words):
			entry.Other = true // blackhole, unreachable, …
		case word == "to":
			entry.To = prefix(words[i+1])
		case word == "lookup":
			entry.Table = m.table(words[i+1])
		case word != "proto":
			entry.Other = true // marks, interfaces, …
		}
	}
	entry.Other = entry.Other || entry.Table == 0
	if m.rules == nil {
		m.rules = map[netstate.RuleEntry]bool{}
	}
	if list := &m.Reading.Snapshot.Rules; len(*list) < mostRows && !m.rules[entry] {
		m.rules[entry] = true
		*list = append(*list, entry)
	}
	return true
}

// finishRules sets Other for rules that look in tables whose routes the text does not contain,
// because their effect is unknown.
func (m *machine) finishRules() {
	for i := range m.Reading.Snapshot.Rules {
		r := &m.Reading.Snapshot.Rules[i]
		r.Other = r.Other || !m.every && !m.tables[r.Table] && r.Table != localTable && r.Table != defaultTable
	}
}
