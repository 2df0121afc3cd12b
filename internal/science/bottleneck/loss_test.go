package bottleneck

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// at is the reading of the host at one end of a hop, and the place of the hop's interface in it.
func at(t *record.Trial, f *record.Flow, hop int) (*record.HostReading, int) {
	end := f.Ends()[hop]
	h := reading(t, end.Node)
	i := slices.IndexFunc(h.End.Interfaces, func(c record.InterfaceCounters) bool {
		return c.Interface == end.Interface
	})
	return h, i
}

func last(f *record.Flow) int { return len(f.Path) - 1 }

// TestLostDatagrams: where datagrams are lost behind the sending host, that decides what a flow
// gets, and not how busy its sender is, nor how full its own link; the counter that has them is
// named.
func TestLostDatagrams(t *testing.T) {
	lose := func(f *record.Flow, lost int64) {
		udp(f, 0.5)
		f.Datagrams = &record.Datagrams{Sent: 1000, Received: 1000 - lost, Lost: lost, Bytes: 1472}
	}
	qdisc := func(h *record.HostReading, port string, drops uint64) {
		q := record.QdiscCounters{Interface: port, Kind: "tbf", Handle: "1:"}
		h.Begin.Qdiscs = append(h.Begin.Qdiscs, q)
		q.Drops = drops
		h.End.Qdiscs = append(h.End.Qdiscs, q)
	}
	busy := func(t *record.Trial, host string) { reading(t, host).GeneratorCPU = 1 }
	for _, test := range []struct {
		name   string
		doctor doctored
		want   string
		why    string
	}{
		{"an unpaced sender, and a slow link behind its host", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 990)
			busy(t, f.From)
		}), Loss, "99 % of the datagrams were lost: between "},
		{"the same on a full link of its own", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			lose(f, 990)
			for i := range t.Hosts { // nothing gets further than the link of its host
				if h := &t.Hosts[i]; h.Host != f.From {
					h.End.Interfaces = append([]record.InterfaceCounters{}, h.Begin.Interfaces...)
				}
			}
		}, Loss, "99 % of the datagrams were lost"},
		{"what the receiving interface does not take", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 1000)
			out, i := at(t, f, 0)
			out.End.Interfaces[i].TxDropped += 1000 // as veth counts
			in, i := at(t, f, last(f))
			in.End.Interfaces[i].RxDropped += 990
		}), Loss, " dropped 990 packets that arrived"},
		{"the queue of a switch", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			h, i := at(t, f, 2)
			qdisc(h, h.End.Interfaces[i].Interface, 390)
		}), Loss, "tbf of switch."},
		{"the receiver's buffer", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			f.Datagrams.LostInBuffer = 400
		}), SlowReader, "up to 400 of them in the receiving socket's buffer"},
		{"the buffer of a receiver that gets no processor", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			f.Datagrams.LostInBuffer = 400
			busy(t, f.To)
		}), Generator, "up to 400 of them in the receiving socket's buffer"},
		{"the backlog of a receiver's CPU", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			h := reading(t, f.To)
			h.Begin.Softnet, h.End.Softnet = []record.SoftnetCounters{{}}, []record.SoftnetCounters{{Dropped: 300}}
			busy(t, f.To)
		}), Generator, "dropped 300 (softnet_stat)"},
		{"a backlog of which most is other namespaces'", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			h := reading(t, f.To)
			h.Begin.Softnet, h.End.Softnet = []record.SoftnetCounters{{}},
				[]record.SoftnetCounters{{Dropped: 300, Processed: 1 << 40}}
		}), Loss,
			"neither counts them as dropped, or in the CPUs' queues of received packets, which dropped 300, mostly of other network namespaces"},
		{"a firewall behind the receiving interface", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			out, i := at(t, f, 0)
			in, k := at(t, f, last(f))
			out.End.Interfaces[i].TxBytes = out.Begin.Interfaces[i].TxBytes + 1500_000
			in.End.Interfaces[k].RxBytes = in.Begin.Interfaces[k].RxBytes + 1499_000
		}), Loss, "40 % of the datagrams were lost: on server, behind server."},
		{"what the sender's interface never counted", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			out, i := at(t, f, 0)
			in, k := at(t, f, last(f))
			sent := uint64(f.Datagrams.Sent) * uint64(f.Datagrams.Bytes)
			out.End.Interfaces[i].TxBytes = out.Begin.Interfaces[i].TxBytes + sent*6/10
			in.End.Interfaces[k].RxBytes = in.Begin.Interfaces[k].RxBytes + sent*6/10
		}), Loss, "40 % of the datagrams were lost: on client1, before client1.eth0, which sent "},
		{"a short loss of carrier", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			reading(t, f.To).CarrierLosses = []record.CarrierLoss{{Interface: f.Ends()[last(f)].Interface, FromS: 0.1,
				ToS: 0.15, Down: true}}
		}), Loss, " was down for 50 ms of the window, and without it an interface drops"},
		{"more lost than a short loss of carrier takes", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			t.WindowS = 6
			f.GoodputBps = f.RateCapBps / 2
			reading(t, f.To).CarrierLosses = []record.CarrierLoss{{Interface: f.Ends()[last(f)].Interface, FromS: 0.1,
				ToS: 0.15, Down: true}}
		}), Loss, "40 % of the datagrams were lost: between "},
		{"super-frames of which the receiver counts single ones", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 980)
			f.CallBytes = 44 * 1472
			out, i := at(t, f, 0)
			in, k := at(t, f, last(f))
			out.End.Interfaces[i].TxPackets, out.End.Interfaces[i].TxBytes = out.Begin.Interfaces[i].TxPackets+23,
				out.Begin.Interfaces[i].TxBytes+1500_000
			in.End.Interfaces[k].RxPackets, in.End.Interfaces[k].RxBytes = in.Begin.Interfaces[k].RxPackets+20,
				in.Begin.Interfaces[k].RxBytes+30_000
		}), Loss, "98 % of the datagrams were lost: between client1.eth0 and server.eth0: neither"},
		{"an interface that receives from others as well", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			out, i := at(t, f, 0)
			in, k := at(t, f, last(f))
			out.End.Interfaces[i].TxBytes = out.Begin.Interfaces[i].TxBytes + 1500_000
			in.End.Interfaces[k].RxBytes = in.Begin.Interfaces[k].RxBytes + 3500_000
		}), Loss, "or on server behind it: no counter of drops has them"},
		{"fragments for which the receiver has no memory", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 1000)
			f.Datagrams.Lost = 0 // the receiver cannot know
			f.Datagrams.Bytes, f.Datagrams.MTU = 9000, 1500
			h := reading(t, f.To)
			h.Begin.SNMP, h.End.SNMP = map[string]int64{}, map[string]int64{"Ip.ReasmFails": 7100,
				"Ip.ReasmTimeout": 100}
		}), Loss, "server dropped 7,000 fragments instead of reassembling them, as its memory for fragments was full"},
		{"fragments whose others did not arrive", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 1000)
			f.Datagrams.Bytes, f.Datagrams.MTU = 9000, 1500
			h := reading(t, f.To)
			h.Begin.SNMP, h.End.SNMP = map[string]int64{}, map[string]int64{"Ip.ReasmFails": 1100,
				"Ip.ReasmTimeout": 1000}
		}), Loss, "100 % of the datagrams were lost: between "},
		{"the sender's own queue", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			busy(t, f.From)
			h, i := at(t, f, 0)
			qdisc(h, h.End.Interfaces[i].Interface, 400)
		}), Generator, "dropped 400 packets"},
		{"its own queue, which counts messages of many datagrams", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			f.CallBytes = 40 * 1472
			busy(t, f.From)
			h, i := at(t, f, 0)
			qdisc(h, h.End.Interfaces[i].Interface, 10)
		}), Generator, "dropped 10 packets, of one or more datagrams each"},
		{"its own queue, of a path that is not known", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			h, i := at(t, f, 0)
			qdisc(h, h.End.Interfaces[i].Interface, 400)
			f.Path = nil
			busy(t, f.From)
		}), Generator, "dropped 400 packets"},
		{"few are lost", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 20)
			busy(t, f.From)
		}), Generator, "2 % of the datagrams were lost: between "},
		{"few are lost of a rate that is reached", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 20)
			f.RateCapBps = f.GoodputBps
		}), RateCap, "2 % of the datagrams were lost: between "},
		{"interfaces that were not read", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			reading(t, f.To).End.Interfaces = nil
		}), Loss, "40 % of the datagrams were lost"},
	} {
		trial, over := sound()
		test.doctor(&trial.Flows[0], &trial, over)
		attribute(&trial, over, false)
		f := trial.Flows[0]
		if f.LimitedBy != test.want || !strings.Contains(f.LimitedWhy, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, f.LimitedBy, f.LimitedWhy, test.want, test.why)
		}
		if strings.Contains(test.name, "not read") && strings.Contains(f.LimitedWhy, "between") {
			t.Errorf("%s: %s", test.name, f.LimitedWhy)
		}
	}
}

