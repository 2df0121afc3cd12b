package pasted

import (
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
	"linerate/internal/model/unit"
)

var (
	softnetRow = pattern.MustCompile(`^[0-9a-f]{8}(?: [0-9a-f]{8}){8,14}$`)
)

var _ = register(
	&format{name: "tc -s qdisc", part: "qdiscs", row: reads((*machine).qdisc), again: (*machine).sameQdisc,
		sure: qdiscHead.MatchString, command: func(c command) bool {
			return c.is("tc") && !c.json() && (strings.HasPrefix("qdisc", c.object()) ||
				strings.HasPrefix("class", c.object()))
		}},
	&format{name: "softnet_stat", part: "softnet", row: reads((*machine).softnet), again: behindGap,
		sure: softnetRow.MatchString, files: []string{"net/softnet_stat"}})

// softnet parses a line of /proc/net/softnet_stat (net/core/net-procfs.c), one for each CPU. Before
// Linux 5.10 the lines do not name the CPU, which is then the number of the line.
func (m *machine) softnet(line string) bool {
	if !softnetRow.MatchString(line) {
		return false
	}
	const processed, dropped, squeezed, backlog, cpu = 0, 1, 2, 11, 12
	fields := strings.Fields(line)
	value := func(n int) uint64 {
		if n >= len(fields) {
			return 0
		}
		v, _ := strconv.ParseUint(fields[n], 16, 32)
		return v
	}
	list := &m.Reading.End.Softnet
	c := netstate.SoftnetCounters{CPU: len(*list), Processed: value(processed), Dropped: value(dropped),
		Squeezed: value(squeezed), Backlog: value(backlog)}
	if len(fields) > cpu {
		c.CPU = int(value(cpu))
	}
	if len(*list) < mostInterfaces {
		*list = append(*list, c)
	}
	return true
}

var (
	qdiscHead = pattern.MustCompile(
		`^qdisc (\w{1,15}) ([0-9a-f]{1,4}:) (?:dev (\S{1,15}) )?(root|parent|ingress|clsact|refcnt)\b`)
	qdiscLimit = pattern.MustCompile(` (root|parent [0-9a-f]{1,4}:[0-9a-f]{1,4}) .*\blimit (\d{1,10})[pb]?(?: |$)`)
	classHead  = pattern.MustCompile(`^class \w{1,15} [0-9a-f]{1,4}:[0-9a-f]{1,4} (?:root|parent )`)
	// qdiscRate matches the rate of a shaper, of which htb has it in the class below its root.
	qdiscRate = pattern.MustCompile(`^(?:qdisc (tbf|cake) \S+ (?:dev \S+ )?root |class (htb) \S+ root )` +
		`(?:.* )?(?:rate|bandwidth|ceil) (\d{1,12}(?:\.\d{1,6})?[KMGT]?i?bit)\b`)
	qdiscSent = pattern.MustCompile(
		`^\s+Sent (\d{1,20}) bytes (\d{1,20}) pkts? \(dropped (\d{1,20}), overlimits (\d{1,20}) requeues (\d{1,20})\)`)
	qdiscBacklog = pattern.MustCompile(`^\s+backlog (\d+(?:\.\d+)?)([KMG]?)b (\d{1,18})p\b`)
)

// qdiscOf parses the head of a queueing discipline in the output of tc -s qdisc. The head does not
// name the interface if the command selected one.
func (m *machine) qdiscOf(line string) (q netstate.QdiscCounters, is bool) {
	head := qdiscHead.FindStringSubmatch(line)
	if head == nil {
		return q, false
	}
	q = netstate.QdiscCounters{Interface: head[3], Kind: head[1], Handle: head[2]}
	if q.Interface == "" && m.command.is("tc") {
		q.Interface = plain.Short(m.command.after("dev"), longestName)
	}
	if q.Interface == "" {
		q.Interface = m.unnamed()
	}
	return q, true
}

// sameQdisc reports whether a line begins a qdisc that the machine already has.
func (m *machine) sameQdisc(line string, gap bool) bool {
	q, is := m.qdiscOf(line)
	return gap && is && q.Handle != "0:" && m.qdiscs[[2]string{q.Interface, q.Handle}]
}

// qdisc parses a line of tc -s qdisc.
func (m *machine) qdisc(line string) bool {
	list := &m.Reading.End.Qdiscs
	if q, is := m.qdiscOf(line); is {
		m.class = false
		if m.qdiscs == nil {
			m.qdiscs = map[[2]string]bool{}
		}
		if len(*list) < mostRows {
			m.qdiscs[[2]string{q.Interface, q.Handle}] = true
			*list = append(*list, q)
			m.limited(q, line)
			m.shaped(q.Interface, line)
		}
		return true
	}
	if classHead.MatchString(line) {
		m.class = true
		return m.command.is("tc") && m.shaped(plain.Short(m.command.after("dev"), longestName), line) || m.ignore()
	}
	if !m.behindPart("qdiscs") || !strings.HasPrefix(line, " ") {
		return false
	}
	if m.class || len(*list) == 0 {
		return m.ignore()
	}
	q := &(*list)[len(*list)-1]
	if sent := qdiscSent.FindStringSubmatch(line); sent != nil {
		for i, field := range []*uint64{&q.Bytes, &q.Packets, &q.Drops, &q.Overlimits, &q.Requeues} {
			*field, _ = strconv.ParseUint(sent[i+1], 10, 64)
		}
		return true
	} else if waits := qdiscBacklog.FindStringSubmatch(line); waits != nil {
		bytes, _ := strconv.ParseFloat(waits[1], 64)
		bytes *= map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[waits[2]]
		q.Backlog = uint64(min(bytes, 1e18))
		q.Qlen, _ = strconv.ParseUint(waits[3], 10, 64)
		return true
	}
	return m.ignore() // a counter of its kind
}

// severalClasses is the shaper of an interface with several classes at the root.
const severalClasses = "several"

// shaped stores the rate of a shaper at the root of an interface's qdiscs. It reports whether the line has one.
func (m *machine) shaped(device, line string) bool {
	row := qdiscRate.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	rate, err := unit.ParseBitRate(strings.ToLower(row[3]))
	n := m.netif(device)
	if err != nil || rate <= 0 || n < 0 {
		return true
	}
	shaper, id := &netstate.Shaper{Kind: row[1] + row[2], RateBps: float64(rate)}, strings.Fields(line)[2]
	if of := m.shapers[device]; of != "" && of != id {
		shaper, id = nil, severalClasses // which of them the packets are in is not known
	}
	if m.shapers == nil {
		m.shapers = map[string]string{}
	}
	m.shapers[device], m.Reading.Snapshot.Interfaces[n].Shaper = id, shaper
	return true
}

// limited stores the queue length of a qdisc if the line has it as a plain number.
func (m *machine) limited(q netstate.QdiscCounters, line string) {
	limit := qdiscLimit.FindStringSubmatch(line)
	if limit == nil {
		return
	}
	if n := m.netif(q.Interface); n >= 0 {
		i := &m.Reading.Snapshot.Interfaces[n]
		i.Qdiscs = append(i.Qdiscs, netstate.Qdisc{Parent: strings.TrimPrefix(limit[1], "parent "), Kind: q.Kind,
			Options: map[string]string{"limit": limit[2]}})
	}
}
