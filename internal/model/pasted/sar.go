package pasted

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/model/netstate"
)

// sar(1) prints what happened in each of many intervals, most of it as rates. A snapshot has one growth
// of each counter. It is that of the interval in which the protocol, the interface, the backlogs or the
// CPUs were worst (netstate.Interval): an average over a day hides what lasted for ten minutes.

// interval is an interval of sar, by the times as they are printed. To is empty for the average.
type interval struct{ day, from, to string }

// seconds returns the length of the interval, which may have midnight in it. 0: unknown.
func (i interval) seconds() float64 {
	from, to := clock(i.from), clock(i.to)
	if from < 0 || to < 0 {
		return 0
	}
	if to < from {
		to += 24 * 3600
	}
	return to - from
}

// clock returns the seconds of a day at a time of sar. -1: it is none.
func clock(text string) float64 {
	for _, layout := range []string{"15:04:05", "03:04:05 PM"} {
		if t, err := time.Parse(layout, text); err == nil {
			return float64(t.Hour()*3600 + t.Minute()*60 + t.Second())
		}
	}
	return -1
}

// sarTable is a table of which rules use something.
type sarTable struct {
	// of is the protocol that the counters belong to. Empty: the interface or the CPU in the first column.
	of string
	// names has the counter of each column, as in netstate.Reading.SNMP without its protocol, or as in
	// linux/if_link.h. bad are the columns that count what should not happen, total those that count
	// all packets.
	names      map[string]string
	bad, total []string
}

// sarTables are the tables by the first column that counts. Tables of one protocol belong together, as
// do the two of interfaces.
var sarTables = map[string]sarTable{
	"rxpck/s": {names: map[string]string{"rxpck/s": "rx_packets", "txpck/s": "tx_packets", "rxkB/s": "rx_bytes",
		"txkB/s": "tx_bytes", "rxbyt/s": "rx_bytes", "txbyt/s": "tx_bytes"}, total: []string{"rxpck/s", "txpck/s"}},
	"rxerr/s": {names: map[string]string{"rxerr/s": "rx_errors", "txerr/s": "tx_errors", "coll/s": "collisions",
		"rxdrop/s": "rx_dropped", "txdrop/s": "tx_dropped", "txcarr/s": "tx_carrier_errors",
		"rxfifo/s": "rx_missed_errors"}, bad: []string{"rxerr/s", "txerr/s", "rxdrop/s", "txdrop/s", "rxfifo/s"}},
	"active/s": {of: "Tcp", names: map[string]string{"active/s": "ActiveOpens", "passive/s": "PassiveOpens",
		"iseg/s": "InSegs", "oseg/s": "OutSegs"}, total: []string{"oseg/s"}},
	"atmptf/s": {of: "Tcp", names: map[string]string{"atmptf/s": "AttemptFails", "estres/s": "EstabResets",
		"retrans/s": "RetransSegs", "isegerr/s": "InErrs", "orsts/s": "OutRsts"},
		bad: []string{"atmptf/s", "retrans/s", "isegerr/s"}},
	"idgm/s": {of: "Udp", names: map[string]string{"idgm/s": "InDatagrams", "odgm/s": "OutDatagrams",
		"noport/s": "NoPorts", "idgmerr/s": "InErrors"}, bad: []string{"noport/s", "idgmerr/s"},
		total: []string{"idgm/s"}},
	"idgm6/s": {of: "Udp6", names: map[string]string{"idgm6/s": "InDatagrams", "odgm6/s": "OutDatagrams",
		"noport6/s": "NoPorts", "idgmer6/s": "InErrors"}, bad: []string{"noport6/s", "idgmer6/s"},
		total: []string{"idgm6/s"}},
	"irec/s": {of: "Ip", names: map[string]string{"irec/s": "InReceives", "fwddgm/s": "ForwDatagrams",
		"idel/s": "InDelivers", "orq/s": "OutRequests", "asmrq/s": "ReasmReqds", "asmok/s": "ReasmOKs",
		"fragok/s": "FragOKs", "fragcrt/s": "FragCreates"}, bad: []string{"fragcrt/s"},
		total: []string{"irec/s", "orq/s"}},
	"ihdrerr/s": {of: "Ip", names: map[string]string{"ihdrerr/s": "InHdrErrors", "iadrerr/s": "InAddrErrors",
		"iukwnpr/s": "InUnknownProtos", "idisc/s": "InDiscards", "odisc/s": "OutDiscards", "onort/s": "OutNoRoutes",
		"asmf/s": "ReasmFails", "fragf/s": "FragFails"}, bad: []string{"ihdrerr/s", "iadrerr/s", "iukwnpr/s", "idisc/s",
		"odisc/s", "onort/s", "asmf/s", "fragf/s"}},
	"irec6/s": {of: "Ip6", names: map[string]string{"irec6/s": "InReceives", "fwddgm6/s": "OutForwDatagrams",
		"idel6/s": "InDelivers", "orq6/s": "OutRequests", "asmrq6/s": "ReasmReqds", "asmok6/s": "ReasmOKs",
		"imcpck6/s": "InMcastPkts", "omcpck6/s": "OutMcastPkts", "fragok6/s": "FragOKs", "fragcr6/s": "FragCreates"},
		bad: []string{"fragcr6/s"}, total: []string{"irec6/s", "orq6/s"}},
	"ihdrer6/s": {of: "Ip6", names: map[string]string{"ihdrer6/s": "InHdrErrors", "iadrer6/s": "InAddrErrors",
		"iukwnp6/s": "InUnknownProtos", "i2big6/s": "InTooBigErrors", "idisc6/s": "InDiscards",
		"odisc6/s": "OutDiscards", "inort6/s": "InNoRoutes", "onort6/s": "OutNoRoutes", "asmf6/s": "ReasmFails",
		"fragf6/s": "FragFails", "itrpck6/s": "InTruncatedPkts"}, bad: []string{"ihdrer6/s", "iadrer6/s", "iukwnp6/s",
		"odisc6/s", "inort6/s", "asmf6/s", "fragf6/s", "itrpck6/s"}},
	"total/s": {names: map[string]string{"total/s": "processed", "dropd/s": "dropped",
		"squeezd/s": "squeezed"}, bad: []string{"dropd/s", "squeezd/s"}},
}

