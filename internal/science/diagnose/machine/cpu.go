package machine

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
	"linerate/internal/science/hostload"
)

const (
	// fullyBusy is the share from which on a CPU is the limit, where all CPUs together
	// are at most busyTogether.
	fullyBusy, busyTogether = 0.95, 0.8
)

const (
	// atLimit is the share of the limit from which on no machine kept a trial from it.
	atLimit = 0.95
)

const (
	// waiting is the share of a window spent waiting for memory from which on it is found.
	waiting = 0.1
)

// CPURules find CPUs and memory that hold traffic back.
var CPURules = []rule.Rule{
	{ID: "softirq-one-core",
		About: "A CPU was at least 95 % busy, half of it with interrupts and softirqs, served 95 % of all NET_RX softirqs, and all CPUs together were at most 80 % busy; not every flow was held back by a full link; certain when its budget ran out or its backlog overflowed, and most packets of softnet_stat were the hosts', possible when these were other network namespaces'.",
		Find:  rule.Each(slowMachines, softirqOneCore)},
	{ID: "ring-overrun",
		About:  "rx_missed_errors of a NIC grew, of the kernel or of its driver: its receive ring was full. A bond or VLAN interface that counts the same packets again is left out.",
		Growth: true, Find: rxMissed, SameCause: rule.SameSummary, Explains: []string{"ring-empty", "nic-buffer-full"}},
	{ID: "softnet-drop",
		About:  "The second column of softnet_stat grew: a CPU's backlog was full; possible where the CPUs took over three times the packets that the hosts' interfaces received, since softnet_stat is of all network namespaces.",
		Growth: true, Parts: []string{"softnet"}, Find: rule.Each(facts.Trial.Machines, softnetDrop)},
	{ID: "memory-pressure",
		About: "TcpExt.TCPMemoryPressures grew (certain), or programs waited for memory for a tenth of the time (likely).",
		Find:  rule.Each(facts.Trial.Machines, memoryPressure), SameCause: rule.SameSummary},
}

// slowMachines are the trial's machines, none where its goodput reached its limit.
func slowMachines(f facts.Trial) []hostload.Machine {
	if t := f.Trial; t.LimitBps > 0 && t.GoodputBps >= atLimit*t.LimitBps {
		return nil
	}
	return f.Machines()
}

// nearlyAllSoftirqs is the share of the receive softirqs that one CPU serves at least where the
// others serve next to none.
const nearlyAllSoftirqs = 0.95

// softirqOneCore finds machines on which one CPU serves nearly all of the network's receive
// softirqs and is fully busy, while others are not. Where every flow has all of a link, it
// holds nothing back.
func softirqOneCore(o facts.Trial, m hostload.Machine) *record.Finding {
	c, ok := m.Busiest()
	if !ok || len(m.CPUs) < 2 || c.Busy < fullyBusy || m.Busy > busyTogether || c.Kernel() < c.Busy/2 ||
		c.NetRxPerS == 0 {
		return nil
	}
	all := 0.0
	for _, other := range m.CPUs {
		all += other.NetRxPerS
	}
	held := func(f record.Flow) bool { return f.LimitedBy != bottleneck.FullLink }
	if c.NetRxPerS < nearlyAllSoftirqs*all || len(o.Trial.Flows) > 0 && !slices.ContainsFunc(o.Trial.Flows, held) {
		return nil
	}
	finding := record.Finding{
		Host: facts.HostOf(m), Confidence: record.Likely,
		Summary: fmt.Sprintf("CPU %d serves %s of the network's receive softirqs and is fully busy", c.CPU,
			unit.FormatPercent(c.NetRxPerS/all)),
		Evidence: []string{
			fmt.Sprintf("CPU %d was %s busy, %s with interrupts; all %d CPUs together were %s busy", c.CPU,
				unit.FormatPercent(c.Busy), unit.FormatPercent(c.Kernel()), len(m.CPUs), unit.FormatPercent(m.Busy)),
			fmt.Sprintf("%.0f receive softirqs and %.0f interrupts a second on it", c.NetRxPerS, c.InterruptsPerS),
		},
		Fix: []string{
			"spread the interface's queues: ethtool -X DEV equal N, irqbalance, or /proc/irq/*/smp_affinity",
			"with one queue: echo CPUS > /sys/class/net/DEV/queues/rx-0/rps_cpus",
		},
		Reference: "https://docs.kernel.org/networking/scaling.html",
	}
	if m.Foreign() {
		finding.Confidence = record.Possible
		finding.Evidence = append(finding.Evidence,
			"most of its packets are of other network namespaces (softnet_stat)")
	}
	if c.SoftDropped > 0 || c.Squeezed > 0 {
		if !m.Foreign() {
			finding.Confidence = record.Certain
		}
		finding.Evidence = append(finding.Evidence,
			fmt.Sprintf("it ran out of its budget %.0f times and dropped %.0f packets (softnet_stat)", c.Squeezed,
				c.SoftDropped))
	}
	return &finding
}

