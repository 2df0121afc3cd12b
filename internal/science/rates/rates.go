// Package rates turns the readings of a host's counters into a sample: what its interfaces, CPUs,
// queues and TCP connections did between the two newest readings, per second, and what the rules of
// package diagnose find in it. linerate top shows it.
package rates

import (
	"slices"
	"strings"
	"time"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/limits"
)

// Readings holds readings of a host: the two newest of its counters, and several of its
// connections.
type Readings struct {
	Before, Now netstate.Reading
	Taken       time.Time // when Now was complete
	// Tables are the connections, the oldest first. Rates are computed from the last two; earlier
	// ones serve for connections with long round trips.
	Tables []Table
	State  netstate.HostSnapshot
}

// Table has all TCP connections except those in TIME-WAIT.
type Table struct {
	AtNs        int64 // when it was read
	Connections map[Ends]netstate.Connection
}

// Ends are the addresses of a connection, as in netstate.Connection.
type Ends struct{ Local, Remote string }

// mostFindings is the largest number of findings in a sample.
const mostFindings = 64

// Of returns the sample between the two newest readings.
func Of(r Readings) record.HostSample {
	observed := r.State
	host := &observed.Reading
	host.Begin, host.End = r.Before, r.Now
	s := record.HostSample{
		Schema: record.HostSampleSchema, Version: observed.Version, Host: host.Host, Taken: r.Taken,
		WindowS: seconds(r.Before.BeganNs, r.Now.BeganNs), UptimeS: observed.State.UptimeS,
		Missing: r.Now.Missing,
	}
	observed.OverS = s.WindowS
	e := diagnose.Hosts([]netstate.HostSnapshot{observed})
	s.Findings = e.Findings[:min(len(e.Findings), mostFindings)]
	s.Drops = append(s.Drops, lists.Where(e.Drops, func(d record.Drop) bool { return !d.Boot })...)
	s.Interfaces = interfaces(*host, s.Drops)
	s.CPUs = cpus(r.Before, r.Now, s.WindowS)
	s.Queues = slices.Concat(qdiscs(r.Before, r.Now, s.WindowS), nicQueues(r.State.State.NICs))
	s.Protocols = protocols(*host, s.WindowS)
	if n := len(r.Tables); n > 0 {
		s.Protocols.Connections = len(r.Tables[n-1].Connections)
	}
	if n := len(r.Tables); n > 1 {
		s.FlowsWindowS = seconds(r.Tables[n-2].AtNs, r.Tables[n-1].AtNs)
		s.Flows = flows(r.Tables, *host, s.Interfaces)
	}
	return s
}

func seconds(from, to int64) float64 { return float64(to-from) / 1e9 }

// per returns count divided by seconds; 0 if no time passed.
func per(count, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return count / seconds
}

func interfaces(host netstate.HostReading, drops []record.Drop) []record.InterfaceRates {
	list := []record.InterfaceRates{}
	begin := map[string]netstate.InterfaceCounters{}
	for _, c := range host.Begin.Interfaces {
		begin[c.Interface] = c
	}
	state := map[string]netstate.InterfaceSnapshot{}
	for _, i := range host.Snapshot.Interfaces {
		state[i.Interface] = i
	}
	sent, lost := segmented(host), map[string]float64{}
	for _, d := range drops {
		if !strings.Contains(d.Counter, "_errors") || d.Counter == "rx_missed_errors" {
			lost[d.Where] += float64(d.Packets)
		}
	}
	for _, c := range host.End.Interfaces {
		b, known := begin[c.Interface]
		if !known {
			continue // the interface was created between the readings
		}
		over, is := seconds(b.AtNs, c.AtNs), state[c.Interface]
		txBytes, txPackets := netstate.Grown(b.TxBytes, c.TxBytes), netstate.Grown(b.TxPackets, c.TxPackets)
		if is.Kind != "" {
			q := sent[c.Interface]
			txBytes, txPackets = max(txBytes, float64(q.Bytes)), max(txPackets, float64(q.Packets))
		}
		r := record.InterfaceRates{
			Interface: c.Interface, Kind: is.Kind, Master: is.Master, Up: is.Up,
			RxBps: per(8*netstate.Grown(b.RxBytes, c.RxBytes), over), TxBps: per(8*txBytes, over),
			RxPps: per(netstate.Grown(b.RxPackets, c.RxPackets), over), TxPps: per(txPackets, over),
			RxLimitBps: is.SpeedBps, TxLimitBps: is.SpeedBps,
			DropsPerS: per(lost[c.Interface], over),
			ErrorsPerS: per(max(0, netstate.Grown(b.RxErrors, c.RxErrors)-netstate.Grown(b.RxMissed, c.RxMissed))+
				netstate.Grown(b.TxErrors, c.TxErrors), over),
		}
		r.RxShare = per(limits.WireBps(r.RxBps, r.RxPps), r.RxLimitBps)
		r.TxShare = per(limits.WireBps(r.TxBps, r.TxPps), r.TxLimitBps)
		list = append(list, r)
	}
	shaped(host, state, list)
	return list
}

// segmented returns, by interface, the bytes and packets that the first qdisc of the interface sent
// between the two readings, among the qdiscs that queue packets (ingress and clsact also count
// arriving ones). It counts each segment of a GSO packet with its headers (qdisc_pkt_len_init in
// net/core/dev.c), as a NIC does; a virtual interface counts one packet with one header.
func segmented(host netstate.HostReading) map[string]netstate.QdiscCounters {
	before, grown := firstQdiscs(host.Begin), firstQdiscs(host.End)
	for name, q := range grown {
		if b := before[name]; b.Key() == q.Key() && b.Bytes <= q.Bytes && b.Packets <= q.Packets {
			grown[name] = netstate.QdiscCounters{Bytes: q.Bytes - b.Bytes, Packets: q.Packets - b.Packets}
		} else {
			delete(grown, name)
		}
	}
	return grown
}

