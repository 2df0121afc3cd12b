package diagnose

import (
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/hostload"
)

const (
	// fullyBusy is the share from which on a CPU is the limit, where all CPUs together
	// are at most busyTogether.
	fullyBusy, busyTogether = 0.95, 0.8
	// atLimit is the share of the limit from which on no machine kept a trial from it.
	atLimit = 0.95
	// longBacklog is the number of packets above which a CPU's backlog holds them for longer than
	// connections wait.
	longBacklog = 300_000
	// waiting is the share of a window spent waiting for memory from which on it is found.
	waiting = 0.1
)

var machineRules = []rule{
	{id: "softirq-one-core",
		about: "A CPU was at least 95 % busy, half of it with interrupts and softirqs, served 95 % of all NET_RX softirqs, and all CPUs together were at most 80 % busy; not every flow was held back by a full link; certain when its budget ran out or its backlog overflowed, and most packets of softnet_stat were the hosts', possible when these were other network namespaces'.",
		find:  each(observed.slowMachines, softirqOneCore)},
	{id: "ring-overrun",
		about:  "rx_missed_errors of a NIC grew, of the kernel or of its driver: its receive ring was full. A bond or VLAN interface that counts the same packets again is left out.",
		growth: true, find: rxMissed, sameCause: sameSummary, explains: []string{"ring-empty", "nic-buffer-full"}},
	{id: "softnet-drop",
		about:  "The second column of softnet_stat grew: a CPU's backlog was full; possible where the CPUs took over three times the packets that the hosts' interfaces received, since softnet_stat is of all network namespaces.",
		growth: true, parts: []string{"softnet"}, find: each(observed.machines, softnetDrop)},
	{id: "memory-pressure",
		about: "TcpExt.TCPMemoryPressures grew (certain), or programs waited for memory for a tenth of the time (likely).",
		find:  each(observed.machines, memoryPressure), sameCause: sameSummary},
}

// hostOf is the host on which a machine is changed: the one that was read, or the machine of a lab,
// whose hosts cannot change it.
func hostOf(m hostload.Machine) string {
	if m.Name == hostload.This {
		return m.Name
	}
	return m.Host
}

func (f observed) machines() []hostload.Machine { return hostload.Of(f.trial, f.over) }

// slowMachines are the trial's machines, none where its goodput reached its limit.
func (f observed) slowMachines() []hostload.Machine {
	if t := f.trial; t.LimitBps > 0 && t.GoodputBps >= atLimit*t.LimitBps {
		return nil
	}
	return f.machines()
}

// nearlyAllSoftirqs is the share of the receive softirqs that one CPU serves at least where the
// others serve next to none.
const nearlyAllSoftirqs = 0.95