// TestNeedlessRest: what no counter has of a TCP flow's retransmissions may be as needless as the
// most of them that its receiver reported, and is no reason to look for a firewall.
func TestNeedlessRest(t *testing.T) {
	for dups, want := range map[uint32]string{
		0:  "a firewall may drop them",
		40: "a firewall may drop them",
		90: "so the rest may have been needless, too",
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.SentBytes, f.RetransBytes, f.RetransSegments = 1e6, 20_000, 100
		f.SenderInfo.TotalRetrans, f.SenderInfo.DsackDups = 100, dups
		out, i := at(&trial, f, 0)
		in, k := at(&trial, f, last(f))
		out.End.Interfaces[i].TxBytes = out.Begin.Interfaces[i].TxBytes + 1e9
		in.End.Interfaces[k].RxBytes = in.Begin.Interfaces[k].RxBytes + 1e9
		attribute(&trial, over, true)
		if f = &trial.Flows[0]; f.LimitedBy != CongestionWindow || !strings.Contains(f.LimitedWhy, want) {
			t.Errorf("%d of 100 reported: %q (%s), want %q", dups, f.LimitedBy, f.LimitedWhy, want)
		}
	}
}

// TestLostSegments: what a TCP flow lost is looked for on its path, and the queue of its own
// host's interface is the cause where that drops much of it, although its link is not full.
func TestLostSegments(t *testing.T) {
	for _, test := range []struct {
		name      string
		resent    int64 // of a million bytes
		hop       int   // whose queue drops
		drops     uint64
		want, why string
	}{
		{"a short queue of its own", 400_000, 0, 300, InterfaceQueue,
			"40 % of the bytes were retransmitted; tbf of client1.eth0 dropped 300 packets"},
		{"a queue that is probed", 5_000, 0, 4, CongestionWindow, "tbf of client1.eth0 dropped 4 packets"},
		{"a switch's queue", 400_000, 2, 300, CongestionWindow, "tbf of switch."},
		{"a place that is not known", 400_000, 0, 0, CongestionWindow, "; between client1.eth0 and server."},
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.SentBytes, f.RetransBytes, f.RetransSegments = 1e6, test.resent, test.resent/1000
		f.SenderInfo.TotalRetrans = uint32(f.RetransSegments)
		end := f.Ends()[test.hop]
		h := reading(&trial, end.Node)
		q := record.QdiscCounters{Interface: end.Interface, Kind: "tbf", Handle: "1:"}
		h.Begin.Qdiscs = append(h.Begin.Qdiscs, q)
		q.Drops = test.drops
		h.End.Qdiscs = append(h.End.Qdiscs, q)
		for i := range over.Links { // a shaper of known rate is there
			over.Links[i].Bucket = true
		}
		attribute(&trial, over, true)
		if f = &trial.Flows[0]; f.LimitedBy != test.want || !strings.Contains(f.LimitedWhy, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, f.LimitedBy, f.LimitedWhy, test.want, test.why)
		}
	}
}
