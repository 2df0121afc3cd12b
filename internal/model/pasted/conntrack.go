package pasted

import (
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// Of the tools of connection tracking and of virtual services, only the number of entries is used.
var _ = register(
	&format{name: "conntrack -C", row: reads((*machine).conntrackCount),
		command: func(c command) bool { return c.is("conntrack") && c.has("-C", "--count") }, shapeless: true},
	ignored("conntrack", conntrackSure, nil, programs("conntrack"), "net/nf_conntrack", "net/ip_conntrack"),
	ignored("ipset", ipsetSure, ipsetRow, programs("ipset")),
	ignored("ipvsadm", ipvsSure, ipvsRow, programs("ipvsadm"), "net/ip_vs", "net/ip_vs_conn", "net/ip_vs_stats"))

var (
	conntrackSure = pattern.MustCompile(`^(?:cpu=\d+ +\t? *(?:searched|found)=\d+ .*|conntrack v\d.*flow entries ` +
		`have ` +
		`been shown.*|` +
		`(?:ipv[46] +\d+ +)?(?:tcp|udp|icmp|icmpv6|sctp|dccp|gre|unknown) +\d+ +\d+ .*\bsrc=\S+ dst=\S+ .*|entries ` +
		`+(?:searched|clashres)\b.*)$`)

	ipsetSure = pattern.MustCompile(`^(?:create \S+ (?:hash|list|bitmap):\S+ .*|add \S{1,31} \S+( (?:timeout|comment|` +
		`packets) .*)?$|Type: (?:hash|list|bitmap):\S+)$`)
	ipsetRow = pattern.MustCompile(`^(?:(?:Name|Revision|Header|Size in memory|References|Number of entries|` +
		`Members): ` +
		`?.*|[\da-f][\da-f.:/-]{2,43}(?:,\S+)?( .*)?)$`)

	ipvsSure = pattern.MustCompile(`^(?:IP Virtual Server version \d.*|  -> RemoteAddress:Port .*)$`)
	ipvsRow  = pattern.MustCompile(`^(?:Prot LocalAddress:Port.*|(?:TCP|UDP|SCTP|FWM) +\S+.*|  -> \S+ .*|IPVS ` +
		`connection entries|pro expire state.*|` +
		`(?:TCP|UDP) +\d\d:\d\d +\w+ .*|\s+Total Incoming.*|\s+Conns +Packets.*|[\s\dA-F]+)$`)

	countRow = pattern.MustCompile(`^\d{1,12}$`)
)

// conntrackCount parses the number that conntrack -C prints.
func (m *machine) conntrackCount(line string) bool {
	text := strings.TrimSpace(line)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !countRow.MatchString(text) || n == 0 {
		return err == nil && m.ignore()
	}
	m.State.Conntrack = &netstate.Conntrack{Count: n}
	return true
}
