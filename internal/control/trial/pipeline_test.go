package trial

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/conclude"
	"linerate/internal/science/limits"
	"linerate/internal/science/trust"
)

// wire is a network of one link of 1 Gbit/s that carries everything.
type wire struct{ over *topology.Topology }

func (w wire) Paths(flows []*Flow, _ []record.Flow, _ []netstate.HostReading) Paths {
	p := Paths{Topology: w.over, Complete: true}
	for range flows {
		link := w.over.Links[0]
		p.Flows = append(p.Flows, Path{Flow: limits.Flow{Paths: [][]topology.End{{link.From, link.To}}}})
	}
	return p
}

func (wire) Limits(counted []record.Flow, _ []netstate.HostReading, _ Paths) Limits {
	l := Limits{Limit: limits.Limit{Bps: 941e6, Limit: record.Limit{None: "one link"}}}
	for range counted {
		l.Flows = append(l.Flows, 941e6)
	}
	return l
}

// twoFlows are two seconds of a write and a read between a and b: b's end is read too, or
// not, as of a peer without an agent.
func twoFlows(both bool) ([]*Flow, Readings) {
	flow := func(id string, opens bool) *Flow {
		return &Flow{PlannedFlow: study.PlannedFlow{ID: id, Opener: "a", Acceptor: "b", OpenerSends: opens,
			Spec: flow.Spec{Protocol: flow.TCP}}}
	}
	end := func(id string, sends bool, at, bytes int64) message.FlowEnd {
		e := message.FlowEnd{ID: id, Sends: sends, AtNs: at * second, Alive: true, Mode: "copy", FirstNs: second}
		e.Info = &netstate.TCPInfo{RTTUs: 100}
		if sends {
			e.WrittenBytes, e.Info.BytesAcked = bytes, uint64(bytes)
		} else {
			e.ReceivedBytes, e.Info.BytesReceived = bytes, uint64(bytes)
		}
		return e
	}
	reply := func(host string, sends, receives string) message.WindowReply {
		w := message.WindowReply{
			BeginFlows: []message.FlowEnd{end(receives, false, 10, 1000), end(sends, true, 10, 1000)},
			EndFlows:   []message.FlowEnd{end(receives, false, 12, 5000), end(sends, true, 12, 5000)},
			FinalFlows: []message.FlowEnd{end(receives, false, 13, 6000), end(sends, true, 13, 6000)},
		}
		w.Reading.Host = host
		return w
	}
	r := Readings{Duration: 2 * time.Second, Replies: map[string]message.WindowReply{"a": reply("a", "w1", "r1")},
		Clocks: map[string]record.Clock{"a": {Host: "a"}}}
	if both {
		r.Replies["b"], r.Clocks["b"] = reply("b", "r1", "w1"), record.Clock{Host: "b", OffsetNs: 7}
	}
	return []*Flow{flow("w1", true), flow("r1", false)}, r
}

// TestAssemble: a trial has what every stage found, and nothing of what it was made from
// is changed.
func TestAssemble(t *testing.T) {
	over := &topology.Topology{
		Hosts: []topology.Host{{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}}},
			{Name: "b", Interfaces: []topology.Interface{{Name: "eth0"}}}},
		Links: []topology.Link{{From: topology.End{Node: "a", Interface: "eth0"},
			To:         topology.End{Node: "b", Interface: "eth0"},
			Impairment: topology.Impairment{Rate: unit.BitRate(1e9)}}},
	}
	flows, readings := twoFlows(true)
	header := record.Trial{Treatment: "plain", Order: 3}
	text := func() string {
		data, err := json.Marshal([]any{flows, readings, header})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := text()
	made, err := Assemble(header, flows, readings, Context{Nodes: []string{"b", "a"}, Planned: over,
		Network: wire{over}})
	if err != nil {
		t.Fatal(err)
	}
	if text() != before {
		t.Error("what the trial was made from has changed")
	}
	if made.Treatment != "plain" || made.Order != 3 || made.WindowS != 2 || made.GoodputBps != 32000 ||
		made.LimitBps != 941e6 || made.Limit.None != "one link" ||
		made.Topology != nil || len(made.Hosts) != 2 || made.Hosts[0].Host != "b" || made.Clocks[0].OffsetNs != 7 {
		t.Errorf("%+v", made)
	}
	for i, f := range made.Flows {
		if f.ReceivedBytes != 4000 || f.AckedBytes != 4000 || f.GoodputBps != 16000 || f.LimitBps != 941e6 ||
			len(f.Path) != 2 || !f.Alive || f.CountedAt != "" {
			t.Errorf("flow %d: %+v", i, f)
		}
	}
	other, err := Assemble(header, flows, readings, Context{Nodes: []string{"a"}, Network: wire{over}})
	if err != nil || other.Topology != over || len(other.Hosts) != 1 {
		t.Errorf("without a plan the topology is the trial's own: %+v, %v", other.Topology, err)
	}
}

