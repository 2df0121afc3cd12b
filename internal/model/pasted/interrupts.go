package pasted

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	&format{name: "/proc/interrupts", part: "interrupts", row: reads((*machine).cpuTable),
		files: []string{"proc/interrupts"},
		sure:  func(line string) bool { return irqOfChip.MatchString(line) || netSoftirq.MatchString(line) }},
	&format{name: "/proc/softirqs", part: "softirqs", row: reads((*machine).cpuTable), shapeless: true,
		files: []string{"proc/softirqs"}},
	&format{name: "/proc/stat", part: "cpu times", row: reads((*machine).cpuTimes), files: []string{"proc/stat"},
		sure: statRow.MatchString})

var (
	// cpuHead matches the head of a table with a column for each CPU.
	cpuHead = pattern.MustCompile(`^\s*CPU\d{1,5}(?:\s+CPU\d{1,5})*$`)
	cpuRow  = pattern.MustCompile(`^\s*([A-Za-z0-9_]{1,20}):((?:\s+\d{1,20})+)((?:\s+\S+)*)$`)
	// irqOfChip matches a row of /proc/interrupts with the name of an interrupt controller.
	irqOfChip = pattern.MustCompile(
		`^\s*\d{1,5}:(?:\s+\d{1,20})+\s+(?:IR-)?(?:PCI-MSIX?|GIC|ITS-MSI|MSI|IO-APIC|XICS|XIVE|PIC-MSI|dummy)\S*\s`)
	otherIRQ   = pattern.MustCompile(`^[A-Z]{3}\d?$`) // NMI, LOC, IPI0
	netSoftirq = pattern.MustCompile(`^\s*NET_[RT]X:(?:\s+\d{1,20})+$`)
	softirqs   = []string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"}
)

// interrupts has what tables of CPUs say of a machine.
type interrupts struct {
	// cpus is the number of CPUs. 0: no text says it.
	cpus int
	// irqs has the interrupts by number, in the order of the text; irqCounts is the number of their
	// entries by CPU.
	irqs      []netstate.IRQ
	irqCounts int
	// events has the index of each CPU in Events.
	events map[int]int
}

// cpuColumns is what rows of a table of CPUs depend on: the CPU of each column. Nil: the columns have
// no head, and are those of the CPUs 0, 1, …
type cpuColumns []int

// cpu returns the CPU of a column.
func (c cpuColumns) cpu(column int) int {
	if c == nil {
		return column
	}
	return c[column]
}

// cpuTable parses a line of /proc/interrupts or /proc/softirqs:
//
//	 45: 3312007711          0   PCI-MSI-edge      eth0-TxRx-0
//	NET_RX:   54770444   51650647
func (m *machine) cpuTable(line string) bool {
	if cpuHead.MatchString(line) {
		m.columnCPUs = nil
		for word := range strings.FieldsSeq(line) {
			m.columnCPUs = append(m.columnCPUs, number(strings.TrimPrefix(word, "CPU")))
		}
		m.cpus = max(m.cpus, len(m.columnCPUs))
		return m.ignore()
	}
	row := cpuRow.FindStringSubmatch(line)
	known := m.columnCPUs != nil || m.command.prints() != ""
	if row == nil || !known && !irqOfChip.MatchString(line) && !netSoftirq.MatchString(line) {
		return false
	}
	counts, rest := strings.Fields(row[2]), strings.Fields(row[3])
	if m.columnCPUs != nil && len(counts) > len(m.columnCPUs) { // a number of the controller's
		rest = append(slices.Clone(counts[len(m.columnCPUs):]), rest...)
		counts = counts[:len(m.columnCPUs)]
	}
	name := strings.ToUpper(row[1])
	if i := slices.Index(softirqs, strings.Replace(name, "BLOCK_IOPOLL", "IRQ_POLL", 1)); i >= 0 && len(rest) == 0 {
		return m.softirq(softirqs[i], counts)
	}
	irq, err := strconv.ParseUint(row[1], 10, 31)
	if err != nil && !otherIRQ.MatchString(name) {
		return false
	}
	if m.columnCPUs != nil && !m.filtered && len(counts) == len(m.columnCPUs) {
		for i, text := range counts {
			n, _ := strconv.ParseUint(text, 10, 64)
			if e := m.eventsOf(m.columnCPUs.cpu(i)); e != nil {
				e.Interrupts += n
			}
		}
	}
	if err != nil || len(rest) == 0 || len(m.irqs) >= mostRows {
		return m.ignore()
	}
	m.interrupt(int(irq), counts, rest)
	return true
}

// interrupt keeps an interrupt until its NIC is known.
func (m *machine) interrupt(irq int, counts, rest []string) {
	i := netstate.IRQ{IRQ: irq, Name: plain.Short(strings.Join(rest, " "), longestName)}
	for column, text := range counts {
		n, _ := strconv.ParseInt(text, 10, 64)
		if i.Count += n; n > 0 && m.irqCounts < 8*mostRows {
			m.irqCounts++
			i.ByCPU = append(i.ByCPU, netstate.CPUCount{CPU: m.columnCPUs.cpu(column), Count: n})
		}
	}
	m.irqs = append(m.irqs, i)
}

