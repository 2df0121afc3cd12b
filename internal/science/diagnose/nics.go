package diagnose

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Rules about settings of NICs, and about CPUs and memory.
var tunedRules = []rule{
	{id: "ring-small", host: true,
		about:  "A NIC's receive ring has at most 512 descriptors and a quarter of what it can have, and rx_missed_errors grew.",
		growth: true, parts: nicParts, find: eachNIC(ringSmall), sameCause: sameSummary,
		explains: []string{"ring-overrun", "ring-empty"}},
	{id: "interrupts-delayed", host: true,
		about: "A NIC waits 200 µs and longer for more packets before it interrupts, and does not adapt.",
		parts: nicParts, find: eachNIC(interruptsDelayed), sameCause: sameSummary},
	{id: "lro-while-forwarding", host: true, about: "Large receive offload is on, and the host forwards packets.",
		parts: []string{"nics", "parameters"}, find: eachNIC(lroForwarding), sameCause: sameSummary},
	{id: "wireless", host: true, about: "An interface with addresses is wireless.", parts: nicParts,
		find: eachNIC(wireless), sameCause: sameSummary},
	{id: "transmit-queue-short", host: true,
		about: "A NIC of 1 Gbit/s or more has a txqueuelen below 100, without being 0.", parts: nicParts,
		find: eachNIC(queueShort), sameCause: sameSummary, explains: []string{"qdisc-drop"}},
}

// Rules about CPUs and memory.
var loadRules = []rule{
	{id: "cpu-saturated", host: true, own: true, load: true,
		about: "A CPU was at least 97 % busy between the readings, which are at least half a second apart; the time of programs with a nice value above 0, which make room, is not counted.",
		parts: []string{"cpu"}, find: each(everyHost, cpuSaturated),
		explains: []string{"slow-reader", "packets-squeezed", "udp-buffer-overflow"}},
	{id: "cpu-stolen", host: true, own: true,
		about: "At least 5 % of a CPU's time between the readings was taken by the hypervisor (steal).",
		parts: []string{"cpu"}, find: each(everyHost, cpuStolen), explains: []string{"packets-squeezed"}},
	{id: "memory-short", host: true, own: true,
		about: "Less than 3 % of the machine's memory is available to programs.", parts: []string{"memory"},
		find: each(everyHost, memoryShort), explains: []string{"memory-pressure"}},
}

func ringSmall(p port) *record.Finding {
	const few = 512
	r := p.nic.Rings
	if r == nil || r.Rx <= 0 || r.Rx > few || r.MostRx < 4*r.Rx || !p.hardware() {
		return nil
	}
	n := max(p.counted().RxMissed, uint64(p.grown(missed))) // the driver's is refreshed first, see missedByDriver
	if n == 0 {
		return nil
	}
	return p.found(record.Likely, fmt.Sprintf("the receive ring of %s is short, and it has missed packets",
		p.i.Interface), ethtoolPage,
		[]string{fmt.Sprintf("%s: %d of %d descriptors; %s grew by %d%s", p.i.Interface, r.Rx, r.MostRx, missed, n,
			p.h.within())}, fmt.Sprintf("ethtool -G %s rx %d", p.i.Interface, min(r.MostRx, 4096)))
}

func interruptsDelayed(p port) *record.Finding {
	const long = 200 // µs
	c := p.nic.Coalesce
	if c == nil || c.RxUs < long || c.AdaptRx || !p.hardware() {
		return nil
	}
	return p.found(record.Possible,
		fmt.Sprintf("%s holds each packet back for up to %d µs, so that it interrupts less often", p.i.Interface,
			c.RxUs), ethtoolPage+"; Linux Documentation/networking/napi.rst",
		[]string{fmt.Sprintf("%s: rx-usecs %d, rx-frames %d, adaptive-rx off", p.i.Interface, c.RxUs, c.RxFrames)},
		"ethtool -C "+p.i.Interface+" adaptive-rx on, or rx-usecs 20 for short answers")
}

