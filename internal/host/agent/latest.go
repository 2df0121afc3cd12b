package agent

import (
	"linerate/internal/host/traffic"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// latest keeps the readings of a window at which it can be ended if the other host is lost
// in it; nil: they are not kept.
//
// What is read after the loss is not of the path. A host that was killed is known to be
// lost at once, but one whose network is silent only many samples later: so the window ends
// at a sample after which more arrived.
type latest struct {
	agent  *agent
	engine *traffic.Engine
	meter  func(*netstate.HostReading)
	begin  []netstate.CPUTimes
	// sure is the latest sample after which the other host was heard of, and last the latest
	// by which it was; that of the window's begin has no reading.
	sure, last message.Edge
	// endedNs is when more flows were first seen to have ended than at sure.
	endedNs int64
}

// draining is how long data may arrive, on some flows, after the other host has died and ended
// others: what was in queues on the path.
const draining = 3e9 // ns

// keepLatest begins at the window's begin, as it was read.
func (a *agent) keepLatest(engine *traffic.Engine, meter func(*netstate.HostReading),
	begin message.WindowReply) *latest {
	return &latest{agent: a, engine: engine, meter: meter, begin: begin.Reading.Begin.CPU,
		last: message.Edge{Flows: begin.BeginFlows}}
}

// look reads as at an edge of the window.
func (l *latest) look(at int64) {
	if l == nil {
		return
	}
	var h netstate.HostReading
	flows := l.agent.edge(l.engine, at, &h.End)
	l.meter(&h)
	l.agent.reader.Machine(&h.End)
	l.heard(message.Edge{Reading: h.End, Flows: flows, ProcessCPUS: h.ProcessCPUS, CPUBusy: busy(l.begin, h.End.CPU)})
}

func (l *latest) heard(now message.Edge) {
	if !heardOf(l.last.Flows, now.Flows) {
		return
	}
	switch {
	case ended(l.last.Flows) == ended(l.sure.Flows):
		l.endedNs = 0
	case l.endedNs == 0:
		l.endedNs = l.last.Reading.BeganNs
	}
	if l.endedNs == 0 || now.Reading.BeganNs > l.endedNs+draining {
		l.sure = l.last
	}
	l.last = now
}

// ended counts the flows that are no longer alive.
func ended(flows []message.FlowEnd) (n int) {
	for _, f := range flows {
		if !f.Alive {
			n++
		}
	}
	return n
}

// end is where the window can be ended, given the flows at its own end; nil: nowhere.
func (l *latest) end(flows []message.FlowEnd) *message.Edge {
	if l == nil {
		return nil
	}
	if l.heard(message.Edge{Flows: flows}); l.sure.Reading.BeganNs == 0 {
		return nil
	}
	return &l.sure
}

// heardOf says whether anything came from the other host between two readings of the same
// flows: data, acknowledgements, responses, or the end of a connection.
func heardOf(before, now []message.FlowEnd) bool {
	for i, n := range now {
		if i >= len(before) {
			return true
		}
		b := before[i]
		silent := n.Alive || n.Error != nil && (n.Error.Code == message.Deadline || n.Error.Code == message.Unreachable)
		if arrived(n) > arrived(b) || b.Alive && !silent {
			return true
		}
	}
	return false
}

// arrived counts what came from the other host so far.
func arrived(e message.FlowEnd) (n int64) {
	n = e.ReceivedBytes
	if e.Info != nil {
		n += int64(e.Info.BytesAcked)
	}
	if e.Datagrams != nil {
		n += e.Datagrams.Received
	}
	return n
}
