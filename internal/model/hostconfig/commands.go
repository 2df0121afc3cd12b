package hostconfig

import (
	"math"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	units "linerate/internal/model/unit"
)

// Commands formats settings as commands of a POSIX shell in their order: sysctl(8), ip(8), tc(8),
// ethtool(8), and writes to files of sysfs. Each command makes one change.
func Commands(settings []setting.Setting) (lines []string) {
	for _, s := range settings {
		for _, one := range single(s) {
			lines = append(lines, command(one)...)
		}
	}
	return lines
}

// Quote quotes a word for the shell if it needs quoting.
func Quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune(alphanumeric+"-_./=:,%+@", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Command joins the words of a command, each quoted as needed.
func Command(words ...string) string { return line(words).String() }

// line joins words, quoting each as needed, and leaves out pairs of a name and an empty value.
type line []string

func (l line) String() string {
	words := lists.Map(l, Quote)
	return strings.Join(words, " ")
}

func (l *line) pair(name, value string) {
	if value != "" {
		*l = append(*l, name, value)
	}
}

func (l *line) number(name string, value int) {
	if value != 0 {
		*l = append(*l, name, strconv.Itoa(value))
	}
}

// ip returns the beginning of an ip(8) command.
func ip(six bool, words ...string) line {
	if six {
		return append(line{"ip", "-6"}, words...)
	}
	return append(line{"ip"}, words...)
}

func command(s setting.Setting) (lines []string) {
	var l line
	switch {
	case len(s.Sysctl) > 0:
		return []string{"sysctl -w " + Quote(s.Sysctl[0].Key) + "=" + Quote(s.Sysctl[0].Value)}
	case s.Neighbour != nil:
		n := s.Neighbour
		l = ip(false, "neigh", "replace", n.Address.String(), "lladdr", n.LLAddr, "dev", n.Interface, "nud",
			"permanent")
	case s.Address != nil:
		l = ip(false, "address", "replace", s.Address.Address.String(), "dev", s.Address.Interface)
	case s.Route != nil:
		l = routeLine(*s.Route)
	case s.Rule != nil:
		l = ruleLine("add", *s.Rule)
	case s.Nexthop != nil:
		l = nexthopLine(*s.Nexthop)
	case s.NFT != nil:
		return nftLines(*s.NFT)
	case s.Qdisc != nil:
		l = qdiscLine(*s.Qdisc)
	case s.Link != nil:
		return linkLines(*s.Link)
	case s.NIC != nil:
		return nicLines(*s.NIC)
	case s.CPU != nil:
		return []string{governorLine(*s.CPU)}
	}
	return []string{l.String()}
}

// nftLines returns the commands that create the table of a chain. They replace an existing one.
func nftLines(n setting.NFT) []string {
	table := "inet " + n.Table()
	lines := []string{"nft " + Quote("add table "+table), "nft " + Quote("delete table "+table)}
	lines = append(lines, lists.Map(n.Commands(), func(c string) string { return "nft " + Quote(c) })...)
	return lines
}

func viaWords(l *line, via string) {
	if addr, inet6 := strings.CutPrefix(via, "inet6 "); inet6 {
		*l = append(*l, "via", "inet6", addr)
	} else {
		l.pair("via", via)
	}
}

func routeLine(r setting.Route) line {
	l := ip(r.IPv6(), "route", "replace", destination(r))
	l.number("nhid", r.Object)
	viaWords(&l, r.Via)
	l.pair("dev", r.Interface)
	if r.Source.IsValid() {
		l.pair("src", r.Source.String())
	}
	l.number("table", r.Table)
	l.number("metric", r.Metric)
	l.number("initcwnd", r.InitCwnd)
	for _, n := range r.Nexthops {
		l = append(l, "nexthop")
		viaWords(&l, n.Via)
		l.pair("dev", n.Interface)
		l.number("weight", n.Weight)
	}
	return l
}

func ruleLine(verb string, r setting.Rule) line {
	l := ip(six(r.From, r.To), "rule", verb)
	l.pair("from", r.From)
	l.pair("to", r.To)
	l.number("lookup", r.Table)
	l.number("priority", r.Priority)
	return l
}

func nexthopLine(n setting.NexthopObject) line {
	l := ip(six(n.Via), "nexthop", "replace", "id", strconv.Itoa(n.ID))
	viaWords(&l, gateway(n.Via))
	l.pair("dev", n.Interface)
	if len(n.Group) > 0 {
		l.pair("group", members(n.Group, ",", "/"))
	}
	if r := n.Resilient; r != nil {
		l = append(l, "type", "resilient")
		l.number("buckets", r.Buckets)
		l.number("idle_timer", seconds(r.IdleTimer))
		l.number("unbalanced_timer", seconds(r.UnbalancedTimer))
	}
	return l
}

// members formats a nexthop group: each member with its weight if that is not 1.
func members(group []setting.Member, weight, next string) string {
	var list []string
	for _, m := range group {
		text := strconv.Itoa(m.ID)
		if m.Weight > 1 {
			text += weight + strconv.Itoa(m.Weight)
		}
		list = append(list, text)
	}
	return strings.Join(list, next)
}

// seconds returns a time in whole seconds, rounded up, as ip-nexthop(8) requires.
func seconds(d units.Duration) int { return int(math.Ceil(d.Seconds())) }

// linkLines returns separate commands for the packet sizes of IPv4 and IPv6: iproute2 before 6.3
// does not know the word for IPv4 and would reject a command with both.
func linkLines(k setting.Link) (lines []string) {
	add := func(words ...string) {
		lines = append(lines, append(line{"ip", "link", "set", "dev", k.Interface}, words...).String())
	}
	size := func(offload string, v units.Bytes) {
		add(offload+"_max_size", strconv.FormatInt(int64(v), 10))
		if v > setting.LegacyPacketSize {
			add(offload+"_ipv4_max_size", strconv.FormatInt(int64(v), 10))
		}
	}
	switch {
	case k.MTU != 0:
		add("mtu", strconv.Itoa(k.MTU))
	case k.TxQueueLen != nil:
		add("txqueuelen", strconv.Itoa(*k.TxQueueLen))
	case k.MAC != "":
		add("address", k.MAC)
	case k.GSOMaxSize != 0:
		size("gso", k.GSOMaxSize)
	case k.GROMaxSize != 0:
		size("gro", k.GROMaxSize)
	case k.XmitHashPolicy != "":
		add("type", "bond", "xmit_hash_policy", k.XmitHashPolicy)
	case k.XDP != "":
		lines = append(lines, Comment("the XDP program "+k.XDP+" of "+k.Interface+
			" is linerate's own: ip link takes one from a compiled file"))
	case k.Up != nil:
		add(map[bool]string{true: "up", false: "down"}[*k.Up])
	}
	return lines
}

// comments returns the lines of head as comments that begin with #.
func comments(head []string) string {
	text := ""
	for _, h := range head {
		text += Comment(h) + "\n"
	}
	return text
}

// sysctlFile returns the text of a file for sysctl.d.
func sysctlFile(list []change, head []string) string {
	text := comments(head)
	for _, c := range list {
		text += settingfile.Line{Key: c.Sysctl[0].Key, Value: c.Sysctl[0].Value}.Setting() + "\n"
	}
	return text
}

// script returns a shell script that makes the changes at each boot. It replaces what already
// exists. If a command fails, the remaining ones are still executed.
func script(list []change, head []string) string {
	text := "#!/bin/sh\n" + comments(head) + "status=0\n"
	for _, c := range list {
		if c.Rule != nil { // there is no replace: a second one would stay beside it
			text += ruleLine("del", *c.Rule).String() + " 2>/dev/null\n"
		}
		for _, l := range command(c.Setting) {
			text += l + " || status=1\n"
		}
	}
	return text + "exit $status\n"
}

// unit is the systemd unit that executes the script at boot.
const unit = `[Unit]
Description=Settings found by linerate
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
ExecStart=/usr/local/sbin/linerate-fix
RemainAfterExit=yes

[Install]
WantedBy=multi-user.target
`