// subject is what was measured: of a part of the snapshot a protocol or an interface, or all CPUs.
type subject struct{ part, name string }

// measurement is what the tables say of a subject in an interval: rates per second by counter, behind
// that of a CPU, or the shares of CPUs.
type measurement struct {
	of         subject
	in         interval
	rates      map[string]float64
	loads      []netstate.CPULoad
	bad, total float64
}

// measurements has the measurements of a machine, at most mostRows, and where each is in the list.
type measurements struct {
	measured   []*measurement
	measuredAt map[measuredKey]*measurement
}

type measuredKey struct {
	of subject
	in interval
}

// measurementOf returns the measurement of a subject in an interval. Nil: there are too many.
func (m *machine) measurementOf(of subject, in interval) *measurement {
	key := measuredKey{of, in}
	if x := m.measuredAt[key]; x != nil {
		return x
	}
	if len(m.measured) >= mostRows {
		return nil
	}
	if m.measuredAt == nil {
		m.measuredAt = map[measuredKey]*measurement{}
	}
	x := &measurement{of: of, in: in, rates: map[string]float64{}}
	m.measured, m.measuredAt[key] = append(m.measured, x), x
	return x
}

// measure keeps a row. It returns false if no rule uses it.
func (m *machine) measure(in interval, words []string) bool {
	columns := m.columnNames
	switch first := columns[0]; {
	case first == "totsck":
		return m.sarSockets(words)
	case first == "CPU" && slices.Contains(columns, "%idle"):
		return m.cpuShares(in, words)
	case in.seconds() <= 0:
		return false // an average is not that of an interval
	case first == "CPU" || first == "IFACE":
		return len(columns) > 1 && words[0] != "all" && m.rates(in, sarTables[columns[1]], words)
	}
	return m.rates(in, sarTables[columns[0]], words)
}

