// Package hostload sums up the load of the machines in a trial: how busy each CPU was and with what
// (proc_stat(5)), what the kernel dropped or deferred because of that (/proc/net/softnet_stat), and
// whether memory was short. It only subtracts readings; packages trust, bottleneck and diagnose
// judge whether a machine was the limit.
package hostload

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/model/index"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// CPU is the load of one CPU over the window. Busy to Steal are shares of the window, 0…1.
type CPU struct {
	CPU                              int
	Busy                             float64 // everything except idle
	User, System, IRQ, SoftIRQ       float64
	Niced                            float64 // the part of User that niced programs had
	Steal                            float64 // taken by the hypervisor
	InterruptsPerS, NetRxPerS        float64
	Processed, SoftDropped, Squeezed float64 // packets, packets, times
}

// Kernel returns the share of time spent on interrupts and softirqs.
func (c CPU) Kernel() float64 { return c.IRQ + c.SoftIRQ }

// Backlog is what one CPU's backlog queue of received packets counted over the window.
type Backlog struct {
	CPU                          int
	Processed, Dropped, Squeezed float64 // packets, packets, times
}

// Machine is the load of one machine over the window, as the agent of one of its hosts read it.
type Machine struct {
	// Name is the name of the host that runs on the machine, of several such hosts joined by "and",
	// or This for the machine of all hosts that linerate created.
	Name string
	// Host is the host whose reading this is; Hosts are all that run on the machine.
	Host  string
	Hosts []string
	CPUs  []CPU
	// Backlogs has the counters of softnet_stat for each CPU, also of those whose times were not
	// read. SoftDropped and Squeezed are their sums.
	Backlogs []Backlog
	// Busy is the mean over the CPUs.
	Busy                  float64
	SoftDropped, Squeezed float64
	// Processed counts the packets that its CPUs processed, in all network namespaces and including
	// loopback (softnet_stat). Received counts those that the interfaces of its hosts received.
	// Below 0: unknown.
	Processed, Received float64
	// RxMissed counts packets for which the NICs of its hosts had no receive buffer.
	RxMissed float64
	// SomeWaited and AllWaited are the shares of the window in which some program, or all, waited
	// for memory. AvailableBytes is the available memory, and TCPBytes the memory of TCP sockets,
	// at the end of the window.
	SomeWaited, AllWaited float64
	AvailableBytes        int64
	TCPBytes              int64
	// Resent counts segments that its hosts' TCP retransmitted, and Sent all that it sent.
	// TCPPressures is how often TCP reached its memory bound (tcp_mem).
	Resent, Sent, TCPPressures int64
}

// farMore is the ratio of the packets that the CPUs processed to those that the hosts' interfaces
// received above which most packets are not the hosts'. The links between the namespaces of an
// emulation only double them.
const farMore = 3

// Foreign reports whether most packets that the machine's CPUs processed were not received by the
// interfaces of its hosts. What softnet_stat counts may then belong to other network namespaces.
func (m Machine) Foreign() bool { return m.Received >= 0 && m.Processed > farMore*m.Received }

// ForeignAt reports Foreign of the machine that a host runs on. hosts are all hosts of a trial.
func ForeignAt(hosts []netstate.HostReading, host string) bool {
	i := slices.IndexFunc(hosts, func(h netstate.HostReading) bool { return h.Host == host })
	if i < 0 {
		return false
	}
	m := read(host, hosts[i])
	for j, h := range hosts {
		if i == j || Same(hosts[i], h) {
			m.add(h)
		}
	}
	return m.Foreign()
}

// add adds a host and what its interfaces received.
func (m *Machine) add(h netstate.HostReading) {
	m.Hosts = append(m.Hosts, h.Host)
	for _, d := range h.Deltas() {
		m.Received = max(m.Received, 0) + d.RxPackets
	}
}

// This is the name of the machine on which linerate created its hosts.
const This = "this machine"

// Busiest returns the machine's busiest CPU; false if no CPU was read.
func (m Machine) Busiest() (CPU, bool) {
	if len(m.CPUs) == 0 {
		return CPU{}, false
	}
	return slices.MaxFunc(m.CPUs, func(a, b CPU) int { // the first of equals
		return cmp.Or(cmp.Compare(a.Busy, b.Busy), b.CPU-a.CPU)
	}), true
}

// BusiestOf returns the busiest CPU of the machine that a host runs on; false if no CPU was read.
func BusiestOf(h netstate.HostReading) (CPU, bool) { return read(h.Host, h).Busiest() }

// Same reports whether two hosts run on one machine: the times of each of its CPUs since boot agree
// at both edges of the window, within the time that it took to read them.
func Same(a, b netstate.HostReading) bool {
	const apartS = 0.1
	agree := func(a, b []netstate.CPUTimes) bool {
		return len(a) > 0 && slices.EqualFunc(a, b, func(x, y netstate.CPUTimes) bool {
			return x.CPU == y.CPU && (x.CPU < 0 || math.Abs(x.User-y.User) <= apartS &&
				math.Abs(x.System-y.System) <= apartS && math.Abs(x.Idle-y.Idle) <= apartS)
		})
	}
	return agree(a.Begin.CPU, b.Begin.CPU) && agree(a.End.CPU, b.End.CPU)
}

