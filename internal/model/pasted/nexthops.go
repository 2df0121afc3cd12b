package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

var _ = register(
	&format{name: "ip nexthop", part: "nexthops", row: reads((*machine).nexthop), sure: nexthopRow.MatchString,
		command: func(c command) bool { return c.ip("nexthop") }},
	&format{name: "resolv.conf", part: "resolver", row: reads((*machine).resolverLine), shapeless: true, comments: true,
		files: []string{"etc/resolv.conf"}})

var (
	// nexthopRow matches "id 1 via 192.0.2.1 dev eth0 scope link", "id 10 group 1/2,3 type resilient …".
	nexthopRow = pattern.MustCompile(`^id (\d{1,9}) (?:(?:via|dev|group|encap) \S|blackhole\b)`)
	// bucketRow is a bucket of a resilient group, of ip nexthop bucket.
	bucketRow = pattern.MustCompile(`^id \d{1,9} index \d+ |^\s+(?:id|idle_time)\b`)
)

// nexthop parses a line of ip nexthop.
func (m *machine) nexthop(line string) bool {
	row := nexthopRow.FindStringSubmatch(line)
	if row == nil {
		return bucketRow.MatchString(line) && m.command.ip("nexthop") && m.ignore()
	}
	n := netstate.Nexthop{}
	n.ID, _ = strconv.Atoi(row[1])
	words := command(strings.Fields(line))
	n.Interface, n.Via, n.Resilient = words.after("dev"), words.after("via"), words.after("type") == "resilient"
	for _, member := range strings.FieldsFunc(words.after("group"), func(r rune) bool { return r == '/' }) {
		id, weight, weighted := strings.Cut(member, ",")
		of := netstate.NexthopMember{ID: number(id), Weight: 1}
		if weighted {
			of.Weight = number(weight)
		}
		n.Group = append(n.Group, of)
	}
	for _, flag := range []string{"dead", "linkdown", "blackhole", "fdb"} {
		if words.has(flag) {
			n.Flags = append(n.Flags, flag)
		}
	}
	at := slices.IndexFunc(m.State.Nexthops, func(o netstate.Nexthop) bool { return o.ID == n.ID })
	switch {
	case at >= 0:
		m.State.Nexthops[at] = n
	case len(m.State.Nexthops) >= netstate.MostNexthops:
		return m.ignore()
	default:
		m.State.Nexthops = append(m.State.Nexthops, n)
	}
	return true
}

// mostServers limits the name servers, search domains and options of a host.
const mostServers = 100

// resolverLine parses a line of resolv.conf(5).
func (m *machine) resolverLine(line string) bool {
	if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
		return m.ignore()
	}
	r := m.State.Resolver
	if r == nil {
		r = &netstate.Resolver{}
	}
	if len(line) > 1000 || len(r.Servers)+len(r.Options) >= mostServers || !r.Line(line) {
		return false
	}
	m.State.Resolver = r
	return true
}
