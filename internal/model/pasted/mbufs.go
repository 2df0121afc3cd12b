package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

var (
	// "0/48123/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)"
	mbufRow = pattern.MustCompile(`^\s*\d+K?(?:/\d+K?){0,3} (?:\d+k (?:\(page size\) )?` +
		`|\d+K?B? )?(?:requests for )?(?:mbufs?|mbuf\+clusters|jumbo clusters)\b`)
	memoryRow = pattern.MustCompile(`^\s*\d+K?(?:/\d+K?){0,2} (?:bytes|Kbytes|KB) (?:allocated to network` +
		`|returned to the system)\b|^\s*\d+(?:/\d+){0,2} (?:requests for (?:memory|sfbufs|I/O)` +
		`|calls to (?:protocol )?drain|sendfile syscalls|sfbufs|pages (?:read|were)|times sendfile)\b`)
	refusedRow = pattern.MustCompile(`^\s*(\d{1,20}(?:/\d{1,20}){0,2}) requests for (mbufs|jumbo clusters` +
		`|memory) (denied|delayed)(?: \(\w+/\w+/[\w+]+\))?$`)
	// "8192/1016/9208/505413 mbuf clusters in use (current/cache/total/max)"; "4496/4952/524288 Kbytes allocated to
	// network (current/peak/max)"
	poolRow = pattern.MustCompile(`^\s*(\d{1,18})/\d{1,18}(?:/\d{1,18})?/(\d{1,18}) ((?:mbuf` +
		`|\d+k(?: \(page size\))? jumbo) clusters in use|Kbytes allocated to network) \([a-z/]+/max\)$`)
)

// refusedCounters are the counters of a line, in the order of its figures, and what each counts.
var refusedCounters = map[string][]struct{ name, of string }{
	"mbufs denied": {{netstate.MbufsDenied, "mbufs"}, {netstate.ClustersDenied, "mbuf clusters"},
		{netstate.PacketsDenied, "mbuf+clusters"}},
	"mbufs delayed": {{netstate.MbufsDelayed, "mbufs"}, {netstate.ClustersDelayed, "mbuf clusters"},
		{netstate.PacketsDelayed, "mbuf+clusters"}},
	"jumbo clusters denied": {{netstate.PageClustersDenied, "page-size jumbo clusters"},
		{netstate.Clusters9kDenied, "9k jumbo clusters"}, {netstate.Clusters16kDenied, "16k jumbo clusters"}},
	"jumbo clusters delayed": {{netstate.PageClustersDelayed, "page-size jumbo clusters"},
		{netstate.Clusters9kDelayed, "9k jumbo clusters"}, {netstate.Clusters16kDelayed, "16k jumbo clusters"}},
	"memory denied":  {{netstate.MemoryDenied, "memory"}},
	"memory delayed": {{netstate.MemoryDelayed, "memory"}},
}

// mbufs parses a line of netstat -m of FreeBSD, OpenBSD, NetBSD or macOS (usr.bin/netstat/mbuf.c).
func (m *machine) mbufs(line string) bool {
	if row := poolRow.FindStringSubmatch(line); row != nil {
		return m.pool(row)
	}
	row := refusedRow.FindStringSubmatch(line)
	if row == nil || row[2] == "memory" && !m.behind("netstat -m") {
		return (mbufRow.MatchString(line) || m.behind("netstat -m") && memoryRow.MatchString(line)) && m.ignore()
	}
	counts, of := strings.Split(row[1], "/"), refusedCounters[row[2]+" "+row[3]]
	if len(counts) != len(of) {
		return m.ignore() // of another version
	}
	for i, counter := range of {
		if m.add(counter.name, counts[i]) {
			m.counterName(counter.name, "netstat -m: requests for "+counter.of+" "+row[3])
		}
	}
	return true
}

// pool stores how much of a pool of memory for packets is in use. FreeBSD has pools without a limit as 0.
func (m *machine) pool(row []string) bool {
	used, err := strconv.ParseInt(row[1], 10, 64)
	most, mostErr := strconv.ParseInt(row[2], 10, 64)
	name := strings.TrimSuffix(row[3], " in use")
	if err != nil || mostErr != nil || most <= 0 || slices.ContainsFunc(m.State.BufferPools,
		func(p netstate.BufferPool) bool { return p.Name == name }) {
		return m.ignore()
	}
	m.State.BufferPools = append(m.State.BufferPools, netstate.BufferPool{Name: name, Used: used, Most: most})
	return true
}

// counterName stores what the system of a machine calls a counter, where that is not Linux.
func (m *machine) counterName(name, printed string) {
	if m.CounterNames == nil {
		m.CounterNames = map[string]string{}
	}
	if len(m.CounterNames) < mostRows {
		m.CounterNames[name] = printed
	}
}
