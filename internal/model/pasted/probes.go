package pasted

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	&format{name: "tracepath", row: reads((*machine).traced), sure: localhostRow.MatchString,
		command: programs("tracepath", "tracepath6")},
	&format{name: "traceroute", system: several, row: reads((*machine).routed), sure: tracerouteHead.MatchString,
		command: programs("traceroute", "traceroute6", "tcptraceroute")},
	&format{name: "mtr", system: several, row: reads((*machine).mtr), sure: mtrHead.MatchString,
		command: programs("mtr", "mtr-packet")})

// pathTrace is the output of one tracepath(8).
type pathTrace struct {
	peer, command string
	address       netip.Addr
	// first is the MTU with which the host began, and last the smallest that a router named. 0: none.
	first, last int
	reached     bool
}

var (
	localhostRow = pattern.MustCompile(`^ ?\d{1,3}\?: \[LOCALHOST\]`)
	traceRow     = pattern.MustCompile(`^ ?\d{1,3}\??:  ?\S`)
	traceEnd     = pattern.MustCompile(`^ +(?:Resume|Too many hops): pmtu \d+`)
	tracePMTU    = pattern.MustCompile(`\bpmtu (\d{2,5})\b`)
)

// traced parses a line of tracepath(8):
//
//	1?: [LOCALHOST]                        0.005ms pmtu 1500
//	2:  r1.example.net                     0.379ms pmtu 1492
//	3:  192.0.2.60                         8.840ms reached
func (m *machine) traced(line string) bool {
	known := strings.HasPrefix(m.command.first(), "tracepath") || m.last != nil && m.last.name == "tracepath"
	switch {
	case localhostRow.MatchString(line):
		if m.trace == 0 || m.trace <= len(m.paths) && m.paths[m.trace-1].first != 0 {
			m.beginTrace()
		}
	case !known || !traceRow.MatchString(line) && !traceEnd.MatchString(line):
		return false
	}
	t := &pathTrace{}
	if m.trace > 0 && m.trace <= len(m.paths) {
		t = &m.paths[m.trace-1]
	}
	words := strings.Fields(line)
	if row := tracePMTU.FindStringSubmatch(line); row != nil {
		mtu, _ := strconv.Atoi(row[1])
		t.first = cmp.Or(t.first, mtu)
		if t.last == 0 || mtu < t.last {
			t.last = mtu
		}
	}
	if slices.Contains(words, "reached") && len(words) > 1 {
		t.reached = true
		if address, err := netip.ParseAddr(strings.Trim(words[1], "()")); err == nil && !t.address.IsValid() {
			t.address = address
		}
	}
	return true
}

func (m *machine) beginTrace() {
	t := pathTrace{peer: plain.Short(m.command.last(), longestName),
		command: plain.Short(strings.Join(m.command, " "), 3*longestName)}
	t.address, _ = netip.ParseAddr(withoutZone(m.command.last()))
	if m.trace = 0; len(m.paths) < mostPings {
		m.paths = append(m.paths, t)
		m.trace = len(m.paths)
	}
}

// first and last return the first and last words of a command, and the last one only if it is no option.
// Empty: there is none.
func (c command) first() string {
	if len(c) == 0 {
		return ""
	}
	return c[0]
}

func (c command) last() string {
	if len(c) < 2 || strings.HasPrefix(c[len(c)-1], "-") {
		return ""
	}
	return c[len(c)-1]
}

// target returns the last word of a command that is an address, or a name with dots, wherever its options
// are. Empty: there is none.
func (c command) target() (found string) {
	for _, w := range c[min(1, len(c)):] {
		if _, err := netip.ParseAddr(w); err == nil || peerName.MatchString(w) && dottedName.MatchString(w) {
			found = w
		}
	}
	return found
}

// dottedName matches names of hosts with a domain, and no numbers with a fraction.
var dottedName = pattern.MustCompile(`^[\w-]+(?:\.[\w-]+)*\.[A-Za-z][\w-]*$`)

var (
	tracerouteHead = pattern.MustCompile(`^traceroute6? to \S+ \(\S+\)(?: from \S+)?, \d+ hops max(?:, \d+ byte ` +
		`packets)?$`)
	tracerouteRow = pattern.MustCompile(`^ ?\d{1,3}  ?(?:\[\S+\] )?(?:\*|\S+ \(\S+\)|[\da-f:.]{3,39}\b)|^ ` +
		`{3,}(?:\[\S+\] )?\S+ \(\S+\)  \d`)
)