// rxMissed finds NICs that dropped packets because the host had not emptied their
// receive ring (rx_missed_errors).
func rxMissed(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Trial.Hosts {
		since := ""
		if o := f.Host(h.Host); o != nil && o.Boot {
			since = said.Within(o)
		}
		for _, d := range h.Deltas() {
			if !h.Snapshot.Hardware(d.Interface) {
				continue
			}
			row := fmt.Sprintf("%s.%s: %s grew by %.0f%s, while it received %.0f packets", h.Host, d.Interface,
				facts.Missed,
				d.RxMissed, since, d.RxPackets)
			if d.RxMissed == 0 {
				row = missedByDriver(f, h.Host, d.Interface)
			}
			if row == "" {
				continue
			}
			findings = append(findings, record.Finding{
				Host: h.Host, Confidence: record.Certain,
				Summary: fmt.Sprintf("%s dropped packets because the host did not empty its receive ring in time",
					d.Interface),
				Evidence: []string{row},
				Fix: []string{
					said.On(h.Host, len(f.Hosts) == 1,
						fmt.Sprintf("ethtool -G %s rx N, with N up to the maximum that ethtool -g %[1]s shows",
							d.Interface))[0],
					"serve the ring from a CPU that has time: more queues (ethtool -L), irqbalance or /proc/irq/*/smp_affinity",
				},
				Reference: "https://docs.kernel.org/networking/statistics.html; ethtool(8)",
			})
		}
	}
	return findings
}

// missedByDriver is the evidence that the driver's own rx_missed_errors grew (ethtool -S). Drivers
// read the device for that, and refresh the interface's counter now and then by a task, which
// comes late on a CPU that has no time. Empty: it did not grow.
func missedByDriver(f facts.Trial, name, dev string) string {
	h := f.Host(name)
	if h == nil {
		return ""
	}
	for _, i := range h.Reading.Snapshot.Interfaces {
		if i.Interface != dev {
			continue
		}
		if p := h.Port(i); p.Grown(facts.Missed) > 0 {
			return fmt.Sprintf("%s.%s: %s of %s grew by %d%s", name, dev, facts.Missed, p.NIC.Driver,
				p.Grown(facts.Missed),
				said.Over(h, p.NIC.CountedS))
		}
	}
	return ""
}

// softnetDrop finds machines that dropped packets because a CPU's backlog
// (net.core.netdev_max_backlog) was full.
func softnetDrop(f facts.Trial, m hostload.Machine) *record.Finding {
	if m.SoftDropped == 0 {
		return nil
	}
	finding := record.Finding{
		Host: facts.HostOf(m), Confidence: record.Certain,
		Summary:   "packets were dropped because a CPU's backlog was full",
		Reference: "https://docs.kernel.org/admin-guide/sysctl/net.html",
	}
	const cpus, backlog = "more CPUs for the interface's interrupts", "net.core.netdev_max_backlog"
	if h := f.Host(finding.Host); h != nil {
		finding.Fix, finding.Settings = fix.Raised(h, cpus, backlog, 10_000, facts.LongBacklog)
	} else {
		finding.Fix = said.On(finding.Host, false, cpus+"; or a larger "+backlog)
	}
	for _, b := range m.Backlogs {
		if b.Dropped == 0 {
			continue
		}
		row := fmt.Sprintf("CPU %d dropped %.0f packets and took %.0f (softnet_stat)", b.CPU, b.Dropped, b.Processed)
		if i := slices.IndexFunc(m.CPUs, func(c hostload.CPU) bool { return c.CPU == b.CPU }); i >= 0 {
			row += "; it was " + unit.FormatPercent(m.CPUs[i].Busy) + " busy"
		}
		finding.Evidence = append(finding.Evidence, row)
	}
	if m.Foreign() {
		finding.Confidence = record.Possible
		finding.Summary += ", perhaps packets of other network namespaces"
		finding.Evidence = append(finding.Evidence, said.ForeignRow(m))
	}
	return &finding
}

// memoryPressure finds machines on which TCP reached net.ipv4.tcp_mem, or programs
// waited for memory (PSI).
func memoryPressure(_ facts.Trial, m hostload.Machine) *record.Finding {
	switch {
	case m.TCPPressures > 0:
		return &record.Finding{
			Host: facts.HostOf(m), Confidence: record.Certain, Summary: "TCP reached the bound of its memory",
			Evidence: []string{fmt.Sprintf(
				"TcpExt.TCPMemoryPressures grew by %d; TCP's buffers had %.3g MB at the end", m.TCPPressures,
				float64(m.TCPBytes)/1e6)},
			Fix: []string{
				"raise net.ipv4.tcp_mem (in pages, of the whole machine), or have fewer or smaller buffers"},
			Reference: "https://docs.kernel.org/networking/ip-sysctl.html",
		}
	case m.SomeWaited >= waiting:
		return &record.Finding{
			Host: facts.HostOf(m), Confidence: record.Likely, Summary: "programs waited for memory",
			Evidence: []string{fmt.Sprintf(
				"some program waited for memory %s of the window, all of them %s; %.3g GB were available at its end",
				unit.FormatPercent(m.SomeWaited), unit.FormatPercent(m.AllWaited), float64(m.AvailableBytes)/1e9)},
			Fix:       []string{"end what else needs memory, or measure with fewer flows and smaller buffers"},
			Reference: "https://docs.kernel.org/accounting/psi.html",
		}
	}
	return nil
}

