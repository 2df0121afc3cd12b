package sciencetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// world is the state of one trial while it is generated.
type world struct {
	Lab
	fix   fix
	reads bool
	// by client and port: the interface whose MAC address the client has for the port's address;
	// -1: unresolved
	arrive [][]int
	leave  []int // by port: the interface by which packets from its address leave
	top    topology.Topology
	load   map[topology.End]*traffic
}

// traffic is what one interface carries in the window.
type traffic struct{ rxBytes, rxPackets, txBytes, txPackets float64 }

// Trial returns one trial of a treatment.
func (l Lab) Trial(fixName, direction string, block, order int, random *rand.Rand) record.Trial {
	w := &world{Lab: l, fix: fixes[fixName], reads: direction == "reads", top: l.Topology(),
		load: map[topology.End]*traffic{}}
	w.resolve(random)
	t := record.Trial{
		Treatment: direction + ", " + fixName,
		Levels:    map[string]string{"direction": direction, "fix": fixName},
		Block:     block, Order: order, WindowS: windowS,
		Started:     started.Add(time.Duration(order) * 2 * time.Second),
		Unreachable: fixName == Fixes[5],
		LimitBps:    float64(l.Ports) * portRate * shaped,
		LimitWhy:    fmt.Sprintf("%d × 1 Gbit/s × 1448/1514", l.Ports),
	}
	w.flows(&t, random)
	for _, line := range l.settingLines(w.fix) {
		t.Settings = append(t.Settings, record.Applied{Host: line[:6], Kind: "setting", Scope: "namespace",
			What: line[8:], Prior: "absent", New: "set"})
	}
	for _, h := range w.top.Hosts {
		t.Hosts = append(t.Hosts, w.reading(h.Name))
		t.Clocks = append(t.Clocks, record.Clock{Host: h.Name, UncertaintyNs: 20_000})
	}
	t.Hosts = append(t.Hosts, w.reading("switch"))
	return t
}

// resolve decides which MAC address each client learns, and by which interfaces the server sends.
func (w *world) resolve(random *rand.Rand) {
	w.leave = make([]int, w.Ports)
	for range w.Clients {
		w.arrive = append(w.arrive, make([]int, w.Ports))
	}
	for p := range w.Ports {
		if w.fix.sourceRouting {
			w.leave[p] = p
		}
		for c := range w.Clients {
			switch {
			case w.fix.rpFilter == 1 && !w.fix.sourceRouting && p > 0:
				w.arrive[c][p] = -1
			case w.fix.static, w.fix.announce == 2:
				w.arrive[c][p] = p
			case w.fix.ignore == 1: // the server's own requests came from eth0, or not in time
				w.arrive[c][p] = []int{0, 0, 0, p}[random.IntN(4)]
			}
		}
	}
}

// flows shares each interface's rate among the flows that pass it.
func (w *world) flows(t *record.Trial, random *rand.Rand) {
	bottleneck := func(c, p int) int {
		if w.reads {
			return w.leave[p]
		}
		return w.arrive[c][p]
	}
	sharers := make([]int, w.Ports)
	for c := range w.Clients {
		for p := range w.Ports {
			if w.arrive[c][p] >= 0 {
				sharers[bottleneck(c, p)]++
			}
		}
	}
	for c := range w.Clients {
		for p := range w.Ports {
			f := record.Flow{
				ID: fmt.Sprintf("f%d", c*w.Ports+p+1), From: client(c), To: "server", OpenedBy: client(c),
				Source:      fmt.Sprintf("%s:%d", w.clientIP(c), 40000+c*w.Ports+p+t.Order*2*w.Ports*w.Clients),
				Destination: fmt.Sprintf("%s:%d", serverIP(p), 5201+c*w.Ports+p),
			}
			f.Path = []string{client(c) + ".eth0", "switch.p-" + client(c) + "-eth0", "switch.p-server-" + eth(p),
				"server." + eth(p)}
			if w.reads {
				f.From, f.To, f.Source, f.Destination = f.To, f.From, f.Destination, f.Source
				f.Path = []string{f.Path[3], f.Path[2], f.Path[1], f.Path[0]}
			}
			if w.arrive[c][p] < 0 {
				f.Error = "connect: no route to host"
				t.Flows = append(t.Flows, f)
				continue
			}
			f.Connected, f.Alive, f.CongestionControl = true, true, "cubic"
			noise := 1 - 0.0006*math.Abs(random.NormFloat64())
			bps := portRate * shaped * noise / float64(sharers[bottleneck(c, p)])
			f.ReceivedBytes = int64(bps * windowS / 8)
			f.GoodputBps = float64(f.ReceivedBytes) * 8 / windowS
			f.UnsentBytes = 1_400_000 + int64(random.IntN(200_000))
			f.AckedBytes = f.ReceivedBytes - int64(random.IntN(20_000))
			f.WrittenBytes = f.ReceivedBytes + int64(random.IntN(200_000))
			f.SenderAverageBps = bps + float64(f.UnsentBytes)*8/1.5
			f.SenderInfo = &netstate.TCPInfo{State: 1, Options: 7, SndMSS: 1448, PMTU: 1500, RTTUs: 9000, MinRTTUs: 60,
				SndCwnd: 400, SndWnd: 3_000_000, Unacked: 380, BytesAcked: uint64(bps * 1.4 / 8)}
			f.ReceiverInfo = &netstate.TCPInfo{State: 1, Options: 7, RcvMSS: 1448, PMTU: 1500, RcvSpace: 1_200_000}
			for range intervals {
				f.Bins = append(f.Bins, f.ReceivedBytes/intervals)
			}
			t.GoodputBps += f.GoodputBps
			t.SenderReportedBps += f.SenderAverageBps
			w.count(c, p, float64(f.ReceivedBytes))
			t.Flows = append(t.Flows, f)
		}
	}
}

