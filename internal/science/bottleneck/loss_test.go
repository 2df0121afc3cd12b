package bottleneck

import (
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/limits"
)

// at is the reading of the host at one end of a hop, and the place of the hop's interface in it.
func at(t *record.Trial, f *record.Flow, hop int) (*netstate.HostReading, int) {
	end := f.Ends()[hop]
	h := reading(t, end.Node)
	i := slices.IndexFunc(h.End.Interfaces, func(c netstate.InterfaceCounters) bool {
		return c.Interface == end.Interface
	})
	return h, i
}

func last(f *record.Flow) int { return len(f.Path) - 1 }

// wire makes a flow the only one, and has the interfaces at the ends of its path count what it sent
// and received and nothing else, in packets of one header.
func wire(f *record.Flow, t *record.Trial, sent, received, packet float64) {
	header := limits.FrameOf(*f).Headers()
	count := func(hop int, bytes float64, of func(*netstate.InterfaceCounters) (bytes, packets *uint64)) {
		h, i := at(t, f, hop)
		b0, p0 := of(&h.Begin.Interfaces[i])
		b1, p1 := of(&h.End.Interfaces[i])
		packets := math.Ceil(bytes / packet)
		*b1, *p1 = *b0+uint64(bytes+packets*header), *p0+uint64(packets)
	}
	count(0, sent, func(c *netstate.InterfaceCounters) (*uint64, *uint64) { return &c.TxBytes, &c.TxPackets })
	count(last(f), received, func(c *netstate.InterfaceCounters) (*uint64, *uint64) { return &c.RxBytes, &c.RxPackets })
	f.GoodputBps, f.Bins, f.ReceivedBytes = received*8/t.WindowS, nil, int64(received)
	t.Flows = t.Flows[:1]
}

// wired is wire for a flow of datagrams that loses so many of a thousand between its interfaces.
func wired(f *record.Flow, t *record.Trial, lost float64) {
	wire(f, t, 1000*1472, (1000-lost)*1472, 1472)
}