// Rules about CPUs and memory.
var LoadRules = []rule.Rule{
	{ID: "cpu-saturated", Host: true, Own: true, Load: true,
		About: "A CPU was at least 97 % busy between the readings, which are at least half a second apart; the time of programs with a nice value above 0, which make room, is not counted.",
		Parts: []string{"cpu"}, Find: rule.Each(rule.EveryHost, cpuSaturated),
		Explains: []string{"slow-reader", "packets-squeezed", "udp-buffer-overflow"}},
	{ID: "cpu-stolen", Host: true, Own: true,
		About: "At least 5 % of a CPU's time between the readings was taken by the hypervisor (steal).",
		Parts: []string{"cpu"}, Find: rule.Each(rule.EveryHost, cpuStolen), Explains: []string{"packets-squeezed"}},
	{ID: "memory-short", Host: true, Own: true,
		About: "Less than 3 % of the machine's memory is available to programs.", Parts: []string{"memory"},
		Find: rule.Each(rule.EveryHost, memoryShort), Explains: []string{"memory-pressure"}},
}

// busy is what one CPU did between two readings.
type busy struct {
	cpu                   int
	total, idle, steal    float64
	user, system, softirq float64
	niced                 float64 // the part of user of programs with a nice value above 0
}

// cpusBusy are the CPUs between the readings; none if they are too close for the kernel's ticks.
func cpusBusy(h *facts.Host) (list []busy) {
	const least = 0.5 // s
	for _, end := range h.Reading.End.CPU {
		for _, b := range h.Reading.Begin.CPU {
			if b.CPU != end.CPU || end.CPU < 0 || h.Boot { // below 0: all together
				continue
			}
			c := busy{cpu: end.CPU, idle: end.Idle - b.Idle, steal: end.Steal - b.Steal, user: end.User - b.User,
				niced: min(end.Nice-b.Nice, end.User-b.User), system: end.System - b.System,
				softirq: end.SoftIRQ - b.SoftIRQ + end.IRQ - b.IRQ}
			if c.total = c.idle + c.steal + c.user + c.system + c.softirq; c.total >= least {
				list = append(list, c)
			}
		}
	}
	return list
}

func cpuSaturated(_ facts.Trial, h *facts.Host) *record.Finding {
	const full = 0.97
	var rows []string
	for _, c := range cpusBusy(h) {
		if c.idle+c.niced <= (1-full)*c.total && len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("CPU %d: %s idle in %s; programs %s, kernel %s, interrupts and softirqs %s",
				c.cpu, facts.Percent(c.idle/c.total), unit.FormatSeconds(c.total), facts.Percent(c.user/c.total),
				facts.Percent(c.system/c.total), facts.Percent(c.softirq/c.total)))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary: fmt.Sprintf("%d of %d CPUs have no time left: what needs them waits", len(rows),
			max(h.CPUs, len(rows))), Evidence: rows,
		Reference: "proc_stat(5); Linux Documentation/networking/scaling.rst",
		Fix: said.On(h.Name, h.Alone,
			"top -1 and mpstat -P ALL 1 show what takes it; move programs (taskset) and interrupts (irqbalance, /proc/irq/N/smp_affinity_list) apart")}
}

func cpuStolen(_ facts.Trial, h *facts.Host) *record.Finding {
	const much = 0.05
	var rows []string
	for _, c := range cpusBusy(h) {
		if c.steal >= much*c.total && len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("CPU %d: %s of %s", c.cpu, facts.Percent(c.steal/c.total),
				unit.FormatSeconds(c.total)))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary: "the hypervisor takes CPU time from this machine: packets wait for it", Evidence: rows,
		Reference: "proc_stat(5) (steal)",
		Fix: []string{
			"fewer or smaller neighbours on the machine below, or a type of machine with CPUs of its own"}}
}

func memoryShort(_ facts.Trial, h *facts.Host) *record.Finding {
	m := h.Reading.End.Memory
	if m == nil || h.State.MemoryBytes <= 0 || m.AvailableBytes <= 0 || m.AvailableBytes*100 >= 3*h.State.MemoryBytes {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary:   "the machine has hardly any memory left: buffers of the network do not grow, and packets are dropped",
		Reference: "proc_meminfo(5) (MemAvailable)",
		Evidence: []string{fmt.Sprintf("%.3g of %.3g GB are available", float64(m.AvailableBytes)/1e9,
			float64(h.State.MemoryBytes)/1e9)}, Fix: said.On(h.Name, h.Alone, "ps aux --sort=-rss shows what takes it")}
}