// rates keeps a row of rates.
func (m *machine) rates(in interval, t sarTable, words []string) bool {
	if t.names == nil {
		return false
	}
	of, prefix := subject{"snmp", t.of}, ""
	switch {
	case t.of != "":
	case m.columnNames[0] == "CPU":
		if cpu, err := strconv.Atoi(words[0]); err != nil || cpu < 0 || cpu >= mostInterfaces {
			return false
		}
		of, prefix = subject{part: "softnet"}, words[0]+" "
	case !isName(words[0]):
		return false
	default:
		of = subject{"interface counters", words[0]}
	}
	x := m.measurementOf(of, in)
	if x == nil {
		return false
	}
	for i, column := range m.columnNames {
		rate, err := strconv.ParseFloat(strings.Replace(words[i], ",", ".", 1), 64)
		if err != nil || !(rate >= 0 && rate < 1e15) || t.names[column] == "" {
			continue
		}
		scale := 1.0
		if strings.HasSuffix(column, "kB/s") {
			scale = 1024
		}
		x.rates[prefix+t.names[column]] = scale * rate
		if slices.Contains(t.bad, column) {
			x.bad += rate
		}
		if slices.Contains(t.total, column) {
			x.total += rate
		}
	}
	return true
}

// sarSockets keeps a row of sar -n SOCK under the names of /proc/net/sockstat. The last one counts.
func (m *machine) sarSockets(words []string) bool {
	names := map[string]string{"totsck": "sockets.used", "tcpsck": "TCP.inuse", "udpsck": "UDP.inuse",
		"rawsck": "RAW.inuse", "ip-frag": "FRAG.inuse", "tcp-tw": "TCP.tw"}
	if m.State.Sockstat == nil {
		m.State.Sockstat = map[string]int64{}
	}
	for i, column := range m.columnNames {
		if n, err := strconv.ParseInt(words[i], 10, 64); err == nil && names[column] != "" {
			m.State.Sockstat[names[column]] = n
		}
	}
	return true
}

// cpuShares keeps a row of what a CPU, or all together, did:
//
//	10:11:02       0    0.00    0.00    1.00    0.00    0.00   98.00    0.00    0.00    0.00    1.00
func (m *machine) cpuShares(in interval, words []string) bool {
	value := func(names ...string) (sum float64) {
		for i, name := range m.columnNames {
			if slices.Contains(names, name) && decimal.MatchString(words[i]) {
				n, _ := strconv.ParseFloat(strings.Replace(words[i], ",", ".", 1), 64)
				sum += min(n, 100) / 100
			}
		}
		return sum
	}
	l := netstate.CPULoad{CPU: -1, User: value("%usr", "%user", "%nice", "%guest", "%gnice"),
		System: value("%sys", "%system"), IRQ: value("%irq"), SoftIRQ: value("%soft"), Steal: value("%steal"),
		Idle: value("%idle", "%iowait")}
	if words[0] != "all" {
		n, err := strconv.ParseUint(words[0], 10, 16)
		if err != nil {
			return false
		}
		l.CPU, m.cpus = int(n), max(m.cpus, int(n)+1)
	}
	x := m.measurementOf(subject{part: "cpu"}, in)
	if x == nil || len(x.loads) >= mostInterfaces {
		return false
	}
	x.loads = append(x.loads, l)
	const full = 0.97
	if x.bad = max(x.bad, 1-l.Idle); l.CPU >= 0 && 1-l.Idle >= full {
		x.bad++ // the interval with the most CPUs that have no time left
	}
	return true
}

// worse reports how bad it was in an interval: by what should not happen, and by its share of all packets,
// so that neither one lost packet of two nor a million of billions hides the rest.
func (x *measurement) worse() float64 {
	return x.bad * min(1, x.bad/max(x.total, x.bad, 1e-9))
}