// TestLostDatagrams: where datagrams are lost behind the sending host, that decides what a flow
// gets, and not how busy its sender is, nor how full its own link; the counter that has them is
// named.
func TestLostDatagrams(t *testing.T) {
	lose := func(f *record.Flow, lost int64) {
		udp(f, 0.5)
		f.Datagrams = &record.Datagrams{Sent: 1000, Received: 1000 - lost, Lost: lost, Bytes: 1472}
	}
	qdisc := func(h *netstate.HostReading, port string, drops uint64) {
		q := netstate.QdiscCounters{Interface: port, Kind: "tbf", Handle: "1:"}
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
			wired(f, t, 990)
			busy(t, f.From)
		}), Loss, `{"share":0.99,"at":{"by":"between"`},
		{"the same on a full link of its own", func(f *record.Flow, t *record.Trial, _ *topology.Topology) {
			lose(f, 990)
			for i := range t.Hosts { // nothing gets further than the link of its host
				if h := &t.Hosts[i]; h.Host != f.From {
					h.End.Interfaces = append([]netstate.InterfaceCounters{}, h.Begin.Interfaces...)
				}
			}
		}, Loss, `{"share":0.99,`},
		{"what the receiving interface does not take", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 1000)
			out, i := at(t, f, 0)
			out.End.Interfaces[i].TxDropped += 1000 // as veth counts
			in, i := at(t, f, last(f))
			in.End.Interfaces[i].RxDropped += 990
		}), Loss, `"by":"receiving","at":"server.eth0","packets":990`},
		{"the queue of a switch", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			h, i := at(t, f, 2)
			qdisc(h, h.End.Interfaces[i].Interface, 390)
		}), Loss, `"at":"switch.p-server-eth0","kind":"tbf"`},
		{"the receiver's buffer", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			f.Datagrams.LostInBuffer = 400
		}), SlowReader, `"by":"socket","at":"server","packets":400`},
		{"the buffer of a receiver that gets no processor", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			f.Datagrams.LostInBuffer = 400
			busy(t, f.To)
		}), Generator, `"by":"socket","at":"server","packets":400`},
		{"the backlog of a receiver's CPU", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			h := reading(t, f.To)
			h.Begin.Softnet, h.End.Softnet = []netstate.SoftnetCounters{{}}, []netstate.SoftnetCounters{{Dropped: 300}}
			busy(t, f.To)
		}), Generator, `"by":"backlog","at":"server","packets":300`},
		{"a backlog of which most is other namespaces'", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			wired(f, t, 400)
			h := reading(t, f.To)
			h.Begin.Softnet, h.End.Softnet = []netstate.SoftnetCounters{{}},
				[]netstate.SoftnetCounters{{Dropped: 300, Processed: 1 << 40}}
		}), Loss,
			`"by":"between","from":"client1.eth0","to":"server.eth0","backlog":300`},
		{"a firewall behind the receiving interface", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			wired(f, t, 0)
		}), Loss, `"by":"behind","at":"server",`},
		{"what the sender's interface never counted", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			out, i := at(t, f, 0)
			in, k := at(t, f, last(f))
			sent := uint64(f.Datagrams.Sent) * uint64(f.Datagrams.Bytes)
			out.End.Interfaces[i].TxBytes = out.Begin.Interfaces[i].TxBytes + sent*6/10
			in.End.Interfaces[k].RxBytes = in.Begin.Interfaces[k].RxBytes + sent*6/10
		}), Loss, `"by":"before","at":"client1","from":"client1.eth0",`},
		{"a short loss of carrier", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			reading(t, f.To).CarrierLosses = []netstate.CarrierLoss{{Interface: f.Ends()[last(f)].Interface, FromS: 0.1,
				ToS: 0.15, Down: true}}
		}), Loss, `"by":"carrier","carrier":{"interface":"server.eth0","down":true,`},
		{"more lost than a short loss of carrier takes", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			wired(f, t, 400)
			t.WindowS = 6
			f.GoodputBps = f.RateCapBps / 2
			reading(t, f.To).CarrierLosses = []netstate.CarrierLoss{{Interface: f.Ends()[last(f)].Interface, FromS: 0.1,
				ToS: 0.15, Down: true}}
		}), Loss, `{"share":0.4,"at":{"by":"between",`},
		{"super-frames of which the receiver counts single ones", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 980)
			f.CallBytes = 44 * 1472
			wire(f, t, 1000*1472, 20*1472, 44*1472)
			in, k := at(t, f, last(f))
			in.End.Interfaces[k].RxPackets += 19 // each alone
			in.End.Interfaces[k].RxBytes += 19 * 42
		}), Loss, `{"share":0.98,"at":{"by":"between","from":"client1.eth0","to":"server.eth0"`},
		{"an interface that receives from others as well", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			out, i := at(t, f, 0)
			in, k := at(t, f, last(f))
			out.End.Interfaces[i].TxBytes = out.Begin.Interfaces[i].TxBytes + 1500_000
			in.End.Interfaces[k].RxBytes = in.Begin.Interfaces[k].RxBytes + 3500_000
		}), Loss, `"by":"somewhere","at":"server"`},
		{"fragments for which the receiver has no memory", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 1000)
			f.Datagrams.Lost = 0 // the receiver cannot know
			f.Datagrams.Bytes, f.Datagrams.MTU = 9000, 1500
			h := reading(t, f.To)
			h.Begin.SNMP, h.End.SNMP = map[string]int64{}, map[string]int64{"Ip.ReasmFails": 7100,
				"Ip.ReasmTimeout": 100}
		}), Loss, `"by":"fragments","at":"server","packets":7000`},
		{"fragments whose others did not arrive", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 1000)
			f.Datagrams.Bytes, f.Datagrams.MTU = 9000, 1500
			wire(f, t, 9e6, 100_000, 1480)
			h := reading(t, f.To)
			h.Begin.SNMP, h.End.SNMP = map[string]int64{}, map[string]int64{"Ip.ReasmFails": 1100,
				"Ip.ReasmTimeout": 1000}
		}), Loss, `{"share":1,"at":{"by":"between",`},
		{"the sender's own queue", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			busy(t, f.From)
			h, i := at(t, f, 0)
			qdisc(h, h.End.Interfaces[i].Interface, 400)
		}), Generator, `"packets":400`},
		{"its own queue, which counts messages of many datagrams", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			f.CallBytes = 40 * 1472
			busy(t, f.From)
			h, i := at(t, f, 0)
			qdisc(h, h.End.Interfaces[i].Interface, 10)
		}), Generator, `"packets":10,"several":true`},
		{"its own queue, of a path that is not known", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			h, i := at(t, f, 0)
			qdisc(h, h.End.Interfaces[i].Interface, 400)
			f.Path = nil
			busy(t, f.From)
		}), Generator, `"packets":400`},
		{"few are lost", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 60)
			wired(f, t, 60)
			busy(t, f.From)
		}), Generator, `{"share":0.06,"at":{"by":"between",`},
		{"few are lost of a rate that is reached", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 60)
			wired(f, t, 60)
			f.RateCapBps = f.GoodputBps
		}), RateCap, `{"share":0.06,"at":{"by":"between",`},
		{"fewer than the frames at the edges of the window", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 20)
			wired(f, t, 20)
			busy(t, f.From)
		}), Generator, `{"share":0.02,"at":{"by":"somewhere",`},
		{"fewer than what clocks leave open", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			wired(f, t, 400)
			t.Clocks = []record.Clock{{Host: f.To, UncertaintyNs: int64(t.WindowS * 0.4e9)}}
		}), Loss, `"at":{"by":"somewhere",`},
		{"fewer than what waited in the queue when the window began", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			wired(f, t, 0)
			qdisc(reading(t, f.From), f.Ends()[0].Interface, 0)
			q := reading(t, f.From).Begin.Qdiscs
			q[len(q)-1].Backlog = 1 << 20
		}), Loss, `"at":{"by":"somewhere",`},
		{"interfaces that were not read", idly(func(f *record.Flow, t *record.Trial) {
			lose(f, 400)
			reading(t, f.To).End.Interfaces = nil
		}), Loss, `{"datagrams_lost":{"share":0.4}}`},
	} {
		trial, over := sound()
		test.doctor(&trial.Flows[0], &trial, over)
		attribute(&trial, over, false)
		f := trial.Flows[0]
		if f.LimitedBy != test.want || !shows(f.LimitedFacts, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, f.LimitedBy, said(f.LimitedFacts), test.want, test.why)
		}
		if strings.Contains(test.name, "not read") && shows(f.LimitedFacts, `"between"`) {
			t.Errorf("%s: %s", test.name, said(f.LimitedFacts))
		}
	}
}

