package diagnose

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

func finWait(f observed, h *host) *record.Finding {
	const many = 20
	n := h.state.TCP["FIN-WAIT-2"]
	if n < many {
		return nil
	}
	waits := func(c record.Connection) bool { return c.State == "FIN-WAIT-2" }
	return &record.Finding{Host: h.name, Toward: f.toward(h, waits), Confidence: h.beside(n),
		Summary: "peers do not close connections that this host has closed", Reference: "RFC 9293, section 3.6; " +
			ipSysctl + " (tcp_fin_timeout)",
		Evidence: append([]string{fmt.Sprintf("%d connections in FIN-WAIT-2", n)}, h.connections(waits, 3)...),
		Fix: on(h.name, h.alone,
			"the program at the peer does not call close(2): on it, ss -tnp state close-wait")}
}

// beside is how sure it is that so many connections which end are too many: on a busy server
// some always are.
func (h *host) beside(n int) string {
	if n > h.state.TCP["ESTAB"] {
		return record.Likely
	}
	return record.Possible
}

func closingUnanswered(_ observed, h *host) *record.Finding {
	const many = 20
	closing := func(c record.Connection) bool {
		return c.State == "FIN-WAIT-1" || c.State == "CLOSING" || c.State == "LAST-ACK"
	}
	n := h.state.TCP["FIN-WAIT-1"] + h.state.TCP["CLOSING"] + h.state.TCP["LAST-ACK"]
	if n < many {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: h.beside(n),
		Summary:   "the end of connections is not acknowledged: their peers are gone, or the path is cut",
		Reference: "RFC 9293, section 3.6; " + ipSysctl + " (tcp_orphan_retries)",
		Evidence: append([]string{fmt.Sprintf("%d connections in FIN-WAIT-1, CLOSING or LAST-ACK", n)},
			h.connections(closing, 3)...),
		Fix: on(h.name, h.alone,
			"does the peer answer? ping it; sysctl -w net.ipv4.tcp_orphan_retries=2 gives such connections up earlier")}
}

// waiting are connections with data to send, of which a condition holds.
func (h *host) waiting(where func(*record.TCPInfo) bool) func(record.Connection) bool {
	return func(c record.Connection) bool {
		return c.Info != nil && c.SendQueue > 0 && (c.State == "ESTAB" || c.State == "CLOSE-WAIT") && where(c.Info)
	}
}

func windowClosed(f observed, h *host) *record.Finding {
	closed := h.waiting(func(i *record.TCPInfo) bool {
		return i.Backoff > 0 && i.Lacking("snd_wnd_bytes") == "" && i.SndWnd < i.SndMSS
	})
	rows := h.connections(closed, 6)
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Toward: f.toward(h, closed), Confidence: record.Likely,
		Summary: "peers have closed their windows: their programs do not read what is sent to them", Evidence: rows,
		Reference: "RFC 9293, section 3.8.6",
		Fix: on(h.name, h.alone,
			"at the peer: ss -tnp shows which program has data in Recv-Q; doctor there finds unread-data")}
}

// limited reports whether a connection spent much of its busy time in one of its states.
func limited(us, busy uint64) bool { return us >= 300_000 && 2*us >= busy }

func windowLimited(f observed, h *host) *record.Finding {
	const unscaled = 1 << 16
	waits := h.waiting(func(i *record.TCPInfo) bool { return limited(i.RwndLimitedUs, i.BusyUs) })
	var rows []string
	confidence := record.Possible // a fast path: the peer may read as fast as it can
	for _, c := range h.state.Notable {
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
	return &record.Finding{Host: h.name, Toward: f.toward(h, waits), Confidence: confidence,
		Summary:  "connections wait for the receive windows of their peers, which are too small or read slowly",
		Evidence: rows, Reference: "tcp(7) (TCP_INFO, rwnd_limited); RFC 7323",
		Fix: on(h.name, h.alone,
			"at the peer: no SO_RCVBUF in the program, net.ipv4.tcp_rmem as large as linerate limits bdp says for the rate and the round-trip time; or a program that reads faster")}
}

func sendBufferLimited(_ observed, h *host) *record.Finding {
	var rows []string
	for _, c := range h.state.Notable {
		if h.waiting(func(i *record.TCPInfo) bool { return limited(i.SndbufLimited, i.BusyUs) })(c) && len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("%s to %s: %s of %s limited by the send buffer", c.Local, c.Remote,
				unit.FormatSeconds(float64(c.Info.SndbufLimited)/1e6), unit.FormatSeconds(float64(c.Info.BusyUs)/1e6)))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Possible,
		Summary: "connections are held back by their send buffers", Evidence: rows,
		Reference: "tcp(7) (TCP_INFO, sndbuf_limited); " + ipSysctl + " (tcp_wmem)",
		Fix: on(h.name, h.alone,
			"no SO_SNDBUF in the program; net.ipv4.tcp_wmem as large as linerate limits bdp says for the rate and the round-trip time")}
}

func mssSmall(_ observed, h *host) *record.Finding {
	const few, path = 1000, 1280
	var rows []string
	for _, c := range h.state.Notable {
		if h.waiting(func(i *record.TCPInfo) bool { return i.SndMSS > 0 && i.SndMSS < few && i.PMTU >= path })(c) &&
			len(rows) < 6 {
			rows = append(rows, fmt.Sprintf("%s to %s: segments of %d bytes, path MTU %d", c.Local, c.Remote,
				c.Info.SndMSS, c.Info.PMTU))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary: "connections have small segments: their peers or a firewall ask for them (MSS)", Evidence: rows,
		Reference: "RFC 9293, section 3.7.1; RFC 6691",
		Fix: on(h.name, h.alone,
			"look for advmss in the routes of the peer, for a rule that sets the MSS (nft list ruleset, maxseg), and for TCP_MAXSEG in its program")}
}

func socketDropped(_ observed, h *host) *record.Finding {
	rows, _ := droppingSockets(h)
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Possible,
		Summary: "UDP sockets have dropped datagrams for which they had no room", Evidence: rows,
		Reference: "udp(7); proc_net_udp(5)",
		Fix:       on(h.name, h.alone, "have the program read faster, or a larger SO_RCVBUF, up to net.core.rmem_max")}
}