// finishMeasured chooses the intervals, and adds what grew in them.
func (m *machine) finishMeasured() {
	worst, among := map[subject]*measurement{}, map[subject]int{}
	var order []*measurement
	for _, x := range m.measured {
		at := worst[x.of]
		switch {
		case x.in.seconds() == 0 && at != nil, at != nil && at.in.seconds() > 0 && x.worse() <= at.worse():
		default:
			worst[x.of] = x
		}
		if x.in.seconds() > 0 {
			among[x.of]++
		}
	}
	over := 0.0
	for _, x := range m.measured {
		if worst[x.of] != x {
			continue
		}
		order = append(order, x)
		if x.of.part == "cpu" {
			m.State.CPULoad = m.withAverages(x.loads)
			m.addPart("cpu load", true)
		} else if s := x.in.seconds(); over == 0 || s < over {
			over = s
		}
		if among[x.of] > 0 {
			m.Intervals = append(m.Intervals, netstate.Interval{Part: x.of.part, Name: x.of.name,
				Day: x.in.day, From: x.in.from, To: x.in.to, Among: among[x.of]})
		}
	}
	if over == 0 {
		return
	}
	for _, x := range order { // so that the reading before has what grows
		m.grow(x, 0)
	}
	slices.SortFunc(m.Reading.End.Softnet, func(a, b netstate.SoftnetCounters) int { return a.CPU - b.CPU })
	before, chosen := m.HostSnapshot, m.Intervals
	before.Reading.End.Interfaces = slices.Clone(m.Reading.End.Interfaces)
	before.Reading.End.Softnet = slices.Clone(m.Reading.End.Softnet)
	before.Reading.End.SNMP = maps.Clone(m.Reading.End.SNMP)
	for _, x := range order {
		m.grow(x, over)
	}
	m.Since(before, over)
	m.Intervals = chosen
}

// withAverages adds to the loads of an interval those on average of CPUs that it lacks, because a text may
// have only a part of its lines.
func (m *machine) withAverages(loads []netstate.CPULoad) []netstate.CPULoad {
	for _, x := range m.measured {
		for _, l := range x.loads {
			same := func(o netstate.CPULoad) bool { return o.CPU == l.CPU }
			if x.in.seconds() == 0 && len(loads) < mostInterfaces && !slices.ContainsFunc(loads, same) {
				loads = append(loads, l)
			}
		}
	}
	return loads
}

// grow adds the growth of counters over so many seconds at the rates of a measurement.
func (m *machine) grow(x *measurement, seconds float64) {
	end := &m.Reading.End
	for _, name := range slices.Sorted(maps.Keys(x.rates)) {
		rate := x.rates[name]
		n := uint64(rate*seconds + 0.5)
		switch x.of.part {
		case "softnet":
			cpu, column, _ := strings.Cut(name, " ")
			c := m.softnetOf(cpu)
			if field := map[string]*uint64{"processed": &c.Processed, "dropped": &c.Dropped,
				"squeezed": &c.Squeezed}[column]; field != nil {
				*field += n
			}
			m.addPart("softnet", true)
		case "snmp":
			if end.SNMP == nil {
				end.SNMP = map[string]int64{}
			}
			end.SNMP[x.of.name+"."+name] += int64(n)
			m.addPart("snmp", true)
		default:
			if name == "rx_missed_errors" {
				if n == 0 { // as of overran
					continue
				}
				m.counterName(name, "rxfifo/s")
			}
			_, has := m.counted[x.of.name]
			*kernelCounters(m.countersOf(x.of.name, !has || m.summed[x.of.name]))[name] += n
			m.hasCounter(name)
		}
	}
}

// softnetOf returns the counters of a CPU's backlog, which it adds if they are new.
func (m *machine) softnetOf(cpu string) *netstate.SoftnetCounters {
	list := &m.Reading.End.Softnet
	n, _ := strconv.Atoi(cpu) // which rates has checked
	at := slices.IndexFunc(*list, func(c netstate.SoftnetCounters) bool { return c.CPU == n })
	if at < 0 {
		at = len(*list)
		*list = append(*list, netstate.SoftnetCounters{CPU: n})
	}
	return &(*list)[at]
}