func lroForwarding(p port) *record.Finding {
	if !p.nic.Features["rx-lro"] || p.h.number("net.ipv4.ip_forward", 0) != 1 || !p.hardware() {
		return nil
	}
	return p.found(record.Likely,
		fmt.Sprintf("%s merges received segments into ones that cannot be forwarded as they were (LRO)", p.i.Interface),
		"Linux Documentation/networking/segmentation-offloads.rst; ethtool(8)",
		[]string{p.i.Interface + ": rx-lro is on; net.ipv4.ip_forward = 1"}, "ethtool -K "+p.i.Interface+" lro off")
}

func wireless(p port) *record.Finding {
	if !p.nic.Wireless || len(p.i.Addresses) == 0 || !p.i.Up {
		return nil
	}
	return p.found(record.Possible, fmt.Sprintf("%s is wireless: its rate and delay depend on the air", p.i.Interface),
		"IEEE 802.11; iw(8)",
		[]string{p.i.Interface + " is a wireless interface"}, "a cable for what is to be measured; iw dev "+
			p.i.Interface+" link shows signal and rate")
}

func queueShort(p port) *record.Finding {
	const few = 100
	n := p.nic.TxQueueLen
	if n <= 0 || n >= few || p.nic.SpeedMbps < 1000 || !p.hardware() {
		return nil
	}
	return p.found(record.Possible,
		fmt.Sprintf("the transmit queue of %s is short: bursts of several programs are dropped", p.i.Interface),
		"ip-link(8); tc-pfifo_fast(8)",
		[]string{fmt.Sprintf("%s: txqueuelen %d", p.i.Interface, n)}, "ip link set dev "+p.i.Interface+
			" txqueuelen 1000, or the qdisc fq")
}

// busy is what one CPU did between two readings.
type busy struct {
	cpu                   int
	total, idle, steal    float64
	user, system, softirq float64
	niced                 float64 // the part of user of programs with a nice value above 0
}

// cpusBusy are the CPUs between the readings; none if they are too close for the kernel's ticks.
func (h *host) cpusBusy() (list []busy) {
	const least = 0.5 // s
	for _, end := range h.reading.End.CPU {
		for _, b := range h.reading.Begin.CPU {
			if b.CPU != end.CPU || end.CPU < 0 || h.boot { // below 0: all together
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

func cpuSaturated(_ observed, h *host) *record.Finding {
	const full = 0.97
	var rows []string
	for _, c := range h.cpusBusy() {
		if c.idle+c.niced <= (1-full)*c.total && len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("CPU %d: %s idle in %s; programs %s, kernel %s, interrupts and softirqs %s",
				c.cpu, percent(c.idle/c.total), unit.FormatSeconds(c.total), percent(c.user/c.total),
				percent(c.system/c.total), percent(c.softirq/c.total)))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary: fmt.Sprintf("%d of %d CPUs have no time left: what needs them waits", len(rows),
			max(h.cpus, len(rows))), Evidence: rows,
		Reference: "proc_stat(5); Linux Documentation/networking/scaling.rst",
		Fix: on(h.name, h.alone,
			"top -1 and mpstat -P ALL 1 show what takes it; move programs (taskset) and interrupts (irqbalance, /proc/irq/N/smp_affinity_list) apart")}
}

func cpuStolen(_ observed, h *host) *record.Finding {
	const much = 0.05
	var rows []string
	for _, c := range h.cpusBusy() {
		if c.steal >= much*c.total && len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("CPU %d: %s of %s", c.cpu, percent(c.steal/c.total),
				unit.FormatSeconds(c.total)))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary: "the hypervisor takes CPU time from this machine: packets wait for it", Evidence: rows,
		Reference: "proc_stat(5) (steal)",
		Fix: []string{
			"fewer or smaller neighbours on the machine below, or a type of machine with CPUs of its own"}}
}

func memoryShort(_ observed, h *host) *record.Finding {
	m := h.reading.End.Memory
	if m == nil || h.state.MemoryBytes <= 0 || m.AvailableBytes <= 0 || m.AvailableBytes*100 >= 3*h.state.MemoryBytes {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary:   "the machine has hardly any memory left: buffers of the network do not grow, and packets are dropped",
		Reference: "proc_meminfo(5) (MemAvailable)",
		Evidence: []string{fmt.Sprintf("%.3g of %.3g GB are available", float64(m.AvailableBytes)/1e9,
			float64(h.state.MemoryBytes)/1e9)}, Fix: on(h.name, h.alone, "ps aux --sort=-rss shows what takes it")}
}
