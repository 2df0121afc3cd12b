package machine

import (
	"fmt"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/hostload"
)

const (
	// A CPU that is busy for a share of at least fullyBusy is the limit if all CPUs together are busy
	// for at most busyTogether.
	fullyBusy, busyTogether = 0.95, 0.8
)

const (
	// atLimit is the share of its limit from which on a trial is not held back by a machine.
	atLimit = 0.95
)

const (
	// waiting is the share of a window spent waiting for memory from which on there is a finding.
	waiting = 0.1
)

// CPURules find CPUs and memory that hold traffic back.
var CPURules = []rule.Rule{
	{ID: cause.SoftirqOneCore.Code, Find: rule.Each(slowMachines, softirqOneCore)},
	{ID: cause.RingOverrun.Code, Growth: true, Parts: []string{facts.Counters(facts.Missed)}, Find: rxMissed,
		Explains: []string{"ring-empty", "nic-buffer-full"}},
	{ID: cause.SoftnetDrop.Code, Growth: true, Parts: []string{"softnet"},
		Find: rule.Each(facts.Trial.Machines, softnetDrop)},
	{ID: cause.MemoryPressure.Code, Find: rule.Each(facts.Trial.Machines, memoryPressure)},
}

// slowMachines returns the trial's machines; none if its goodput reached its limit.
func slowMachines(f facts.Trial) []hostload.Machine {
	if t := f.Trial; t.LimitBps > 0 && t.GoodputBps >= atLimit*t.LimitBps {
		return nil
	}
	return f.Machines()
}

// nearlyAllSoftirqs is the least share of the receive softirqs that one CPU serves if the others
// serve almost none.
const nearlyAllSoftirqs = 0.95

// softirqOneCore finds machines on which one fully busy CPU serves nearly all receive softirqs of
// the network while the others are not busy. It finds nothing if every flow fills its link.
func softirqOneCore(o facts.Trial, m hostload.Machine) *record.Finding {
	c, ok := m.Busiest()
	if !ok || len(m.CPUs) < 2 || c.Busy < fullyBusy || m.Busy > busyTogether || c.Kernel() < c.Busy/2 ||
		c.NetRxPerS == 0 {
		return nil
	}
	all := lists.Sum(m.CPUs, func(other hostload.CPU) float64 { return other.NetRxPerS })
	held := func(f record.Flow) bool { return f.LimitedBy != bottleneck.FullLink }
	if c.NetRxPerS < nearlyAllSoftirqs*all || len(o.Trial.Flows) > 0 && !slices.ContainsFunc(o.Trial.Flows, held) {
		return nil
	}
	finding := facts.FoundAt(cause.SoftirqOneCore, facts.HostOf(m), record.Likely,
		cause.Core{CPU: c.CPU, Share: c.NetRxPerS / all}).With(facts.HostOf(m),
		fact.BusyCPU{CPU: c.CPU, Busy: c.Busy, Interrupts: c.Kernel(), CPUs: len(m.CPUs), Together: m.Busy},
		fact.Softirqs{ReceivePerS: c.NetRxPerS, InterruptsPerS: c.InterruptsPerS})
	if m.Foreign() {
		finding.Confidence = record.Possible
		finding.With(finding.Host, fact.OtherNamespaces{})
	}
	if c.SoftDropped > 0 || c.Squeezed > 0 {
		if !m.Foreign() {
			finding.Confidence = record.Certain
		}
		finding.With(finding.Host, fact.Budget{Squeezed: c.Squeezed, Dropped: c.SoftDropped})
	}
	return finding
}

