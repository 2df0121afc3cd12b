// Package connection has the rules about sockets: states of connections, listeners, windows and
// local ports.
package connection

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// Rules are about listeners, UDP sockets and the states of TCP connections.
var Rules = []rule.Rule{
	{ID: cause.AcceptQueueFull.Code, Host: true, Parts: []string{"tcp listeners"}, Find: rule.Each(rule.EveryHost,
		acceptQueueFull),
		Explains: cause.Codes(cause.ListenOverflow, cause.TCPRetransmissions, cause.TCPTimeouts,
			cause.RetransmissionsLost, cause.PathRehash), AtPeers: cause.Codes(cause.SYNUnanswered)},
	{ID: cause.BacklogSmall.Code, Host: true, Parts: []string{"tcp listeners"}, Find: rule.Each(rule.EveryHost,
		backlogSmall),
		Explains: cause.Codes(cause.AcceptQueueFull, cause.ListenOverflow)},
	{ID: cause.CloseWait.Code, Host: true, Parts: []string{"connections"}, Find: rule.Each(rule.EveryHost, closeWait),
		AtPeers: cause.Codes(cause.FinWaitMany)},
	{ID: cause.SYNUnanswered.Code, Host: true, Parts: []string{"tcp timers"}, Find: rule.Each(rule.EveryHost,
		synUnanswered),
		Explains: cause.Codes(cause.TCPRetransmissions, cause.TCPTimeouts, cause.RetransmissionsLost, cause.PathRehash,
			cause.ConnectFails, cause.ConnectionsTimedOut)},
	{ID: cause.Unacknowledged.Code, Host: true, Parts: []string{"tcp timers"}, Find: rule.Each(rule.EveryHost,
		unacknowledged),
		Explains: cause.Codes(cause.TCPRetransmissions, cause.TCPTimeouts, cause.RetransmissionsLost, cause.PathRehash,
			cause.ConnectionsTimedOut, cause.ConnectionLosses)},
	{ID: cause.ConnectionStalled.Code, Host: true, Parts: []string{"tcp info"}, Find: rule.Each(rule.EveryHost,
		stalled),
		Explains: cause.Codes(cause.WindowLimited, cause.SendBufferLimited)},
	{ID: cause.UnreadData.Code, Host: true, Parts: []string{"connections"}, Find: rule.Each(rule.EveryHost, unreadData),
		Explains: cause.Codes(cause.SlowReader, cause.ReceiveQueuePruned),
		AtPeers:  cause.Codes(cause.PeerWindowClosed, cause.WindowLimited)},
	{ID: cause.UDPQueueFull.Code, Host: true, Parts: []string{"udp sockets"}, Find: rule.Each(rule.EveryHost,
		udpQueueFull),
		Explains: cause.Codes(cause.UDPBufferOverflow, cause.UDPSocketDropped)},
	{ID: cause.HalfOpenMany.Code, Host: true, Parts: []string{"connections"}, Find: rule.Each(rule.EveryHost, halfOpen),
		Explains: cause.Codes(cause.SYNQueueFull)},
	{ID: cause.PortsInTimeWait.Code, Host: true, Parts: []string{"connections", facts.Parameters(portRange)},
		Find: rule.Each(rule.EveryHost, timeWait)},
	{ID: cause.FinWaitMany.Code, Host: true, Parts: []string{"connections"}, Find: rule.Each(rule.EveryHost, finWait)},
	{ID: cause.ClosingUnanswered.Code, Host: true, Parts: []string{"connections"},
		Find:     rule.Each(rule.EveryHost, closingUnanswered),
		Explains: cause.Codes(cause.OrphansMany, cause.TCPRetransmissions)},
	{ID: cause.PeerWindowClosed.Code, Host: true, Load: true, Parts: []string{"tcp timers"},
		Find:     rule.Each(rule.EveryHost, windowClosed),
		Explains: cause.Codes(cause.WindowLimited, cause.SendBufferLimited)},
	{ID: cause.WindowLimited.Code, Host: true, Load: true, Parts: []string{"tcp info"},
		Find:     rule.Each(rule.EveryHost, windowLimited),
		Explains: cause.Codes(cause.SpuriousRetransmissions, cause.TailLoss)},
	{ID: cause.SendBufferLimited.Code, Host: true, Load: true, Parts: []string{"tcp info"},
		Find: rule.Each(rule.EveryHost, sendBufferLimited)},
	{ID: cause.MSSSmall.Code, Host: true, Parts: []string{"tcp info"}, Find: rule.Each(rule.EveryHost, mssSmall)},
	{ID: cause.UDPSocketDropped.Code, Host: true, Parts: []string{"socket drops"}, Find: rule.Each(rule.EveryHost,
		socketDropped)},
	{ID: cause.OrphansMany.Code, Host: true, Parts: []string{"sockstat", facts.Parameters("net.ipv4.tcp_max_orphans")},
		Find: rule.Each(rule.EveryHost, orphans)},
}

