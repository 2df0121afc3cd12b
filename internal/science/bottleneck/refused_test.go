package bottleneck

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"linerate/internal/model/record"
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
			"60 % (600 of 1,000) never left it: refused by its own queue, tbf of client1.eth0, which dropped 200 packets", ""},
		{"no queue dropped", 600, 1000, 1000, 0, 0.6, "refused by client1 itself", "queue"},
		{"those of other connections may have failed", 600, 1000, 500, 200, 0.2, "20 % (100 of 500)", ""},
		{"those of other connections alone", 600, 2000, 500, 200, 0, "", "never left"},
		{"none", 0, 1000, 1000, 200, 0, "", "never left"},
		{"more than were sent again", 900, 800, 800, 200, 1, "100 % (800 of 800)", ""},
	} {
		trial, over := sound()
		f := &trial.Flows[0]
		for i := range trial.Flows {
			trial.Flows[i].RetransSegments = 0
		}
		f.RetransSegments = test.own
		h := reading(&trial, f.From)
		q := record.QdiscCounters{Interface: "eth0", Kind: "tbf", Handle: "1:"}
		filter := record.QdiscCounters{Interface: "eth0", Kind: "ingress", Handle: "ffff:"}
		h.Begin.Qdiscs, h.Begin.SNMP = []record.QdiscCounters{filter, q}, map[string]int64{"Tcp.RetransSegs": 7,
			"TcpExt.TCPRetransFail": 5}
		q.Drops = test.drops
		child := q
		child.Handle, child.Kind = "10:", "bfifo"
		h.Begin.Qdiscs = append(h.Begin.Qdiscs, record.QdiscCounters{Interface: "eth0", Kind: "bfifo", Handle: "10:"})
		filter.Drops = 2000 // of what arrives
		h.End.Qdiscs = []record.QdiscCounters{filter, q, child}
		h.End.SNMP = map[string]int64{"Tcp.RetransSegs": 7 + test.all, "TcpExt.TCPRetransFail": 5 + test.failed}
		got := Attribute(trial.Flows, trial.Hosts, trial.WindowS, over, true)[0]
		if math.Abs(got.Refused-test.part) > 1e-9 || !strings.Contains(got.Why, test.why) || test.contradicted != "" &&
			strings.Contains(got.Why, test.contradicted) {
			t.Errorf("%s: %.3g, %q; want %.3g, with %q, without %q", test.name, got.Refused, got.Why, test.part,
				test.why, test.contradicted)
		}
		if test.drops > 0 && test.part > 0 && strings.Contains(got.Why, "bfifo") {
			t.Errorf("%s: the drops of a qdisc are repeated: %q", test.name, got.Why)
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
			"tbf of client1.eth0 dropped 100 packets before they were sent, 10 % of what it was given"},
		{"an interface whose other end has a smaller MTU, and nothing arrives", 0, 300, 0, InterfaceQueue,
			"client1.eth0 dropped 300 packets before they were sent, 25 % of what it was given"},
		{"a queue that is probed", 9, 0, 1, CongestionWindow,
			"tbf of client1.eth0 dropped 9 packets before they were sent, 0.99 % of what it was given"},
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
		q := record.QdiscCounters{Interface: "eth0", Kind: "tbf", Handle: "1:"}
		filter := record.QdiscCounters{Interface: "eth0", Kind: "clsact", Handle: "ffff:"}
		h.Begin.Qdiscs = []record.QdiscCounters{filter, q}
		q.Drops, filter.Drops = test.queue, 2000 // of what arrives
		h.End.Qdiscs = []record.QdiscCounters{filter, q}
		got := Attribute(trial.Flows, trial.Hosts, trial.WindowS, over, true)[0]
		if got.By != test.want || !strings.Contains(got.Why, test.why) {
			t.Errorf("%s: %q (%s), want %q (… %s)", test.name, got.By, got.Why, test.want, test.why)
		}
	}
}

// TestMultiQueue: what the children of mq have dropped since the boot is no drop of the window.
func TestMultiQueue(t *testing.T) {
	const none = "no interface, qdisc or CPU backlog that was read dropped any"
	for _, drops := range []uint64{0, 5} {
		trial, _ := sound()
		f := &trial.Flows[0]
		f.RetransSegments, f.SenderInfo.TotalRetrans, f.SenderInfo.DsackDups = 100, 100, 87
		for i := range trial.Hosts {
			h := &trial.Hosts[i]
			h.Begin.Softnet, h.End.Softnet = []record.SoftnetCounters{{}}, []record.SoftnetCounters{{}}
		}
		h := reading(&trial, f.From)
		h.Begin.Qdiscs, h.End.Qdiscs = nil, nil
		sciencetest.MultiQueue(&h.Begin, &h.End, "eth0", drops)
		if _, got := queueDrops(*h, "eth0"); got != float64(drops) {
			t.Errorf("%d drops: %g", drops, got)
		}
		if got := dropping(*h); strings.Contains(got, fmt.Sprintf("dropped %d packets", drops)) != (drops > 0) ||
			drops == 0 && got != "" {
			t.Errorf("%d drops: %q", drops, got)
		}
		s := scene{Trial: trial}
		if _, got := s.turnedBack(*f); drops == 0 && got != "" {
			t.Errorf("nothing was dropped: %q", got)
		}
		if got := s.needlessly(*f); strings.Contains(got, none) != (drops == 0) {
			t.Errorf("%d drops: %q", drops, got)
		}
	}
}