// routed ignores a line of traceroute(8): the routers of a path are used by no rule.
func (m *machine) routed(line string) bool {
	known := strings.Contains(m.command.first(), "traceroute") || m.last != nil && m.last.name == "traceroute"
	return (tracerouteHead.MatchString(line) || known && (tracerouteRow.MatchString(line) ||
		strings.HasPrefix(line, "traceroute"))) && m.ignore()
}

var (
	mtrHead = pattern.MustCompile(`^HOST: \S+ +Loss% +Snt +Last +Avg +Best +Wrst +StDev`)
	mtrRow  = pattern.MustCompile(`^ {0,2}\d{1,3}\.(?:\|--|\s) ?(?:AS(?:\d+|\?{3}) +)?(\S+)(?: \(([\d.:a-f]+)\))? +(\d{1,3}(?:\.\d+)?)%? +(\d{1,7}) +[\d.]+ ` +
		`+([\d.]{1,12}) +([\d.]{1,12}) +([\d.]{1,12})`)
	mtrStart = pattern.MustCompile(`^Start: (?:\d{4}-\d\d-\d\dT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d )\d\d:`)
	mtrNote  = pattern.MustCompile(`^(Start: |\s+\|  ?[|` + "`" + `]|\s+[|` + "`" + `+]-- )`)
)

// mtr parses a line of mtr -r. Its last row is that of the peer, whose answers count; routers may limit theirs.
func (m *machine) mtr(line string) bool {
	row := mtrRow.FindStringSubmatch(line)
	if row == nil {
		known := m.command.is("mtr") || m.last != nil && m.last.name == "mtr"
		head := mtrHead.MatchString(line)
		if head {
			m.endMTR()
		}
		return (head || (known || mtrStart.MatchString(line)) && mtrNote.MatchString(line)) && m.ignore()
	}
	if m.hop = nil; row[1] == "???" {
		return m.ignore()
	}
	address, _ := netip.ParseAddr(cmp.Or(row[2], row[1]))
	loss, _ := strconv.ParseFloat(row[3], 64)
	run := pingRun{peer: row[1], address: address, payload: 56, statistics: loss <= 100}
	if m.command.is("mtr") {
		run.command = plain.Short(strings.Join(m.command, " "), 3*longestName)
		run.peer = cmp.Or(m.command.target(), run.peer)
	}
	run.sent, _ = strconv.Atoi(row[4])
	run.received = int(float64(run.sent)*(100-loss)/100 + 0.5)
	run.least, _ = strconv.ParseFloat(row[6], 64)
	run.most, _ = strconv.ParseFloat(row[7], 64)
	m.hop = &run
	return true
}

// endMTR keeps the last row of a report.
func (m *machine) endMTR() {
	if m.hop != nil && len(m.runs) < mostPings {
		m.runs = append(m.runs, *m.hop)
	}
	m.hop = nil
}

// peerName matches addresses and names of peers that can be in a command.
var peerName = pattern.MustCompile(`^[\w.:-]{1,64}$`)

// finishProbes makes the probes of peers from what ping(8) and tracepath(8) have said of each.
func (m *machine) finishProbes() {
	m.endMTR()
	named := map[string]netip.Addr{} // peers by name
	for _, r := range m.runs {
		if r.address.IsValid() {
			named[r.peer] = r.address
		}
	}
	var order []string
	runs, paths := map[string][]pingRun{}, map[string]pathTrace{}
	keyOf := func(peer string, address netip.Addr) string {
		if !address.IsValid() {
			address = named[peer]
		}
		key := peer
		if address.IsValid() {
			key = address.String()
		}
		if key != "" && !slices.Contains(order, key) {
			order = append(order, key)
		}
		return key
	}
	for _, r := range m.runs {
		key := keyOf(r.peer, r.address)
		runs[key] = append(runs[key], r)
	}
	for _, t := range m.paths {
		paths[keyOf(t.peer, t.address)] = t
	}
	for _, key := range order {
		if !peerName.MatchString(key) {
			continue
		}
		if p, is := m.probe(key, runs[key], paths[key]); is {
			m.State.Probes = append(m.State.Probes, p)
		}
	}
	m.addPart("probe", len(m.State.Probes) > 0)
}