const portRange = "net.ipv4.ip_local_port_range"

// connections returns those that meet a condition as evidence, at most so many.
func connections(h *facts.Host, where func(netstate.Connection) bool, most int) (list []any) {
	for _, c := range h.State.Notable {
		if !where(c) || len(list) == most {
			continue
		}
		is := fact.Connection{Local: c.Local, Remote: c.Remote, State: c.State, Unread: c.ReceiveQueue,
			Unacknowledged: c.SendQueue, ReadBps: c.ReadBps}
		if c.Info != nil {
			is.Timeouts = max(c.Info.Backoff, c.Info.Retransmits)
		}
		list = append(list, is)
	}
	return list
}

// inStates finds connections in any of the states, if there are many or more.
func inStates(c cause.Of[cause.None], h *facts.Host, confidence string, n, many int,
	states ...string) *record.Finding {
	if n < many {
		return nil
	}
	return facts.Found(c, h, confidence, cause.None{}).With(h.Name, fact.InStates{States: states, Count: n}).
		With(h.Name, connections(h, func(c netstate.Connection) bool { return slices.Contains(states, c.State) }, 3)...)
}

func closeWait(_ facts.Trial, h *facts.Host) *record.Finding {
	return inStates(cause.CloseWait, h, record.Likely, h.State.TCP["CLOSE-WAIT"], 20, "CLOSE-WAIT")
}

// notable finds connections that meet a condition.
func notable(c cause.Of[cause.None], h *facts.Host, where func(netstate.Connection) bool) *record.Finding {
	list := connections(h, where, 6)
	if len(list) == 0 {
		return nil
	}
	return facts.Found(c, h, record.Likely, cause.None{}).With(h.Name, list...)
}

// onPaths adds to a finding the paths of its connections and the one host that they all lead to.
func onPaths(f facts.Trial, h *facts.Host, finding *record.Finding,
	where func(netstate.Connection) bool) *record.Finding {
	if finding != nil {
		finding.Toward, finding.Touches = f.Toward(h, where), h.Paths(where)
	}
	return finding
}

func synUnanswered(f facts.Trial, h *facts.Host) *record.Finding {
	return onPaths(f, h, notable(cause.SYNUnanswered, h, facts.Unanswered), facts.Unanswered)
}

// zeroWindow reports whether the window of the peer takes no segment. Without the size of segments, it has to
// be 0.
func zeroWindow(i *netstate.TCPInfo) bool { return i.SndWnd < max(i.SndMSS, 1) }

func unacknowledged(f facts.Trial, h *facts.Host) *record.Finding {
	const stalled = 2
	waits := func(c netstate.Connection) bool {
		i := c.Info
		if i == nil || max(i.Backoff, i.Retransmits) < stalled || c.SendQueue == 0 {
			return false
		}
		if c.State == "SYN-SENT" || c.State == "SYN-RECV" {
			return false
		}
		return i.Lacking("snd_wnd_bytes") != "" || !zeroWindow(i) // otherwise it probes a zero window
	}
	return onPaths(f, h, notable(cause.Unacknowledged, h, waits), waits)
}

