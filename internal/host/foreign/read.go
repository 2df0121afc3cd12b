package foreign

import (
	"cmp"
	"net/netip"
	"slices"

	"linerate/internal/bus"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// Read returns every flow's current state from the kernel's socket diagnosis.
func (e *Engine) Read() []message.FlowEnd {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.look(true)
	ends := make([]message.FlowEnd, len(e.flows))
	for i, f := range e.flows {
		ends[i] = f.end
	}
	return ends
}

// Light returns a sample of each flow during a window.
func (e *Engine) Light() []netstate.FlowSample {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.look(false)
	samples := make([]netstate.FlowSample, len(e.flows))
	for i, f := range e.flows {
		samples[i] = netstate.FlowSample{ID: f.request.ID, ReceivedBytes: f.end.ReceivedBytes,
			UnreadBytes: f.end.UnreadBytes}
		if info := f.end.Info; info != nil && f.request.Sends {
			samples[i].RTTUs, samples[i].SndCwnd = info.RTTUs, info.SndCwnd
			samples[i].Unacked, samples[i].NotsentBytes, samples[i].SndWnd = info.Unacked, info.NotsentBytes,
				info.SndWnd
		} else if f.process.countsAll() && f.request.Sends {
			f.process.sample(&samples[i])
		}
	}
	return samples
}

// look reads all sockets from the kernel and finds those of the flows. Which connection of its process belongs
// to a flow is settled, if settle is true, once all exist: the first flow gets the lowest port at the opener,
// so that both hosts agree. Only readings at a window's edge settle it.
func (e *Engine) look(settle bool) {
	if e.sockets == nil {
		return
	}
	now := sched.Now()
	list, err := e.sockets.TCP(false)
	byPort := map[uint16][]netlink.Socket{}
	for _, s := range list {
		byPort[s.Local.Port()] = append(byPort[s.Local.Port()], s)
		if s.Remote.Port() != s.Local.Port() {
			byPort[s.Remote.Port()] = append(byPort[s.Remote.Port()], s)
		}
	}
	wrong := map[*process]error{}
	for _, p := range e.processes {
		if p.countsAll() && err == nil {
			wrong[p] = p.read(byPort[p.job.Destination.Port()], now)
		}
	}
	found := map[*process][]netlink.Socket{}
	for _, f := range e.flows {
		p := f.process
		if p.countsAll() {
			continue
		}
		if _, known := found[p]; !known && p.tool != nil {
			found[p] = p.connections(byPort[p.tool.DataPort(p.job.Destination.Port())])
		}
	}
	for _, f := range e.flows {
		f.end.AtNs, f.end.Alive = now, false
		if err != nil {
			f.end.Error = bus.Failure(err)
			continue
		}
		if flow.Of(f.request.Protocol).Transport == flow.UDP {
			f.datagrams()
			continue
		}
		if f.process.countsAll() {
			f.tallied()
			f.explain(settle && e.started && now > e.startNs)
			if err := wrong[f.process]; err != nil {
				f.end.Alive, f.end.Error = false, bus.Failure(err)
			}
			continue
		}
		s, there := e.mine(f, found[f.process], settle)
		if there {
			f.fill(s)
			f.lived(s, false)
		}
		f.explain(settle && e.started && now > e.startNs)
	}
}

// connections returns the process's data connections, without the control connection; none while some are
// missing, since those that are there cannot be distinguished from it then.
func (p *process) connections(list []netlink.Socket) []netlink.Socket {
	data := netip.AddrPortFrom(p.job.Destination.Addr(), p.tool.DataPort(p.job.Destination.Port()))
	var mine []netlink.Socket
	all := 0
	for _, s := range list {
		near := s.Remote
		if p.serves {
			near = s.Local
		}
		if near.Port() != data.Port() || near.Addr() != data.Addr() || s.Info == nil {
			continue
		}
		all++
		// By acknowledged bytes: the kernel's count of sent bytes includes retransmissions and what is still in
		// a queue of this host.
		opener, acceptor := p.acknowledged(s), s.Info.BytesReceived
		if p.serves {
			opener, acceptor = acceptor, opener
		}
		if !p.tool.Control(opener, acceptor) {
			mine = append(mine, s)
		}
	}
	p.whole = p.whole || all == p.tool.Connections(p.job.Streams) && len(mine) == p.job.Streams
	if !p.whole {
		return nil
	}
	slices.SortFunc(mine, func(a, b netlink.Socket) int {
		return cmp.Compare(p.openerOf(a).Port(), p.openerOf(b).Port())
	})
	return mine
}

// acknowledged returns how many bytes of a connection the other end has; a FIN counts as one.
func (p *process) acknowledged(s netlink.Socket) uint64 {
	acked := s.Info.BytesAcked
	if !p.serves && acked > 0 {
		acked-- // the SYN
	}
	return acked
}

// openerOf returns the opener's address of a connection.
func (p *process) openerOf(s netlink.Socket) netip.AddrPort {
	if p.serves {
		return s.Remote
	}
	return s.Local
}

// mine returns the flow's connection among those of its process.
func (e *Engine) mine(f *toolFlow, list []netlink.Socket, settle bool) (netlink.Socket, bool) {
	for _, s := range list {
		if opener := f.process.openerOf(s); opener == f.remote {
			return s, true
		}
	}
	if f.remote.IsValid() || !settle {
		return netlink.Socket{}, false
	}
	for _, s := range list {
		opener := f.process.openerOf(s)
		if !slices.ContainsFunc(e.flows, func(other *toolFlow) bool {
			return other.process == f.process &&
				other.remote == opener
		}) {
			f.remote = opener
			return s, true
		}
	}
	return netlink.Socket{}, false
}

// fill adds the kernel's counts of a connection: bytes received and read, and bytes written, acknowledged or
// not.
func (f *toolFlow) fill(s netlink.Socket) {
	end := &f.end
	end.AtNs, end.Alive = s.AtNs, s.Established
	end.Local, end.Remote = s.Local, s.Remote
	end.Info, end.CongestionControl = s.Info, s.CongestionControl
	end.ReceivedBytes = max(0, int64(s.Info.BytesReceived)-s.ReceiveQueue)
	end.UnreadBytes, end.UnsentBytes = s.ReceiveQueue, s.SendQueue
	end.WrittenBytes = int64(f.process.acknowledged(s)) + s.SendQueue
	if f.request.Protocol == flow.RR {
		_, response := f.process.tool.Messages(f.process.job)
		got := int64(s.Info.BytesReceived)
		if f.process.serves {
			response, _ = f.process.tool.Messages(f.process.job)
		}
		end.Transactions = &record.Transactions{Done: got / int64(response), Connections: 1}
	}
}

// datagrams handles UDP sockets, which have no counts: the flow is alive while its program runs.
func (f *toolFlow) datagrams() {
	p := f.process
	f.end.Alive = p.Program != nil && p.Running()
	f.end.Error = nil
	if !f.end.Alive && p.Program != nil {
		f.end.Error = &message.Error{Text: p.Last()}
	}
}

// explain records why a flow is not alive; due means that it should be.
func (f *toolFlow) explain(due bool) {
	p := f.process
	f.end.Error = nil
	switch {
	case f.end.Alive || !due:
	case p.wrong != nil:
		f.end.Error = bus.Failure(p.wrong)
	case p.Program != nil && !p.Running():
		f.end.Error = &message.Error{Text: p.Last()}
	case !f.remote.IsValid() && p.serves:
		// Only the client's host knows why.
	case p.countsAll():
		f.end.Error = &message.Error{Text: p.tool.Name + " has not connected"}
	case !f.remote.IsValid():
		f.end.Error = &message.Error{Text: p.tool.Name + " did not have all its connections"}
	default:
		f.end.Error = &message.Error{Text: p.tool.Name + " has closed the connection"}
	}
}