// rxMissed finds NICs that dropped packets because the host had not emptied their
// receive ring (rx_missed_errors).
func rxMissed(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Trial.Hosts {
		software, deltas := h.Snapshot.Software(), h.Deltas()
		o := f.Host(h.Host)
		alone := o != nil && o.Pasted != nil && !slices.ContainsFunc(deltas, func(d netstate.InterfaceDelta) bool {
			return !software[d.Interface]
		})
		for _, d := range deltas {
			if software[d.Interface] && !alone { // a bond counts what its members count; a text may have it alone
				continue
			}
			is := fact.RingMissed{Interface: d.Interface, Missed: d.RxMissed, Received: d.RxPackets}
			if o != nil {
				is.Time, is.Printed = o.Time(), o.Names[facts.Missed]
			}
			if d.RxMissed == 0 {
				is = missedByDriver(f, h.Host, d.Interface)
			}
			if is.Missed == 0 {
				continue
			}
			finding := facts.FoundAt(cause.RingOverrun, h.Host, record.Certain, cause.None{}).With(h.Host, is)
			finding.About.Interface = d.Interface
			findings = append(findings, *finding)
		}
	}
	return findings
}

// missedByDriver returns the growth of the driver's own rx_missed_errors (ethtool -S) as evidence;
// Missed is 0 if it did not grow. Drivers read the device for that counter, while a task refreshes
// the interface's counter from time to time, and runs late on a busy CPU.
func missedByDriver(f facts.Trial, name, dev string) (is fact.RingMissed) {
	h := f.Host(name)
	if h == nil {
		return is
	}
	if i, read := h.Snapshot(dev); read {
		if p := h.Port(i); p.Grown(facts.Missed) > 0 {
			return fact.RingMissed{Interface: dev, Driver: p.NIC.Driver, Missed: float64(p.Grown(facts.Missed)),
				Time: h.TimeOver(p.NIC.CountedS)}
		}
	}
	return is
}

// raised returns the steps that raise a kernel parameter to the larger of least and twice its
// value. If that is above most, there are no steps, and already is the present value.
func raised(h *facts.Host, key string, least, most int64) (steps []record.Step, already int64) {
	has := h.Number(key, 0)
	value := max(least, 2*has)
	if value > most {
		return nil, has
	}
	return fix.Parameter(h, key, fmt.Sprint(value)), 0
}

// softnetDrop finds machines that dropped packets because a CPU's backlog
// (net.core.netdev_max_backlog) was full.
func softnetDrop(f facts.Trial, m hostload.Machine) *record.Finding {
	if m.SoftDropped == 0 {
		return nil
	}
	host, confidence, args := facts.HostOf(m), record.Certain, cause.Raised{Foreign: m.Foreign()}
	if args.Foreign {
		confidence = record.Possible
	}
	var steps []record.Step
	if h := f.Host(host); h != nil {
		steps, args.Already = raised(h, "net.core.netdev_max_backlog", 10_000, facts.LongBacklog)
	}
	finding := facts.FoundAt(cause.SoftnetDrop, host, confidence, args).Fixed(steps...)
	for _, b := range m.Backlogs {
		if b.Dropped == 0 {
			continue
		}
		is := fact.BacklogDropped{CPU: b.CPU, Dropped: b.Dropped, Took: b.Processed}
		if i := slices.IndexFunc(m.CPUs, func(c hostload.CPU) bool { return c.CPU == b.CPU }); i >= 0 {
			is.Busy = &m.CPUs[i].Busy
		}
		finding.With(host, is)
	}
	if args.Foreign {
		finding.With(host, wholeMachine(m))
	}
	return finding
}

// wholeMachine returns why the counts of a machine's softnet_stat need not be of its hosts, as
// evidence.
func wholeMachine(m hostload.Machine) fact.WholeMachine {
	return fact.WholeMachine{Hosts: m.Hosts, Took: m.Processed, Received: m.Received}
}

// memoryPressure finds machines on which TCP reached net.ipv4.tcp_mem, or programs
// waited for memory (PSI).
func memoryPressure(_ facts.Trial, m hostload.Machine) *record.Finding {
	host := facts.HostOf(m)
	switch {
	case m.TCPPressures > 0:
		return facts.FoundAt(cause.MemoryPressure, host, record.Certain, cause.Pressure{}).
			With(host, fact.TCPPressure{Grew: m.TCPPressures, Bytes: m.TCPBytes})
	case m.SomeWaited >= waiting:
		return facts.FoundAt(cause.MemoryPressure, host, record.Likely, cause.Pressure{Programs: true}).
			With(host, fact.MemoryWaits{Some: m.SomeWaited, All: m.AllWaited, AvailableBytes: m.AvailableBytes})
	}
	return nil
}