// TestAssemblePeer: of flows with a peer that no agent reads, each is counted where it
// can be, and the ends are not compared with each other.
func TestAssemblePeer(t *testing.T) {
	flows, readings := twoFlows(false)
	over := &topology.Topology{Links: []topology.Link{{From: topology.End{Node: "a", Interface: "eth0"},
		To: topology.End{Node: "b", Interface: "eth0"}}}}
	peer := &Peer{Mode: "iperf3", CongestionControl: "bbr",
		Counts: []record.PeerCount{{Bytes: 5500, Seconds: 2.5, GoodputBps: 17600}, {Bytes: 5600}}}
	assemble := func() record.Trial {
		made, err := Assemble(record.Trial{}, flows, readings, Context{Nodes: []string{"a"}, Network: wire{over},
			Peer: peer})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	made := assemble()
	w, r := made.Flows[0], made.Flows[1]
	if w.CountedAt != record.CountedAcknowledged || w.ReceivedBytes != 4000 || w.GoodputBps != 16000 ||
		w.ReceiveMode != "iperf3" || !w.Alive {
		t.Errorf("sent: %+v", w)
	}
	if r.CountedAt != record.CountedReceived || r.ReceivedBytes != 4000 || r.SendMode != "iperf3" ||
		r.CongestionControl != "bbr" || !r.Alive {
		t.Errorf("received: %+v", r)
	}
	if made.GoodputBps != w.GoodputBps+r.GoodputBps {
		t.Errorf("%g bit/s together", made.GoodputBps)
	}
	checks, findings := conclude.Trial(made)
	for _, c := range checks {
		if c.Check == trust.Conservation {
			t.Errorf("one end is compared with itself: %+v", c)
		}
	}
	if findings == nil || len(findings) > 0 {
		t.Errorf("findings %+v, want an empty list", findings)
	}
	// Without acknowledgements the peer's count is all there is.
	for _, list := range [][]message.FlowEnd{readings.Replies["a"].BeginFlows, readings.Replies["a"].EndFlows} {
		list[1].Info = nil
	}
	if w := assemble().Flows[0]; w.CountedAt != record.CountedByPeer || w.ReceivedBytes != 5500 ||
		w.GoodputBps != 17600 {
		t.Errorf("by the peer: %+v", w)
	}
	// Of datagrams the peer knows the share that is lost, and this host what it sent in the window.
	heard := peer.Counts[0].Datagrams
	peer.Counts[0].Datagrams = &record.Datagrams{Received: 90, Lost: 10}
	for k, list := range [][]message.FlowEnd{readings.Replies["a"].BeginFlows, readings.Replies["a"].EndFlows} {
		list[1].Datagrams = &record.Datagrams{Sent: int64(100 * k)}
	}
	if w := assemble().Flows[0]; w.CountedAt != record.CountedLessLoss ||
		math.Abs(w.GoodputBps-0.9*float64(w.WrittenBytes)*8/2) > 1e-9 || w.WrittenBytes == 0 {
		t.Errorf("less what is lost: %+v", w)
	}
	peer.Counts[0].Datagrams = heard
	peer.Counts[0].Seconds = 0
	if w := assemble().Flows[0]; math.Abs(w.GoodputBps-5500*8/2) > 1e-9 {
		t.Errorf("of a peer that does not report its time: %g bit/s", w.GoodputBps)
	}
}
