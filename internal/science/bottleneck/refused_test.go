package bottleneck

import (
	"math"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/science/sciencetest"
)

// TestRefused: what the sender's own queue refused is counted apart from what was sent again, within
// what the host's counters leave to other connections.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name              string
		failed, all, own  int64
		drops             uint64
		part              float64
		why, contradicted string
	}{
		{"most of them", 600, 1000, 1000, 200, 0.6,
			`"segments":600,"of":1000,"queues":[{"interface":"client1.eth0","kind":"tbf","packets":200}]`, ""},
		{"no queue dropped", 600, 1000, 1000, 0, 0.6, `"never_left":{"share":0.6,"segments":600,"of":1000}`, "queue"},
		{"those of other connections may have failed", 600, 1000, 500, 200, 0.2,
			`"share":0.2,"segments":100,"of":500`, ""},
		{"those of other connections alone", 600, 2000, 500, 200, 0, "", `"never_left"`},
		{"none", 0, 1000, 1000, 200, 0, "", `"never_left"`},
		{"more than were sent again", 900, 800, 800, 200, 1, `"share":1,"segments":800,"of":800`, ""},
	} {
		trial, over := sound()
		f := &trial.Flows[0]
		for i := range trial.Flows {
			trial.Flows[i].RetransSegments = 0
		}
		f.RetransSegments = test.own
		h := reading(&trial, f.From)
		q := netstate.QdiscCounters{Interface: "eth0", Kind: "tbf", Handle: "1:"}
		filter := netstate.QdiscCounters{Interface: "eth0", Kind: "ingress", Handle: "ffff:"}
		h.Begin.Qdiscs, h.Begin.SNMP = []netstate.QdiscCounters{filter, q}, map[string]int64{"Tcp.RetransSegs": 7,
			"TcpExt.TCPRetransFail": 5}
		q.Drops = test.drops
		child := q
		child.Handle, child.Kind = "10:", `"bfifo"`
		h.Begin.Qdiscs = append(h.Begin.Qdiscs, netstate.QdiscCounters{Interface: "eth0", Kind: `"bfifo"`,
			Handle: "10:"})
		filter.Drops = 2000 // of what arrives
		h.End.Qdiscs = []netstate.QdiscCounters{filter, q, child}
		h.End.SNMP = map[string]int64{"Tcp.RetransSegs": 7 + test.all, "TcpExt.TCPRetransFail": 5 + test.failed}
		got := Attribute(trial, over, true)[0]
		if math.Abs(got.Refused-test.part) > 1e-9 || !shows(got.Facts, test.why) || test.contradicted != "" &&
			shows(got.Facts, test.contradicted) {
			t.Errorf("%s: %.3g, %q; want %.3g, with %q, without %q", test.name, got.Refused, said(got.Facts), test.part,
				test.why, test.contradicted)
		}
		if test.drops > 0 && test.part > 0 && shows(got.Facts, `"bfifo"`) {
			t.Errorf("%s: the drops of a qdisc are repeated: %q", test.name, said(got.Facts))
		}
	}
}

// TestTurnedBack: what the own host's queue drops of segments that TCP then keeps is no
// retransmission, and is what holds the flow back all the same.
func TestTurnedBack(t *testing.T) {
	for _, test := range []struct {
		name        string
		queue, port uint64 // drops
		goodput     float64
		want, why   string
	}{
		{"a short queue", 100, 0, 1, InterfaceQueue,
			`{"interface":"client1.eth0","kind":"tbf","packets":100,"share":0.1}`},
		{"an interface whose other end has a smaller MTU, and nothing arrives", 0, 300, 0, InterfaceQueue,
			`{"interface":"client1.eth0","packets":300,"share":0.25}`},
		{"a queue that is probed", 9, 0, 1, CongestionWindow,
			`"interface":"client1.eth0","kind":"tbf","packets":9,"share":0.0099`},
		{"none", 0, 0, 1, CongestionWindow, ""},
	} {
		trial, over := sound()
		idleLinks(over)
		f := &trial.Flows[0]
		f.RetransSegments, f.RetransBytes = 0, 0
		f.GoodputBps *= test.goodput
		f.AckedBytes = int64(float64(f.AckedBytes) * test.goodput)
		h := reading(&trial, f.From)
		for i := range h.End.Interfaces {
			if b, e := &h.Begin.Interfaces[i], &h.End.Interfaces[i]; e.Interface == "eth0" {
				e.TxPackets, e.TxDropped = b.TxPackets+900, b.TxDropped+test.port
			}
		}
		q := netstate.QdiscCounters{Interface: "eth0", Kind: "tbf", Handle: "1:"}
		filter := netstate.QdiscCounters{Interface: "eth0", Kind: "clsact", Handle: "ffff:"}
		h.Begin.Qdiscs = []netstate.QdiscCounters{filter, q}
		q.Drops, filter.Drops = test.queue, 2000 // of what arrives
		h.End.Qdiscs = []netstate.QdiscCounters{filter, q}
		got := Attribute(trial, over, true)[0]
		if got.By != test.want || !shows(got.Facts, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s)", test.name, got.By, said(got.Facts), test.want, test.why)
		}
	}
}

// TestMultiQueue: what the children of mq have dropped since the boot is no drop of the window.
func TestMultiQueue(t *testing.T) {
	for _, drops := range []uint64{0, 5} {
		trial, _ := sound()
		f := &trial.Flows[0]
		f.RetransSegments, f.SenderInfo.TotalRetrans, f.SenderInfo.DsackDups = 100, 100, 87
		for i := range trial.Hosts {
			h := &trial.Hosts[i]
			h.Begin.Softnet, h.End.Softnet = []netstate.SoftnetCounters{{}}, []netstate.SoftnetCounters{{}}
		}
		h := reading(&trial, f.From)
		h.Begin.Qdiscs, h.End.Qdiscs = nil, nil
		sciencetest.MultiQueue(&h.Begin, &h.End, "eth0", drops)
		if _, got := queueDrops(*h, "eth0"); got != float64(drops) {
			t.Errorf("%d drops: %g", drops, got)
		}
		if got := dropping(*h); len(got) > 0 != (drops > 0) || drops > 0 && got[0].Packets != int64(drops) {
			t.Errorf("%d drops: %+v", drops, got)
		}
		s := scene{Trial: trial}
		if _, got := s.turnedBack(*f); drops == 0 && got != nil {
			t.Errorf("nothing was dropped: %+v", got)
		}
		if got := s.sentAgain(*f); got.NoDrops != (drops == 0) {
			t.Errorf("%d drops: %+v", drops, got)
		}
	}
}