func firstQdiscs(r netstate.Reading) map[string]netstate.QdiscCounters {
	first := map[string]netstate.QdiscCounters{}
	for _, q := range slices.Backward(r.Qdiscs) {
		if q.Queues() {
			first[q.Interface] = q
		}
	}
	return first
}

// shaped sets the limits of interfaces whose shaper is slower than their link.
func shaped(host netstate.HostReading, state map[string]netstate.InterfaceSnapshot, list []record.InterfaceRates) {
	for i := range list {
		r := &list[i]
		shaper := state[r.Interface].Shaper
		if !shaper.Bounds() || r.TxLimitBps > 0 && r.TxLimitBps <= shaper.RateBps {
			continue
		}
		for load := range limits.Loads([]netstate.HostReading{of(host, r.Interface)}, nil) {
			r.TxLimitBps, r.TxLimiter, r.TxShare = shaper.RateBps, shaper.Kind, load.Share()
		}
	}
}

// of returns only what was read of one interface. Functions that look at all interfaces for each
// flow would take long on a host with thousands.
func of(host netstate.HostReading, name string) netstate.HostReading {
	one := func(r netstate.Reading) netstate.Reading {
		r.Interfaces = selected(r.Interfaces, func(c netstate.InterfaceCounters) bool { return c.Interface == name })
		r.Qdiscs = selected(r.Qdiscs, func(q netstate.QdiscCounters) bool { return q.Interface == name })
		return r
	}
	host.Begin, host.End = one(host.Begin), one(host.End)
	host.Snapshot.Interfaces = selected(host.Snapshot.Interfaces, func(i netstate.InterfaceSnapshot) bool {
		return i.Interface == name
	})
	return host
}

func selected[T any](list []T, is func(T) bool) (of []T) {
	return lists.Where(list, func(one T) bool { return is(one) })
}

func cpus(before, now netstate.Reading, windowS float64) []record.CPURates {
	list := []record.CPURates{}
	times := map[int]netstate.CPUTimes{}
	for _, c := range before.CPU {
		times[c.CPU] = c
	}
	for _, c := range now.CPU {
		b, known := times[c.CPU]
		if !known {
			continue
		}
		user, system, idle := max(0, c.User-b.User), max(0, c.System-b.System), max(0, c.Idle-b.Idle)
		irq, softirq, steal := max(0, c.IRQ-b.IRQ), max(0, c.SoftIRQ-b.SoftIRQ), max(0, c.Steal-b.Steal)
		all := user + system + idle + irq + softirq + steal
		list = append(list, record.CPURates{CPU: c.CPU, User: per(user, all), System: per(system, all),
			IRQ: per(irq, all), SoftIRQ: per(softirq, all), Steal: per(steal, all)})
	}
	served(before, now, windowS, list)
	return list
}

// served adds the interrupts and packets of each CPU to its entry and to that of the sum.
func served(before, now netstate.Reading, windowS float64, list []record.CPURates) {
	add := func(cpu int, with func(*record.CPURates)) {
		for i := range list {
			if list[i].CPU == cpu || list[i].CPU == -1 {
				with(&list[i])
			}
		}
	}
	events := map[int]netstate.CPUEvents{}
	for _, e := range before.Events {
		events[e.CPU] = e
	}
	for _, e := range now.Events {
		b, known := events[e.CPU]
		if !known {
			continue
		}
		add(e.CPU, func(c *record.CPURates) {
			c.InterruptsPerS += per(netstate.Grown(b.Interrupts, e.Interrupts), windowS)
			c.NetRxPerS += per(netstate.Grown(b.Softirqs["NET_RX"], e.Softirqs["NET_RX"]), windowS)
			c.NetTxPerS += per(netstate.Grown(b.Softirqs["NET_TX"], e.Softirqs["NET_TX"]), windowS)
		})
	}
	softnet := map[int]netstate.SoftnetCounters{}
	for _, c := range before.Softnet {
		softnet[c.CPU] = c
	}
	for _, n := range now.Softnet {
		b, known := softnet[n.CPU]
		if !known {
			continue
		}
		add(n.CPU, func(c *record.CPURates) {
			c.PacketsPerS += per(netstate.Grown(b.Processed, n.Processed), windowS)
			c.DroppedPerS += per(netstate.Grown(b.Dropped, n.Dropped), windowS)
			c.SqueezedPerS += per(netstate.Grown(b.Squeezed, n.Squeezed), windowS)
			c.Backlog += n.Backlog
		})
	}
}

func protocols(host netstate.HostReading, windowS float64) record.ProtocolRates {
	rate := func(names ...string) (sum float64) {
		for _, name := range names {
			sum += per(float64(max(0, host.SNMPDelta(name))), windowS)
		}
		return sum
	}
	return record.ProtocolRates{
		OpenedPerS:      rate("Tcp.ActiveOpens", "Tcp.PassiveOpens"),
		SegmentsOutPerS: rate("Tcp.OutSegs"), RetransmitPerS: rate("Tcp.RetransSegs"),
		DatagramsInPerS: rate("Udp.InDatagrams"), DatagramsOutPerS: rate("Udp.OutDatagrams"),
		DatagramErrPerS: rate("Udp.InErrors", "Udp.NoPorts"),
	}
}