// softirqOneCore finds machines on which one CPU serves nearly all of the network's receive
// softirqs and is fully busy, while others are not. Where every flow has all of a link, it
// holds nothing back.
func softirqOneCore(o observed, m hostload.Machine) *record.Finding {
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
	if c.NetRxPerS < nearlyAllSoftirqs*all || len(o.trial.Flows) > 0 && !slices.ContainsFunc(o.trial.Flows, held) {
		return nil
	}
	finding := record.Finding{
		Host: hostOf(m), Confidence: record.Likely,
		Summary: fmt.Sprintf("CPU %d serves %s of the network's receive softirqs and is fully busy", c.CPU,
			share(c.NetRxPerS/all)),
		Evidence: []string{
			fmt.Sprintf("CPU %d was %s busy, %s with interrupts; all %d CPUs together were %s busy", c.CPU,
				share(c.Busy), share(c.Kernel()), len(m.CPUs), share(m.Busy)),
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
func rxMissed(f observed) (findings []record.Finding) {
	for _, h := range f.trial.Hosts {
		since := ""
		if o := f.host(h.Host); o != nil && o.boot {
			since = o.within()
		}
		for _, d := range h.Deltas() {
			if !h.Snapshot.Hardware(d.Interface) {
				continue
			}
			row := fmt.Sprintf("%s.%s: %s grew by %.0f%s, while it received %.0f packets", h.Host, d.Interface, missed,
				d.RxMissed, since, d.RxPackets)
			if d.RxMissed == 0 {
				row = f.missedByDriver(h.Host, d.Interface)
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
					on(h.Host, len(f.hosts) == 1,
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
func (f observed) missedByDriver(name, dev string) string {
	h := f.host(name)
	if h == nil {
		return ""
	}
	for _, i := range h.reading.Snapshot.Interfaces {
		if i.Interface != dev {
			continue
		}
		if p := h.port(i); p.grown(missed) > 0 {
			return fmt.Sprintf("%s.%s: %s of %s grew by %d%s", name, dev, missed, p.nic.Driver, p.grown(missed),
				h.over(p.nic.CountedS))
		}
	}
	return ""
}

const missed = "rx_missed_errors"

// softnetDrop finds machines that dropped packets because a CPU's backlog
// (net.core.netdev_max_backlog) was full.
func softnetDrop(f observed, m hostload.Machine) *record.Finding {
	if m.SoftDropped == 0 {
		return nil
	}
	finding := record.Finding{
		Host: hostOf(m), Confidence: record.Certain,
		Summary:   "packets were dropped because a CPU's backlog was full",
		Reference: "https://docs.kernel.org/admin-guide/sysctl/net.html",
	}
	const cpus, backlog = "more CPUs for the interface's interrupts", "net.core.netdev_max_backlog"
	if h := f.host(finding.Host); h != nil {
		finding.Fix, finding.Settings = h.raised(cpus, backlog, 10_000, longBacklog)
	} else {
		finding.Fix = on(finding.Host, false, cpus+"; or a larger "+backlog)
	}
	for _, b := range m.Backlogs {
		if b.Dropped == 0 {
			continue
		}
		row := fmt.Sprintf("CPU %d dropped %.0f packets and took %.0f (softnet_stat)", b.CPU, b.Dropped, b.Processed)
		if i := slices.IndexFunc(m.CPUs, func(c hostload.CPU) bool { return c.CPU == b.CPU }); i >= 0 {
			row += "; it was " + share(m.CPUs[i].Busy) + " busy"
		}
		finding.Evidence = append(finding.Evidence, row)
	}
	if m.Foreign() {
		finding.Confidence = record.Possible
		finding.Summary += ", perhaps packets of other network namespaces"
		finding.Evidence = append(finding.Evidence, foreignRow(m))
	}
	return &finding
}

// foreignRow says why a machine's softnet_stat need not be about its hosts.
func foreignRow(m hostload.Machine) string {
	return fmt.Sprintf(
		"softnet_stat is of the whole machine: its CPUs took %.0f packets, and the interfaces of %s received %.0f",
		m.Processed, join(m.Hosts), m.Received)
}

// memoryPressure finds machines on which TCP reached net.ipv4.tcp_mem, or programs
// waited for memory (PSI).
func memoryPressure(_ observed, m hostload.Machine) *record.Finding {
	switch {
	case m.TCPPressures > 0:
		return &record.Finding{
			Host: hostOf(m), Confidence: record.Certain, Summary: "TCP reached the bound of its memory",
			Evidence: []string{fmt.Sprintf(
				"TcpExt.TCPMemoryPressures grew by %d; TCP's buffers had %.3g MB at the end", m.TCPPressures,
				float64(m.TCPBytes)/1e6)},
			Fix: []string{
				"raise net.ipv4.tcp_mem (in pages, of the whole machine), or have fewer or smaller buffers"},
			Reference: "https://docs.kernel.org/networking/ip-sysctl.html",
		}
	case m.SomeWaited >= waiting:
		return &record.Finding{
			Host: hostOf(m), Confidence: record.Likely, Summary: "programs waited for memory",
			Evidence: []string{fmt.Sprintf(
				"some program waited for memory %s of the window, all of them %s; %.3g GB were available at its end",
				share(m.SomeWaited), share(m.AllWaited), float64(m.AvailableBytes)/1e9)},
			Fix:       []string{"end what else needs memory, or measure with fewer flows and smaller buffers"},
			Reference: "https://docs.kernel.org/accounting/psi.html",
		}
	}
	return nil
}

func share(v float64) string { return unit.FormatPercent(v) }