// softirq stores the counts of a kind of softirq.
func (m *machine) softirq(kind string, counts []string) bool {
	end := &m.Reading.End
	lists.Put(&end.Softirqs, kind, 0)
	for i, text := range counts {
		n, _ := strconv.ParseUint(text, 10, 64)
		end.Softirqs[kind] += n
		if e := m.eventsOf(m.columnCPUs.cpu(i)); e != nil {
			e.Softirqs[kind] = n
		}
	}
	return true
}

// eventsOf returns the events of a CPU, which it adds if they are new. Nil: there are too many.
func (m *machine) eventsOf(cpu int) *netstate.CPUEvents {
	list := &m.Reading.End.Events
	i, has := m.events[cpu]
	if !has {
		if len(*list) >= mostInterfaces {
			return nil
		}
		if m.events == nil {
			m.events = map[int]int{}
		}
		i = len(*list)
		m.events[cpu] = i
		*list = append(*list, netstate.CPUEvents{CPU: cpu, Softirqs: map[string]uint64{}})
	}
	return &(*list)[i]
}

var (
	// busOfIRQ is the PCI address in the name of an interrupt: mlx5_comp0@pci:0000:1d:00.0.
	busOfIRQ = pattern.MustCompile(`@(?:pci:)?([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\b`)
	// netOfIRQ matches names of interfaces in that of an interrupt, behind that of a driver:
	// eth0-TxRx-0, i40e-enp1s0f0-TxRx-3.
	netOfIRQ = pattern.MustCompile(`^(?:[a-z0-9_]+-)?(` +
		`(?:eth|em|ib|lan|wan|wlan)\d+|en[opsxP][0-9a-zA-Z]+|p\d+p\d+|wl[opsx]\w+)(?:-|$)`)
	virtioOfIRQ = pattern.MustCompile(`^virtio\d+-(?:input|output)\.\d+$`)
)

// finishIRQs adds the interrupts to their NICs.
func (m *machine) finishIRQs() {
	byBus, virtio := map[string]string{}, ""
	for _, n := range m.State.NICs {
		byBus[n.Bus] = n.Interface
		if n.Driver == "virtio_net" {
			virtio = map[bool]string{true: n.Interface, false: "-"}[virtio == ""] // several: unknown
		}
	}
	lists := map[string][]netstate.IRQ{}
	for _, irq := range m.irqs {
		of := ""
		words := strings.FieldsFunc(irq.Name, func(r rune) bool { return r == ' ' || r == ',' })
		for _, word := range words[min(len(words), 1):] {
			if of = m.interfaceOfIRQ(word, byBus); of == "" && virtioOfIRQ.MatchString(word) && virtio != "-" {
				of = virtio
			}
			if of != "" {
				irq.Name = word
				break
			}
		}
		if of != "" {
			lists[of] = append(lists[of], irq)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		list := lists[name]
		slices.SortStableFunc(list, func(a, b netstate.IRQ) int { return cmp.Compare(a.IRQ, b.IRQ) })
		m.nicOf(name).IRQs = list
	}
}

// interfaceOfIRQ returns the interface of an interrupt by its name; empty if it is unknown.
func (m *machine) interfaceOfIRQ(name string, byBus map[string]string) string {
	if bus := busOfIRQ.FindStringSubmatch(name); bus != nil {
		return byBus[bus[1]]
	}
	parts := strings.Split(name, "-")
	for begin := range parts[:min(len(parts), 2)] { // the first can be the driver
		for end := len(parts); end > begin; end-- {
			known := strings.Join(parts[begin:end], "-")
			if _, has := m.netifs[known]; has {
				return known
			}
		}
	}
	if match := netOfIRQ.FindStringSubmatch(name); match != nil && len(match[1]) < 16 {
		return match[1]
	}
	return ""
}

// statRow matches the times of all or one of the CPUs in /proc/stat.
var statRow = pattern.MustCompile(`^cpu(\d{0,5}) +(\d{1,18}(?: \d{1,18}){6,9})$`)

// cpuTimes parses a line of /proc/stat (proc_stat(5)), in ticks of 1/100 s.
func (m *machine) cpuTimes(line string) bool {
	words := strings.Fields(line)
	if words[0] == "softirq" && len(words) >= 12 {
		for i, kind := range softirqs {
			n, _ := strconv.ParseUint(words[i+2], 10, 64)
			lists.Put(&m.Reading.End.Softirqs, kind, n)
		}
		return true
	}
	row := statRow.FindStringSubmatch(line)
	if row == nil {
		return slices.Contains([]string{"intr", "ctxt", "btime", "processes", "procs_running", "procs_blocked", "page",
			"swap"}, words[0]) && m.ignore()
	}
	var s [8]float64 // user, nice, system, idle, iowait, irq, softirq, steal
	for i, text := range strings.Fields(row[2])[:min(len(s), strings.Count(row[2], " ")+1)] {
		n, _ := strconv.ParseUint(text, 10, 64)
		s[i] = float64(n) / 100
	}
	c := netstate.CPUTimes{CPU: -1, User: s[0] + s[1], Nice: s[1], System: s[2], Idle: s[3] + s[4], IRQ: s[5],
		SoftIRQ: s[6], Steal: s[7]}
	list := &m.Reading.End.CPU
	if row[1] == "" {
		*list = nil // the first line of the file
	} else {
		c.CPU = number(row[1])
	}
	if len(*list) < mostInterfaces {
		*list = append(*list, c)
	}
	if c.CPU >= 0 {
		m.cpus = max(m.cpus, c.CPU+1)
	}
	return true
}