// LoadRules are about CPUs and memory of hosts.
var LoadRules = []rule.Rule{
	{ID: cause.CPUSaturated.Code, Host: true, Own: true, Load: true, Parts: []string{"cpu"},
		Find:     rule.Each(rule.EveryHost, cpuSaturated),
		Explains: []string{"slow-reader", "packets-squeezed", "udp-buffer-overflow"}},
	{ID: cause.CPUStolen.Code, Host: true, Own: true, Parts: []string{"cpu"},
		Find: rule.Each(rule.EveryHost, cpuStolen), Explains: []string{"packets-squeezed"}},
	{ID: cause.MemoryShort.Code, Host: true, Own: true, Parts: []string{"memory"},
		Find: rule.Each(rule.EveryHost, memoryShort), Explains: []string{"memory-pressure"}},
}

// busy is the CPU time of one CPU between two readings, in seconds.
type busy struct {
	cpu                   int // -1: all together, of a text that has no others
	total, idle, steal    float64
	user, system, softirq float64
	niced                 float64 // part of user, of programs with a nice value above 0
	shares                bool    // the times are shares of an interval of a text, from mpstat(1) or sar(1)
}

// over returns the length of the interval in seconds. 0: unknown.
func (b busy) over() float64 {
	if b.shares {
		return 0
	}
	return b.total
}

// cpusBusy returns the CPUs' times between the readings; none if they are too close for the
// kernel's ticks. Of pasted text they are the shares that mpstat(1) or sar(1) prints.
func cpusBusy(h *facts.Host) (list []busy) {
	const least = 0.5 // s
	for _, c := range h.State.CPULoad {
		if (c.CPU >= 0 || len(h.State.CPULoad) == 1) && !h.Boot {
			list = append(list, busy{cpu: c.CPU, total: 1, idle: c.Idle, steal: c.Steal, user: c.User, system: c.System,
				softirq: c.IRQ + c.SoftIRQ, shares: true})
		}
	}
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

// mostCPUs bounds the CPUs that are evidence of one finding.
const mostCPUs = 6

func cpuSaturated(_ facts.Trial, h *facts.Host) *record.Finding {
	const full = 0.97
	var list []any
	busy := 0
	for _, c := range cpusBusy(h) {
		if c.idle+c.niced <= (1-full)*c.total && len(list) < mostCPUs {
			if busy++; c.cpu < 0 {
				busy = h.CPUs // 0: unknown
			}
			list = append(list, fact.CPUTime{CPU: c.cpu, OverS: c.over(), Idle: c.idle / c.total,
				Programs: c.user / c.total, Kernel: c.system / c.total, Interrupts: c.softirq / c.total})
		}
	}
	if len(list) == 0 {
		return nil
	}
	return facts.Found(cause.CPUSaturated, h, record.Likely, cause.CPUs{Full: busy, Of: max(h.CPUs, busy)}).
		With(h.Name, list...)
}

func cpuStolen(_ facts.Trial, h *facts.Host) *record.Finding {
	const much = 0.05
	var list []any
	for _, c := range cpusBusy(h) {
		if c.steal >= much*c.total && len(list) < mostCPUs {
			list = append(list, fact.StolenTime{CPU: c.cpu, OverS: c.over(), Share: c.steal / c.total})
		}
	}
	if len(list) == 0 {
		return nil
	}
	return facts.Found(cause.CPUStolen, h, record.Likely, cause.None{}).With(h.Name, list...)
}

func memoryShort(_ facts.Trial, h *facts.Host) *record.Finding {
	m := h.Reading.End.Memory
	if m == nil || h.State.MemoryBytes <= 0 || m.AvailableBytes <= 0 || m.AvailableBytes*100 >= 3*h.State.MemoryBytes {
		return nil
	}
	return facts.Found(cause.MemoryShort, h, record.Likely, cause.None{}).
		With(h.Name, fact.Memory{AvailableBytes: m.AvailableBytes, Bytes: h.State.MemoryBytes})
}