// count adds a flow's data and acknowledgements to the interfaces that they pass.
func (w *world) count(c, p int, payload float64) {
	packets := math.Ceil(payload / gso)
	data, acks := payload+packets*headers, packets*headers
	in, out := w.arrive[c][p], w.leave[p]
	if w.reads {
		w.pass("server", eth(out), client(c), "eth0", data, packets)
		w.pass(client(c), "eth0", "server", eth(in), acks, packets)
	} else {
		w.pass(client(c), "eth0", "server", eth(in), data, packets)
		w.pass("server", eth(out), client(c), "eth0", acks, packets)
	}
}

func (w *world) pass(from, fromPort, to, toPort string, bytes, packets float64) {
	w.at(from, fromPort).tx(bytes, packets)
	w.at("switch", "p-"+from+"-"+fromPort).rx(bytes, packets)
	w.at("switch", "p-"+to+"-"+toPort).tx(bytes, packets)
	w.at(to, toPort).rx(bytes, packets)
}

func (w *world) at(node, port string) *traffic {
	end := topology.End{Node: node, Interface: port}
	if w.load[end] == nil {
		w.load[end] = &traffic{}
	}
	return w.load[end]
}

func (l *traffic) rx(bytes, packets float64) { l.rxBytes += bytes; l.rxPackets += packets }
func (l *traffic) tx(bytes, packets float64) { l.txBytes += bytes; l.txPackets += packets }

// counters returns the counters of the node's interfaces after this share of the window.
func (w *world) counters(node string, share float64, at int64) []netstate.InterfaceCounters {
	var list []netstate.InterfaceCounters
	for _, l := range w.top.Links {
		for _, end := range []topology.End{l.From, l.To} {
			if end.Node != node {
				continue
			}
			load := w.at(end.Node, end.Interface)
			part := func(total float64) uint64 { return 1000 + uint64(total*(0.4+share)) }
			list = append(list, netstate.InterfaceCounters{
				Interface: end.Interface, AtNs: at,
				RxBytes: part(load.rxBytes), RxPackets: part(load.rxPackets),
				TxBytes: part(load.txBytes), TxPackets: part(load.txPackets),
			})
		}
	}
	return list
}

const begin, end = int64(1_400_000_000), int64(1_400_000_000 + windowS*1e9)

// reading returns what the node's agent read.
func (w *world) reading(node string) netstate.HostReading {
	edge := func(share float64, at int64) netstate.Reading {
		return netstate.Reading{
			ScheduledNs: at, BeganNs: at + 30_000, EndedNs: at + 900_000, Interfaces: w.counters(node, share,
				at+200_000),
			SNMP: map[string]int64{"Tcp.RetransSegs": 10, "TcpExt.IPReversePathFilter": 0},
		}
	}
	r := netstate.HostReading{
		Host: node, Begin: edge(0, begin), End: edge(1, end),
		CPUBusy: 0.31, GeneratorCPU: 0.18,
		Snapshot: w.snapshot(node),
	}
	r.Before = r.Snapshot.Tables
	for i := range intervals + 1 {
		share := float64(i) / intervals
		at := begin + int64(float64(end-begin)*share)
		r.Series = append(r.Series,
			netstate.Sample{AtNs: at, Interfaces: w.counters(node, share+0.001*math.Sin(float64(7*i)), at)})
	}
	return r
}