// probe returns the probe of a peer. False: nothing is known.
func (m *machine) probe(address string, runs []pingRun, path pathTrace) (p netstate.Probe, is bool) {
	p = netstate.Probe{Peer: address, Address: address, Sent: []string{}, Echo: echoOf(runs)}
	for _, r := range runs {
		p.Peer, p.Interface = cmp.Or(r.peer, p.Peer), cmp.Or(p.Interface, r.iface)
		if r.command != "" && !slices.Contains(p.Sent, r.command) && len(p.Sent) < 8 {
			p.Sent = append(p.Sent, r.command)
		}
	}
	if path.command != "" {
		p.Peer, p.Sent = cmp.Or(path.peer, p.Peer), append(p.Sent, path.command)
	}
	if p.Interface == "" {
		p.Interface = m.towards(address)
	}
	if n, has := m.netifs[p.Interface]; has {
		p.InterfaceMTU = m.Reading.Snapshot.Interfaces[n].MTU
	}
	p.InterfaceMTU = cmp.Or(p.InterfaceMTU, path.first)
	passed, below := lostBeyond(runs)
	switch reported := reportedMTU(runs); {
	case below > 0:
		if p.PathMTU = (&netstate.PathMTUProbe{MTU: passed}); below > passed+1 {
			p.PathMTU.Below = below
		}
	case reported > 0:
		p.PathMTU = &netstate.PathMTUProbe{MTU: reported, Reported: true}
	case path.last > 0 && (path.last < path.first || path.reached):
		p.PathMTU = &netstate.PathMTUProbe{MTU: path.last, Reported: path.last < path.first}
	}
	return p, p.Echo != nil || p.PathMTU != nil
}

// towards returns the interface by which packets to an address leave. Empty: unknown.
func (m *machine) towards(address string) string {
	for _, l := range m.Reading.Snapshot.Lookups {
		if l.Destination == address && l.Interface != "" {
			return l.Interface
		}
	}
	name := ""
	for _, i := range m.Reading.Snapshot.Interfaces {
		if len(i.Addresses) == 0 || !i.Up {
			continue
		}
		if name != "" {
			return ""
		}
		name = i.Interface
	}
	return name
}

// echoOf counts the requests and replies of pings of the smallest size. Nil: there are no counts. Large
// requests may be lost where small ones pass.
func echoOf(runs []pingRun) *netstate.EchoProbe {
	const largest = 1000 // bytes of data
	size := -1
	for _, r := range runs {
		if r.statistics && r.payload <= largest && (size < 0 || r.payload < size) {
			size = r.payload
		}
	}
	if size < 0 {
		return nil
	}
	e := &netstate.EchoProbe{}
	var times []float64
	complete := true
	for _, r := range runs {
		if !r.statistics || r.payload != size {
			continue
		}
		e.Sent, e.Received, e.Duplicates = e.Sent+r.sent, e.Received+r.received, e.Duplicates+r.duplicates
		times, complete = append(times, r.times...), complete && len(r.times) == r.received
		if r.received > 0 && r.most > 0 {
			if e.MinMs == 0 || r.least < e.MinMs {
				e.MinMs = r.least
			}
			e.MaxMs = max(e.MaxMs, r.most)
		}
	}
	if slices.Sort(times); complete && len(times) > 0 {
		e.MinMs, e.MedianMs, e.MaxMs = times[0], times[len(times)/2], times[len(times)-1]
	}
	return e
}

// reportedMTU returns the smallest MTU that a router named, or that this host knew. 0: none.
func reportedMTU(runs []pingRun) int {
	least := 0
	for _, r := range runs {
		for _, mtu := range []int{r.reported, r.local} {
			if mtu > 0 && (least == 0 || mtu < least) {
				least = mtu
			}
		}
	}
	return least
}

// lostBeyond returns the size of the largest packets that were answered, and of the smallest larger ones of which
// none was, if no router said why. 0: there are none of either.
func lostBeyond(runs []pingRun) (passed, below int) {
	const never = 576 // bytes of a packet that no link divides
	for _, r := range runs {
		if (r.whole || r.packet() <= never && !r.unsized) && r.replies+r.received > 0 {
			passed = max(passed, r.packet())
		}
	}
	for _, r := range runs {
		if r.packet() <= passed || !r.whole {
			continue
		}
		if r.reported > 0 || r.local > 0 {
			return 0, 0
		}
		if r.statistics && r.sent >= 2 && r.received == 0 && (below == 0 || r.packet() < below) {
			below = r.packet()
		}
	}
	if passed == 0 || below == 0 {
		return 0, 0
	}
	return passed, below
}