// stalled finds connections that have data to send and neither sent nor had anything acknowledged for much
// longer than a round trip, although no timer has retransmitted: the kernel waits for a queue or driver
// of this host, or for acknowledgements that are lost.
func stalled(f facts.Trial, h *facts.Host) *record.Finding {
	const silent = 3000 // ms
	where := func(c netstate.Connection) bool {
		i := c.Info
		return i != nil && c.State == "ESTAB" && c.SendQueue > 0 && i.Backoff == 0 && i.LastSndMs >= silent &&
			i.LastAckMs >= silent && uint64(min(i.LastSndMs, i.LastAckMs))*1000 > 10*uint64(i.RTTUs) &&
			(i.Lacking("snd_wnd_bytes") != "" || !zeroWindow(i))
	}
	finding := facts.Found(cause.ConnectionStalled, h, record.Likely, cause.None{})
	for _, c := range h.State.Notable {
		if where(c) && len(finding.Facts) < 6 {
			finding.With(h.Name, fact.Stalled{Local: c.Local, Remote: c.Remote, Waiting: c.SendQueue,
				Window:   c.Info.SndCwnd,
				SentAgoS: float64(c.Info.LastSndMs) / 1e3, AckAgoS: float64(c.Info.LastAckMs) / 1e3,
				RTTUs: c.Info.RTTUs})
		}
	}
	if finding.Facts == nil {
		return nil
	}
	return onPaths(f, h, finding, where)
}

// unreadData finds connections with much unread data. It must be more than the program reads in
// half a second, where its rate is known: a receiver at 10 Gbit/s has megabytes unread at any time.
func unreadData(_ facts.Trial, h *facts.Host) *record.Finding {
	const much, lies = 64 << 10, 0.5 // bytes, seconds
	confidence := record.Possible
	finding := notable(cause.UnreadData, h, func(c netstate.Connection) bool {
		if c.State != "ESTAB" || c.ReceiveQueue < much || c.ReadBps != nil &&
			8*float64(c.ReceiveQueue) < lies**c.ReadBps {
			return false
		}
		if c.ReadBps != nil {
			confidence = record.Likely
		}
		return true
	})
	if finding != nil {
		finding.Confidence = confidence
	}
	return finding
}

func udpQueueFull(_ facts.Trial, h *facts.Host) *record.Finding {
	const much = 32 << 10
	return listeners(cause.UDPQueueFull, h, record.Likely, func(l netstate.Listener) bool {
		return l.Protocol == "udp" && l.Queued >= much
	}, func(l netstate.Listener) any {
		return fact.UnreadSocket{Local: l.Local, Bytes: l.Queued, Drops: l.Drops, Program: l.Program}
	})
}

func halfOpen(_ facts.Trial, h *facts.Host) *record.Finding {
	const many = 64
	n := h.State.TCP["SYN-RECV"] + h.State.TCP["NEW-SYN-RECV"]
	if n < many {
		return nil
	}
	return facts.Found(cause.HalfOpenMany, h, record.Likely, cause.None{}).
		With(h.Name, fact.InStates{States: []string{"SYN-RECV"}, Count: n})
}

// timeWait compares the connections in TIME-WAIT to one address and port with the range of local
// ports. Only they need a port each: the connections of a server share the port that it listens on.
func timeWait(_ facts.Trial, h *facts.Host) *record.Finding {
	first, last := h.Number(portRange, 0), h.Number(portRange, 1)
	n, confidence := h.State.TimeWaitBetween, record.Likely
	if n == 0 { // of which addresses they are is not known
		n, confidence = h.State.TCP[netstate.TimeWait], record.Possible
	}
	ports := last - first + 1
	if first < 0 || ports <= 0 || 2*int64(n) < ports {
		return nil
	}
	settings := []string{"net.ipv4.tcp_tw_reuse", "1"}
	if ports < widePorts {
		settings = append(settings, portRange, wideRange)
	}
	return facts.Found(cause.PortsInTimeWait, h, confidence, cause.None{}).
		With(h.Name, fact.InTimeWait{Count: n, Between: h.State.TimeWaitBetween > 0,
			Range: fact.PortRange{First: first, Last: last}}).
		Fixed(fix.Parameter(h, settings...)...)
}

func orphans(_ facts.Trial, h *facts.Host) *record.Finding {
	n, most := h.State.Sockstat["TCP.orphan"], h.Number("net.ipv4.tcp_max_orphans", 0)
	if most <= 0 || n*4 < most {
		return nil
	}
	return facts.Found(cause.OrphansMany, h, record.Likely, cause.None{}).
		With(h.Name, fact.Orphans{Count: n, Most: most}).
		Fixed(fix.Parameter(h, "net.ipv4.tcp_orphan_retries", "2")...)
}
