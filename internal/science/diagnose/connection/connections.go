package connection

import (
	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

func finWait(f facts.Trial, h *facts.Host) *record.Finding {
	n := h.State.TCP["FIN-WAIT-2"]
	finding := inStates(cause.FinWaitMany, h, beside(h, n), n, 20, "FIN-WAIT-2")
	if finding != nil {
		finding.Toward = f.Toward(h, func(c netstate.Connection) bool { return c.State == "FIN-WAIT-2" })
	}
	return finding
}

// beside returns how sure it is that n closing connections are too many: likely if they are more
// than the established ones, otherwise possible, because a busy server always has some.
func beside(h *facts.Host, n int) string {
	if n > h.State.TCP["ESTAB"] {
		return record.Likely
	}
	return record.Possible
}

func closingUnanswered(_ facts.Trial, h *facts.Host) *record.Finding {
	n := h.State.TCP["FIN-WAIT-1"] + h.State.TCP["CLOSING"] + h.State.TCP["LAST-ACK"]
	return inStates(cause.ClosingUnanswered, h, beside(h, n), n, 20, "FIN-WAIT-1", "CLOSING", "LAST-ACK")
}

// waiting returns a condition for connections that have data to send and meet the condition where.
func waiting(where func(*netstate.TCPInfo) bool) func(netstate.Connection) bool {
	return func(c netstate.Connection) bool {
		return c.Info != nil && c.SendQueue > 0 && (c.State == "ESTAB" || c.State == "CLOSE-WAIT") && where(c.Info)
	}
}

func windowClosed(f facts.Trial, h *facts.Host) *record.Finding {
	closed := waiting(func(i *netstate.TCPInfo) bool {
		return i.Backoff > 0 && i.Lacking("snd_wnd_bytes") == "" && zeroWindow(i)
	})
	finding := notable(cause.PeerWindowClosed, h, closed)
	if finding != nil {
		finding.Toward = f.Toward(h, closed)
	}
	return finding
}

// limited reports whether a connection spent at least 0.3 s, and half of its busy time, in a state.
func limited(us, busy uint64) bool { return us >= 300_000 && 2*us >= busy }

// observed finds connections that meet a condition, at most six, each with the fact that is
// returns.
func observed(c cause.Of[cause.None], h *facts.Host, confidence string, where func(netstate.Connection) bool,
	is func(netstate.Connection) any) *record.Finding {
	finding := facts.Found(c, h, confidence, cause.None{})
	for _, c := range h.State.Notable {
		if where(c) && len(finding.Facts) < 6 {
			finding.With(h.Name, is(c))
		}
	}
	if len(finding.Facts) == 0 {
		return nil
	}
	return finding
}

func windowLimited(f facts.Trial, h *facts.Host) *record.Finding {
	const unscaled = 1 << 16
	waits := waiting(func(i *netstate.TCPInfo) bool { return limited(i.RwndLimitedUs, i.BusyUs) })
	confidence := record.Possible // a fast path: the peer may read as fast as it can
	finding := observed(cause.WindowLimited, h, "", waits, func(c netstate.Connection) any {
		held := fact.HeldBack{Local: c.Local, Remote: c.Remote, WaitedUs: c.Info.RwndLimitedUs, BusyUs: c.Info.BusyUs}
		if c.Info.Lacking("snd_wnd_bytes") == "" {
			if held.WindowBytes = &c.Info.SndWnd; c.Info.SndWnd < unscaled {
				confidence = record.Likely
			}
		}
		return held
	})
	if finding != nil {
		finding.Toward, finding.Confidence = f.Toward(h, waits), confidence
	}
	return finding
}

func sendBufferLimited(_ facts.Trial, h *facts.Host) *record.Finding {
	return observed(cause.SendBufferLimited, h, record.Possible, waiting(func(i *netstate.TCPInfo) bool {
		return limited(i.SndbufLimited, i.BusyUs)
	}), func(c netstate.Connection) any {
		return fact.HeldBack{Local: c.Local, Remote: c.Remote, SendBuffer: true, WaitedUs: c.Info.SndbufLimited,
			BusyUs: c.Info.BusyUs}
	})
}

func mssSmall(_ facts.Trial, h *facts.Host) *record.Finding {
	const few, path = 1000, 1280
	return observed(cause.MSSSmall, h, record.Likely, waiting(func(i *netstate.TCPInfo) bool {
		return i.SndMSS > 0 && i.SndMSS < few && i.PMTU >= path
	}), func(c netstate.Connection) any {
		return fact.SmallSegments{Local: c.Local, Remote: c.Remote, MSS: c.Info.SndMSS, PathMTU: c.Info.PMTU}
	})
}

func socketDropped(_ facts.Trial, h *facts.Host) *record.Finding {
	sockets := h.DroppingSockets()
	if len(sockets) == 0 {
		return nil
	}
	return facts.Found(cause.UDPSocketDropped, h, record.Possible, cause.None{}).With(h.Name, sockets...)
}