// TestNeedlessRest: what no counter has of a TCP flow's retransmissions may be as needless as the
// most of them that its receiver reported, and is no reason to look for a firewall.
func TestNeedlessRest(t *testing.T) {
	for dups, want := range map[uint32]string{
		0:  `"by":"behind","at":"server"`,
		40: `"by":"behind","at":"server"`,
		90: `"by":"needless"`,
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.SentBytes, f.RetransBytes, f.RetransSegments = 1e7, 2_000_000, 1380
		f.SenderInfo.TotalRetrans, f.SenderInfo.DsackDups = 1380, dups*138/10
		f.SenderInfo.RTTUs = 2 * f.SenderInfo.MinRTTUs
		wire(f, &trial, 1e7, 1e7, 1448)
		attribute(&trial, over, true)
		if f = &trial.Flows[0]; f.LimitedBy != CongestionWindow || !shows(f.LimitedFacts, want) {
			t.Errorf("%d of 100 reported: %q (%s), want %q", dups, f.LimitedBy, said(f.LimitedFacts), want)
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
			`{"share":0.4}},{"lost_at":{"by":"qdisc","at":"client1.eth0","kind":"tbf","packets":300}`},
		{"a queue that is probed", 5_000, 0, 4, CongestionWindow, `"at":"client1.eth0","kind":"tbf","packets":4}`},
		{"a switch's queue", 400_000, 2, 300, CongestionWindow, `"at":"switch.p-server-eth0","kind":"tbf"`},
		{"a place that is not known", 400_000, 0, 0, CongestionWindow,
			`"lost_at":{"by":"between","from":"client1.eth0"`},
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.SentBytes, f.RetransBytes, f.RetransSegments = 1e6, test.resent, test.resent/1000
		f.SenderInfo.TotalRetrans = uint32(f.RetransSegments)
		end := f.Ends()[test.hop]
		h := reading(&trial, end.Node)
		q := netstate.QdiscCounters{Interface: end.Interface, Kind: "tbf", Handle: "1:"}
		h.Begin.Qdiscs = append(h.Begin.Qdiscs, q)
		q.Drops = test.drops
		h.End.Qdiscs = append(h.End.Qdiscs, q)
		wire(f, &trial, 1e6, 1e6-float64(test.resent), 1448)
		for i := range over.Links { // a shaper of known rate is there
			over.Links[i].Bucket = true
		}
		attribute(&trial, over, true)
		if f = &trial.Flows[0]; f.LimitedBy != test.want || !shows(f.LimitedFacts, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s …)", test.name, f.LimitedBy, said(f.LimitedFacts), test.want, test.why)
		}
	}
}