// Of lists the machines of a trial: one for all hosts that linerate created, and one for each other
// host, or for several that run on one machine ("client and server").
func Of(t record.Trial, over *topology.Topology) (list []Machine) {
	var first []netstate.HostReading // the first host of each machine
	for _, h := range t.Hosts {
		name := This
		if host, ok := over.Host(h.Host); ok && len(host.Via) > 0 {
			name = h.Host
		} else if s, ok := over.Switch(h.Host); ok && len(s.Via) > 0 {
			name = h.Host
		}
		i := slices.IndexFunc(list, func(m Machine) bool { return m.Name == name })
		if j := slices.IndexFunc(first, func(other netstate.HostReading) bool { return Same(other, h) }); i < 0 &&
			j >= 0 && list[j].Name != This {
			i, list[j].Name = j, list[j].Name+" and "+name
		}
		if i < 0 {
			i, list, first = len(list), append(list, read(name, h)), append(first, h)
		}
		m := &list[i]
		m.add(h)
		software := h.Snapshot.Software()
		for _, d := range h.Deltas() {
			if !software[d.Interface] {
				m.RxMissed += d.RxMissed
			}
		}
		m.Resent += h.SNMPDelta("Tcp.RetransSegs")
		m.Sent += h.SNMPDelta("Tcp.OutSegs")
		m.TCPPressures += h.SNMPDelta("TcpExt.TCPMemoryPressures")
	}
	return list
}

// read returns the load of a host's machine from the differences of its two readings. A counter
// that ran backwards counts as 0.
func read(name string, h netstate.HostReading) Machine {
	m := Machine{Name: name, Host: h.Host, Received: -1}
	seconds := float64(h.End.BeganNs-h.Begin.BeganNs) / 1e9
	begins := index.First(h.Begin.CPU, func(c netstate.CPUTimes) int { return c.CPU })
	for _, end := range h.End.CPU {
		i, is := begins[end.CPU]
		if !is {
			continue // the CPU came online during the window
		}
		c, ok := times(h.Begin.CPU[i], end)
		switch {
		case !ok:
		case end.CPU < 0:
			m.Busy = c.Busy
		default:
			m.CPUs = append(m.CPUs, c)
		}
	}
	backlogs := index.First(h.Begin.Softnet, func(s netstate.SoftnetCounters) int { return s.CPU })
	for _, end := range h.End.Softnet {
		i, is := backlogs[end.CPU]
		if !is && h.Begin.BeganNs != 0 {
			continue
		}
		var begin netstate.SoftnetCounters // counters since boot, if they were not read at the begin
		if is {
			begin = h.Begin.Softnet[i]
		}
		b := Backlog{end.CPU, netstate.Grown(begin.Processed, end.Processed), netstate.Grown(begin.Dropped,
			end.Dropped),
			netstate.Grown(begin.Squeezed, end.Squeezed)}
		m.Backlogs = append(m.Backlogs, b)
		m.Processed += b.Processed
		m.SoftDropped += b.Dropped
		m.Squeezed += b.Squeezed
	}
	number := func(e netstate.CPUEvents) int { return e.CPU }
	before, after := index.First(h.Begin.Events, number), index.First(h.End.Events, number)
	own := index.First(m.Backlogs, func(b Backlog) int { return b.CPU })
	for i := range m.CPUs {
		c := &m.CPUs[i]
		if seconds > 0 {
			a, b := at(h.Begin.Events, before, c.CPU), at(h.End.Events, after, c.CPU)
			c.InterruptsPerS = netstate.Grown(a.Interrupts, b.Interrupts) / seconds
			c.NetRxPerS = netstate.Grown(a.Softirqs["NET_RX"], b.Softirqs["NET_RX"]) / seconds
		}
		b := at(m.Backlogs, own, c.CPU)
		c.Processed, c.SoftDropped, c.Squeezed = b.Processed, b.Dropped, b.Squeezed
	}
	if a, b := h.Begin.Memory, h.End.Memory; a != nil && b != nil && seconds > 0 {
		m.SomeWaited = min(1, netstate.Grown(a.SomeWaitedUs, b.SomeWaitedUs)/1e6/seconds)
		m.AllWaited = min(1, netstate.Grown(a.AllWaitedUs, b.AllWaitedUs)/1e6/seconds)
		m.AvailableBytes, m.TCPBytes = b.AvailableBytes, b.TCPBytes
	}
	return m
}

// Stolen returns the share of its CPUs' time that a hypervisor took from a host's machine in the
// window; false if it was not read.
func Stolen(h netstate.HostReading) (float64, bool) {
	m, sum := read(h.Host, h), 0.0
	for _, c := range m.CPUs {
		sum += c.Steal
	}
	if len(m.CPUs) == 0 && len(h.Begin.CPU) == 1 && len(h.End.CPU) == 1 { // a brief reading has their sum
		c, ok := times(h.Begin.CPU[0], h.End.CPU[0])
		return c.Steal, ok
	}
	return sum / max(1, float64(len(m.CPUs))), len(m.CPUs) > 0
}

// times returns the shares of the time that a CPU spent on each use between two readings; false if
// it counted nothing.
func times(a, b netstate.CPUTimes) (CPU, bool) {
	part := func(a, b float64) float64 { return max(0, b-a) }
	c := CPU{
		CPU: b.CPU, User: part(a.User, b.User), Niced: part(a.Nice, b.Nice), System: part(a.System, b.System),
		IRQ: part(a.IRQ, b.IRQ), SoftIRQ: part(a.SoftIRQ, b.SoftIRQ), Steal: part(a.Steal, b.Steal),
	}
	busy := c.User + c.System + c.IRQ + c.SoftIRQ + c.Steal
	all := busy + part(a.Idle, b.Idle)
	if all <= 0 {
		return c, false
	}
	c.Busy = busy / all
	for _, share := range []*float64{&c.User, &c.Niced, &c.System, &c.IRQ, &c.SoftIRQ, &c.Steal} {
		*share /= all
	}
	return c, true
}

// at returns the entry of a CPU, or the zero value if there is none.
func at[T any](list []T, positions map[int]int, cpu int) (found T) {
	if i, is := positions[cpu]; is {
		found = list[i]
	}
	return found
}
