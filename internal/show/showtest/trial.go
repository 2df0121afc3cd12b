package showtest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// trial makes one trial with flows, counters, series, neighbours and
// forwarding table that agree with the level's spread.
func (l lab) trial(run *record.Run, level labLevel, condition string, block, order int, random *rand.Rand) record.Trial {
	spread := level.spread(condition, block)
	t := record.Trial{Treatment: l.name(condition, level.name), Levels: map[string]string{"fix": level.name}, Block: block, Order: order,
		WindowS: 1, LimitBps: float64(l.ports) * l.rate * wireRatio, Unreachable: level.refused,
		LimitWhy: fmt.Sprintf("%d interfaces × 1 Gbit/s × 1448/1514", l.ports)}
	if condition != "" {
		t.Levels["direction"] = condition
	}
	total := 0.0
	for _, part := range spread {
		total += part * l.rate
	}
	t.GoodputBps = total * wireRatio * (1 - 0.001*random.Float64())
	t.SenderReportedBps = t.GoodputBps * 1.01
	l.flows(&t, level, condition)
	reading := func(host string, ports []string, rates []float64, receives bool) record.HostReading {
		h := record.HostReading{Host: host, Snapshot: record.Snapshot{Host: host}, CPUBusy: 0.21, GeneratorCPU: 0.17}
		counters := make([]record.InterfaceCounters, len(ports))
		const step = int64(1e8)
		at := int64(order) * 2e9
		for n := range int64(11) {
			sample := record.Sample{AtNs: at + n*step}
			for p, port := range ports {
				moved := uint64(rates[p] / 8 * 0.1 * (1 + 0.01*random.NormFloat64()))
				if receives {
					counters[p].RxBytes += moved
				} else {
					counters[p].TxBytes += moved
				}
				counters[p].Interface, counters[p].AtNs = port, sample.AtNs
				sample.Interfaces = append(sample.Interfaces, counters[p])
			}
			h.Series = append(h.Series, sample)
		}
		h.Begin, h.End = record.Reading{BeganNs: at, Interfaces: h.Series[0].Interfaces}, record.Reading{BeganNs: at + 1e9, Interfaces: h.Series[10].Interfaces}
		return h
	}
	var ports []string
	var rates []float64
	for p := range l.ports {
		ports, rates = append(ports, fmt.Sprintf("eth%d", p)), append(rates, spread[p]*l.rate)
	}
	server := reading("server", ports, rates, condition != "reads")
	l.snapshot(&server, run.Topology)
	t.Hosts = append(t.Hosts, server)
	for c := range l.clients {
		client := reading(fmt.Sprintf("client%d", c+1), []string{"eth0"}, []float64{total / float64(l.clients)}, condition == "reads")
		l.snapshot(&client, run.Topology)
		l.neighbours(&client, run.Topology, level, c)
		t.Hosts = append(t.Hosts, client)
	}
	sw := record.HostReading{Host: "switch", Snapshot: record.Snapshot{Host: "switch"}}
	for _, link := range run.Topology.Links {
		sw.Snapshot.FDB = append(sw.Snapshot.FDB, record.FDBEntry{MAC: run.Topology.MAC(link.From), Interface: link.To.Interface, Peer: link.From.String()})
	}
	t.Hosts = append(t.Hosts, sw)
	return t
}

func (l lab) snapshot(h *record.HostReading, topo topology.Topology) {
	host, _ := topo.Host(h.Host)
	for i, p := range host.Interfaces {
		h.Snapshot.Interfaces = append(h.Snapshot.Interfaces, record.InterfaceSnapshot{Interface: p.Name, Index: i + 2, MTU: 1500, Up: true,
			MAC: topo.MAC(topology.End{Node: h.Host, Interface: p.Name}), Addresses: []string{p.Addresses[0].Prefixes()[0].String()}})
	}
}

func (l lab) neighbours(h *record.HostReading, topo topology.Topology, level labLevel, client int) {
	for p := range l.ports {
		port := fmt.Sprintf("eth%d", p)
		if level.poisoned {
			port = "eth1"
			if client == 0 && p == 0 {
				port = "eth0"
			}
		}
		h.Snapshot.Neighbours = append(h.Snapshot.Neighbours, record.Neighbour{Interface: "eth0", State: "REACHABLE",
			Address: serverAddress(p).String(), MAC: topo.MAC(topology.End{Node: "server", Interface: port})})
	}
}

func serverAddress(p int) netip.Addr {
	return netip.AddrFrom4([4]byte{192, 168, byte(1 + p/200), byte(15 + p%200)})
}

func (l lab) flows(t *record.Trial, level labLevel, condition string) {
	n := l.ports * l.clients
	for c := range l.clients {
		for p := range l.ports {
			client, server := fmt.Sprintf("client%d", c+1), "server"
			f := record.Flow{ID: fmt.Sprintf("%s-%d", client, p), From: client, To: server, OpenedBy: client, Connected: true, Alive: true,
				Source: fmt.Sprintf("192.168.1.%d:%d", 101+c, 40000+p), Destination: fmt.Sprintf("%s:%d", serverAddress(p), 5000+p),
				GoodputBps: t.GoodputBps / float64(n), ReceivedBytes: int64(t.GoodputBps / float64(n) / 8)}
			if condition == "reads" {
				f.From, f.To, f.Source, f.Destination = f.To, f.From, f.Destination, f.Source
			}
			if level.refused && p > 0 {
				f.Connected, f.Alive, f.GoodputBps, f.ReceivedBytes, f.Error = false, false, 0, 0, "connect: connection timed out"
			}
			t.Flows = append(t.Flows, f)
		}
	}
}
