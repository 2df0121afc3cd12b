package foreign

import (
	"fmt"
	"net/netip"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// tally adds up all connections of a process: the open ones as of the latest reading, and the ended ones from
// the kernel's event. A connection counts as open until its event, so its bytes count once.
type tally struct {
	open  map[uint64]netlink.Socket // by cookie
	ended carried
	seen  bool
	// others are connections to the port that existed before the process.
	others map[uint64]bool
	// main is the connection that carries nearly all bytes; 0: none does.
	main uint64
	life life
}

// carried holds byte counts of connections.
type carried struct{ received, written, arrived int64 }

// maxOpen limits the connections of one process.
const maxOpen = 1 << 16

// mainShare is the share of all bytes above which the TCP_INFO of one connection represents the flow.
const mainShare = 0.9

// countsAll reports whether all connections of the process belong to its flow.
func (p *process) countsAll() bool { return p.tool != nil && p.tool.All }

// owns reports whether a connection is to the process's port.
func (p *process) owns(s netlink.Socket) bool {
	near := s.Remote
	if p.serves {
		near = s.Local
	}
	return near == p.job.Destination && s.Info != nil && !p.tally.others[s.Cookie]
}

// carried returns the bytes that a connection of the process had carried at a reading.
func (p *process) carried(s netlink.Socket) carried {
	arrived := int64(s.Info.BytesReceived)
	return carried{received: max(0, arrived-s.ReceiveQueue), written: int64(p.acknowledged(s)) + s.SendQueue,
		arrived: arrived}
}

func (c *carried) add(more carried) {
	c.received, c.written, c.arrived = c.received+more.received, c.written+more.written, c.arrived+more.arrived
}

// ignore excludes connections to the port that already exist.
func (t *tally) ignore(list []netlink.Socket) {
	t.others = map[uint64]bool{}
	for _, s := range list {
		t.others[s.Cookie] = true
	}
}

// read records a reading of connections. It fails if there are too many.
func (p *process) read(list []netlink.Socket, atNs int64) error {
	t := &p.tally
	if t.open == nil {
		t.open = map[uint64]netlink.Socket{}
	}
	for _, s := range list {
		if !p.owns(s) {
			continue
		}
		if _, known := t.open[s.Cookie]; !known && len(t.open) >= maxOpen {
			return fmt.Errorf("%s has more than %d connections", p.tool.Name, maxOpen)
		}
		t.seen, t.open[s.Cookie] = true, s
	}
	p.lived(atNs)
	return nil
}

// end records the end of a connection.
func (p *process) end(s netlink.Socket) {
	t := &p.tally
	t.seen = true
	t.ended.add(p.carried(s))
	delete(t.open, s.Cookie)
	p.lived(s.AtNs)
	if len(t.open) == 0 {
		t.life.EndNs = s.AtNs
	}
}

// sum returns what the process's connections have carried, and what is in their queues.
func (p *process) sum() (all carried, unread, unsent int64) {
	all = p.tally.ended
	for _, s := range p.tally.open {
		all.add(p.carried(s))
		unread, unsent = unread+s.ReceiveQueue, unsent+s.SendQueue
	}
	return all, unread, unsent
}

// sample sets the totals in flight and waiting over all of the process's connections.
func (p *process) sample(out *netstate.FlowSample) {
	for _, s := range p.tally.open {
		if s.Established {
			out.Unacked, out.NotsentBytes, out.SndCwnd = out.Unacked+s.Info.Unacked, out.NotsentBytes+
				s.Info.NotsentBytes, out.SndCwnd+s.Info.SndCwnd
		}
	}
}

// lived records when the process wrote its first byte and the latest time of its last one.
func (p *process) lived(atNs int64) {
	l := &p.tally.life
	all, _, _ := p.sum()
	if p.serves || all.written == 0 {
		return
	}
	if l.FirstNs == 0 {
		l.FirstNs, l.LastNs = atNs, atNs
		for _, s := range p.tally.open {
			if busy := int64(s.Info.BusyUs) * 1e3; busy > 0 {
				l.FirstNs = min(l.FirstNs, s.AtNs-busy)
			}
		}
	}
	l.seenNs, l.WrittenBytes = atNs, all.written
	for _, s := range p.tally.open {
		if s.Established {
			l.LastNs, l.EndNs = atNs, 0
		}
	}
}

// tallied sets the flow's counts to the totals of the process's connections. The kernel's data on one
// connection represents the flow if that one carries nearly all bytes.
func (f *toolFlow) tallied() {
	p, t := f.process, &f.process.tally
	all, unread, unsent := p.sum()
	end := &f.end
	end.ReceivedBytes, end.WrittenBytes, end.UnreadBytes, end.UnsentBytes = all.received, all.written, unread, unsent
	end.Local, end.Remote, end.Info = netip.AddrPort{}, netip.AddrPort{}, nil
	if p.serves {
		end.Local = p.job.Destination
	} else {
		end.Remote = p.job.Destination
	}
	end.OutOfOrderBytes = 0
	for _, s := range t.open {
		end.OutOfOrderBytes += int64(s.Info.Sacked) * int64(s.Info.SndMSS)
	}
	running := p.Program == nil && p.serves || p.Program != nil && p.Running()
	end.Alive, end.Error = t.seen && running, nil
	for cookie, s := range t.open {
		one := p.carried(s)
		if t.main != 0 && t.main != cookie ||
			float64(one.arrived+one.written) < mainShare*float64(all.arrived+all.written) {
			if !end.Local.IsValid() { // the source address without a port
				end.Local = netip.AddrPortFrom(s.Local.Addr(), 0)
			}
			continue
		}
		t.main = cookie
		end.Local, end.Remote, end.Info, end.CongestionControl = s.Local, s.Remote, s.Info, s.CongestionControl
	}
	if f.request.Protocol == flow.RR {
		_, response := p.tool.Messages(p.job)
		if p.serves {
			response, _ = p.tool.Messages(p.job)
		}
		end.Transactions = &record.Transactions{Done: all.arrived / int64(response), Connections: int64(len(t.open))}
	}
	f.life.Life, f.life.seenNs = message.Life{}, 0
	if f.request.Sends && !p.serves {
		f.life = t.life
	}
}
