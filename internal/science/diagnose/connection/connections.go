package connection

import (
	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/said"
)

func finWait(f facts.Trial, h *facts.Host) *record.Finding {
	const many = 20
	n := h.State.TCP["FIN-WAIT-2"]
	if n < many {
		return nil
	}
	waits := func(c record.Connection) bool { return c.State == "FIN-WAIT-2" }
	return &record.Finding{Host: h.Name, Toward: f.Toward(h, waits), Confidence: beside(h, n),
		Summary: "peers do not close connections that this host has closed", Reference: "RFC 9293, section 3.6; " +
			said.IPSysctl + " (tcp_fin_timeout)",
		Evidence: append([]string{fmt.Sprintf("%d connections in FIN-WAIT-2", n)}, said.Connections(h, waits, 3)...),
		Fix: said.On(h.Name, h.Alone,
			"the program at the peer does not call close(2): on it, ss -tnp state close-wait")}
}

// beside is how sure it is that so many connections which end are too many: on a busy server
// some always are.
func beside(h *facts.Host, n int) string {
	if n > h.State.TCP["ESTAB"] {
		return record.Likely
	}
	return record.Possible
}

func closingUnanswered(_ facts.Trial, h *facts.Host) *record.Finding {
	const many = 20
	closing := func(c record.Connection) bool {
		return c.State == "FIN-WAIT-1" || c.State == "CLOSING" || c.State == "LAST-ACK"
	}
	n := h.State.TCP["FIN-WAIT-1"] + h.State.TCP["CLOSING"] + h.State.TCP["LAST-ACK"]
	if n < many {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: beside(h, n),
		Summary:   "the end of connections is not acknowledged: their peers are gone, or the path is cut",
		Reference: "RFC 9293, section 3.6; " + said.IPSysctl + " (tcp_orphan_retries)",
		Evidence: append([]string{fmt.Sprintf("%d connections in FIN-WAIT-1, CLOSING or LAST-ACK", n)},
			said.Connections(h, closing, 3)...),
		Fix: said.On(h.Name, h.Alone,
			"does the peer answer? ping it; sysctl -w net.ipv4.tcp_orphan_retries=2 gives such connections up earlier")}
}

// waiting are connections with data to send, of which a condition holds.
func waiting(h *facts.Host, where func(*record.TCPInfo) bool) func(record.Connection) bool {
	return func(c record.Connection) bool {
		return c.Info != nil && c.SendQueue > 0 && (c.State == "ESTAB" || c.State == "CLOSE-WAIT") && where(c.Info)
	}
}

func windowClosed(f facts.Trial, h *facts.Host) *record.Finding {
	closed := waiting(h, func(i *record.TCPInfo) bool {
		return i.Backoff > 0 && i.Lacking("snd_wnd_bytes") == "" && i.SndWnd < i.SndMSS
	})
	rows := said.Connections(h, closed, 6)
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Toward: f.Toward(h, closed), Confidence: record.Likely,
		Summary: "peers have closed their windows: their programs do not read what is sent to them", Evidence: rows,
		Reference: "RFC 9293, section 3.8.6",
		Fix: said.On(h.Name, h.Alone,
			"at the peer: ss -tnp shows which program has data in Recv-Q; doctor there finds unread-data")}
}

// limited reports whether a connection spent much of its busy time in one of its states.
func limited(us, busy uint64) bool { return us >= 300_000 && 2*us >= busy }

func windowLimited(f facts.Trial, h *facts.Host) *record.Finding {
	const unscaled = 1 << 16
	waits := waiting(h, func(i *record.TCPInfo) bool { return limited(i.RwndLimitedUs, i.BusyUs) })
	var rows []string
	confidence := record.Possible // a fast path: the peer may read as fast as it can
	for _, c := range h.State.Notable {
		if waits(c) && len(rows) < 6 {
			row := fmt.Sprintf("%s to %s: %s of %s limited by the peer's window", c.Local, c.Remote,
				unit.FormatSeconds(float64(c.Info.RwndLimitedUs)/1e6), unit.FormatSeconds(float64(c.Info.BusyUs)/1e6))
			if c.Info.Lacking("snd_wnd_bytes") == "" {
				row += fmt.Sprintf(", which is %d bytes", c.Info.SndWnd)
				if c.Info.SndWnd < unscaled {
					confidence = record.Likely
				}
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Toward: f.Toward(h, waits), Confidence: confidence,
		Summary:  "connections wait for the receive windows of their peers, which are too small or read slowly",
		Evidence: rows, Reference: "tcp(7) (TCP_INFO, rwnd_limited); RFC 7323",
		Fix: said.On(h.Name, h.Alone,
			"at the peer: no SO_RCVBUF in the program, net.ipv4.tcp_rmem as large as linerate limits bdp says for the rate and the round-trip time; or a program that reads faster")}
}

func sendBufferLimited(_ facts.Trial, h *facts.Host) *record.Finding {
	var rows []string
	for _, c := range h.State.Notable {
		if waiting(h, func(i *record.TCPInfo) bool { return limited(i.SndbufLimited, i.BusyUs) })(c) && len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("%s to %s: %s of %s limited by the send buffer", c.Local, c.Remote,
				unit.FormatSeconds(float64(c.Info.SndbufLimited)/1e6), unit.FormatSeconds(float64(c.Info.BusyUs)/1e6)))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Possible,
		Summary: "connections are held back by their send buffers", Evidence: rows,
		Reference: "tcp(7) (TCP_INFO, sndbuf_limited); " + said.IPSysctl + " (tcp_wmem)",
		Fix: said.On(h.Name, h.Alone,
			"no SO_SNDBUF in the program; net.ipv4.tcp_wmem as large as linerate limits bdp says for the rate and the round-trip time")}
}

func mssSmall(_ facts.Trial, h *facts.Host) *record.Finding {
	const few, path = 1000, 1280
	var rows []string
	for _, c := range h.State.Notable {
		if waiting(h, func(i *record.TCPInfo) bool { return i.SndMSS > 0 && i.SndMSS < few && i.PMTU >= path })(c) &&
			len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("%s to %s: segments of %d bytes, path MTU %d", c.Local, c.Remote,
				c.Info.SndMSS, c.Info.PMTU))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary: "connections have small segments: their peers or a firewall ask for them (MSS)", Evidence: rows,
		Reference: "RFC 9293, section 3.7.1; RFC 6691",
		Fix: said.On(h.Name, h.Alone,
			"look for advmss in the routes of the peer, for a rule that sets the MSS (nft list ruleset, maxseg), and for TCP_MAXSEG in its program")}
}

func socketDropped(_ facts.Trial, h *facts.Host) *record.Finding {
	sockets := h.DroppingSockets()
	if len(sockets) == 0 {
		return nil
	}
	return facts.Found(cause.UDPSocketDropped, h, record.Possible, cause.None{}).With(h.Name, sockets...)
}