// TestLossWithinDoubt: over a lossy path with delay, what a flow lost is less than what was on its way
// at the edges of the window, so counters cannot tell a loss on the path from one on the receiving
// host, and no firewall is named.
func TestLossWithinDoubt(t *testing.T) {
	for _, test := range []struct {
		name          string
		rttUs         uint32
		sent, resent  float64
		datagrams     bool // of another flow
		others        int64
		want, instead string
	}{
		{"a local path", 200, 20e6, 4e5, false, 0, `"by":"behind"`, ""},
		{"a path of 15 ms", 15_000, 20e6, 4e4, false, 0, `"by":"somewhere"`, `"by":"behind"`},
		{"traffic of other clients", 200, 20e6, 4e5, false, 1e6, `"by":"somewhere"`, `"by":"behind"`},
		{"datagrams beside it", 200, 20e6, 4e5, true, 0, `"by":"somewhere"`, `"by":"behind"`},
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.SentBytes, f.RetransBytes, f.RetransSegments = int64(test.sent), int64(test.resent), int64(test.resent/1448)
		f.SenderInfo.TotalRetrans, f.SenderInfo.RTTUs = uint32(f.RetransSegments), test.rttUs
		wire(f, &trial, test.sent, test.sent, 1448)
		h := reading(&trial, f.To)
		h.Others = &netstate.OtherFlows{Flows: 1, ReceivedBytes: test.others}
		if test.datagrams { // in packets of other headers, which the receiving interface counts together
			udp := *f
			udp.ID, udp.Protocol, udp.SenderInfo = "f2", "udp", nil
			udp.Datagrams = &record.Datagrams{Sent: 20_000, Received: 20_000, Bytes: 100}
			trial.Flows = append(trial.Flows, udp)
			h, i := at(&trial, f, 0)
			h.End.Interfaces[i].TxBytes += 20_000 * 142
			h.End.Interfaces[i].TxPackets += 20_000
			h, i = at(&trial, f, last(f))
			h.End.Interfaces[i].RxBytes += 20_000*100 + 500*42
			h.End.Interfaces[i].RxPackets += 500
		}
		attribute(&trial, over, true)
		if f = &trial.Flows[0]; !shows(f.LimitedFacts, test.want) || test.instead != "" &&
			shows(f.LimitedFacts, test.instead) {
			t.Errorf("%s: %q (%s), want %q", test.name, f.LimitedBy, said(f.LimitedFacts), test.want)
		}
	}
}
