package facts

import (
	"net/netip"
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
)

// Full reports whether more connections wait for accept(2) than the listener's backlog.
func Full(l netstate.Listener) bool {
	return l.Protocol == "tcp" && !l.BacklogUnknown && l.Queued > l.Backlog
}

// Toward returns the name of the one other host that all connections which meet a condition lead
// to; empty: there are several, or it is not known.
func (f Trial) Toward(h *Host, where func(netstate.Connection) bool) (name string) {
	for _, c := range h.State.Notable {
		if !where(c) {
			continue
		}
		remote, err := netip.ParseAddrPort(c.Remote)
		i := slices.IndexFunc(f.Hosts, func(o *Host) bool { return o != h && o.Holder(remote.Addr().Unmap()) != nil })
		if err != nil || i < 0 || name != "" && name != f.Hosts[i].Name {
			return ""
		}
		name = f.Hosts[i].Name
	}
	return name
}

// Unanswered reports whether a connection has sent its SYN again.
func Unanswered(c netstate.Connection) bool {
	return c.State == "SYN-SENT" && c.Info != nil && (c.Info.Retransmits > 0 || c.Info.Backoff > 0)
}

// most is how many sockets, or kinds of dropped packets, are evidence of one finding.
const most = 4

// Listeners returns at most four sockets that meet a condition, as evidence.
func (h *Host) Listeners(where func(netstate.Listener) bool, is func(netstate.Listener) any) (list []any) {
	for _, l := range h.State.Listeners {
		if where(l) && len(list) < most {
			list = append(list, is(l))
		}
	}
	return list
}

// FullListeners returns the listeners whose accept queue is full, as evidence.
func (h *Host) FullListeners() []any {
	return h.Listeners(func(l netstate.Listener) bool {
		return l.Protocol == "tcp" && !l.BacklogUnknown && l.Queued > 0 && l.Queued >= l.Backlog
	}, AcceptQueue)
}

// AcceptQueue returns a listener with its accept queue as evidence.
func AcceptQueue(l netstate.Listener) any {
	return fact.Listener{Local: l.Local, Queued: l.Queued, Backlog: l.Backlog, Program: l.Program}
}

// DroppingSockets returns UDP sockets that dropped datagrams since they were opened, as evidence.
func (h *Host) DroppingSockets() []any {
	return h.Listeners(func(l netstate.Listener) bool { return l.Drops > 0 }, func(l netstate.Listener) any {
		return fact.DroppingSocket{Local: l.Local, Drops: uint64(l.Drops), Queued: l.Queued,
			BufferBytes: max(l.ReceiveBuffer, 0), Program: l.Program}
	})
}

// Unread returns connections with data that their programs have not read, as evidence.
func (h *Host) Unread() (list []any) {
	for _, c := range h.State.Notable {
		if c.State == "ESTAB" && c.ReceiveQueue > 0 && len(list) < most {
			list = append(list, fact.Unread{Local: c.Local, Remote: c.Remote, Bytes: int64(c.ReceiveQueue)})
		}
	}
	return list
}
