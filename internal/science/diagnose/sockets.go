package diagnose

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Rules about sockets and the states of connections.
var socketRules = []rule{
	{id: "accept-queue-full", host: true, about: "More connections wait for accept(2) than a listener's backlog.",
		parts: socketParts, find: each(everyHost, acceptQueueFull), explains: []string{"listen-overflow",
			"tcp-retransmissions", "tcp-timeouts", "retransmissions-lost", "path-rehash"},
		atPeers: []string{"syn-unanswered"}},
	{id: "backlog-small", host: true,
		about: "A listener's backlog is below 8, on an address other than the loopback's.", parts: socketParts,
		find: each(everyHost, backlogSmall), explains: []string{"accept-queue-full", "listen-overflow"}},
	{id: "close-wait", host: true, about: "At least 20 connections are in CLOSE-WAIT.", parts: socketParts,
		find: each(everyHost, closeWait), atPeers: []string{"fin-wait-many"}},
	{id: "syn-unanswered", host: true, about: "A connection in SYN-SENT has sent its SYN again.", parts: socketParts,
		find: each(everyHost, synUnanswered), explains: []string{"tcp-retransmissions", "tcp-timeouts",
			"retransmissions-lost", "path-rehash", "connect-fails", "connections-timed-out"}},
	{id: "unacknowledged", host: true,
		about: "A connection has unacknowledged data and at least two timeouts in a row, with room in the window of its peer.",
		parts: socketParts, find: each(everyHost, unacknowledged), explains: []string{"tcp-retransmissions",
			"tcp-timeouts", "retransmissions-lost", "path-rehash", "connections-timed-out"}},
	{id: "unread-data", host: true,
		about: "An established connection has at least 64 KiB unread, which its program would read in more than half a second at the rate at which it reads; possible where that was not seen between two readings.",
		parts: socketParts, find: each(everyHost, unreadData),
		explains: []string{"slow-reader", "receive-queue-pruned"}, atPeers: []string{"peer-window-closed",
			"window-limited"}},
	{id: "udp-queue-full", host: true, about: "At least 32 KiB wait in the receive queue of a UDP socket.",
		parts: socketParts, find: each(everyHost, udpQueueFull), explains: []string{"udp-buffer-overflow",
			"udp-socket-dropped"}},
	{id: "half-open-many", host: true, about: "At least 64 connections are in SYN-RECV.", parts: socketParts,
		find: each(everyHost, halfOpen), explains: []string{"syn-queue-full"}},
	{id: "ports-in-time-wait", host: true,
		about: "Connections in TIME-WAIT between one address of the host and one address and port are at least half as many as the local port range has ports; possible where their addresses are not known, and all are as many.",
		parts: []string{"sockets", "parameters"}, find: each(everyHost, timeWait)},
	{id: "fin-wait-many", host: true,
		about: "At least 20 connections are in FIN-WAIT-2: this host has closed them, and its peers have not. Likely if they are more than those that are open.",
		parts: socketParts, find: each(everyHost, finWait)},
	{id: "closing-unanswered", host: true,
		about: "At least 20 connections are in FIN-WAIT-1, CLOSING or LAST-ACK: their end is not acknowledged. Likely if they are more than those that are open.",
		parts: socketParts, find: each(everyHost, closingUnanswered), explains: []string{"orphans-many",
			"tcp-retransmissions"}},
	{id: "peer-window-closed", host: true, load: true,
		about: "A connection has data to send, and has asked its peer, whose window is smaller than a segment, for a larger one more than once.",
		parts: socketParts, find: each(everyHost, windowClosed), explains: []string{"window-limited",
			"send-buffer-limited"}},
	{id: "window-limited", host: true, load: true,
		about: "A connection with data to send spent at least 0.3 s, and half of its busy time, waiting for the window of its peer; likely if that is below 64 KiB.",
		parts: socketParts, find: each(everyHost, windowLimited), explains: []string{"spurious-retransmissions",
			"tail-loss"}},
	{id: "send-buffer-limited", host: true, load: true,
		about: "A connection spent at least 0.3 s, and half of its busy time, with a full send buffer.",
		parts: socketParts, find: each(everyHost, sendBufferLimited)},
	{id: "mss-small", host: true,
		about: "An established connection with data to send has segments of less than 1,000 bytes, though its path takes 1,280 and more.",
		parts: socketParts, find: each(everyHost, mssSmall)},
	{id: "udp-socket-dropped", host: true, about: "A UDP socket has dropped datagrams since it was opened.",
		parts: socketParts, find: each(everyHost, socketDropped)},
	{id: "orphans-many", host: true, about: "Orphaned connections are at least a quarter of tcp_max_orphans.",
		parts: []string{"sockstat", "parameters"}, find: each(everyHost, orphans)},
}

var socketParts = []string{"sockets"}

func closeWait(_ observed, h *host) *record.Finding {
	const many = 20
	n := h.state.TCP["CLOSE-WAIT"]
	if n < many {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary:   "a program does not close connections that its peers have closed",
		Reference: "RFC 9293, section 3.6; close(2)",
		Evidence:  []string{fmt.Sprintf("%d connections in CLOSE-WAIT", n)},
		Fix: on(h.name, h.alone,
			"ss -tnp state close-wait names the program; each takes a descriptor until it ends")}
	finding.Evidence = append(finding.Evidence, h.connections(func(c record.Connection) bool {
		return c.State == "CLOSE-WAIT"
	}, 3)...)
	return finding
}

// connections are rows of connections, at most so many.
func (h *host) connections(where func(record.Connection) bool, most int) (rows []string) {
	for _, c := range h.state.Notable {
		if !where(c) || len(rows) == most {
			continue
		}
		row := fmt.Sprintf("%s to %s: %s, %d bytes unread, %d unacknowledged", c.Local, c.Remote, c.State,
			c.ReceiveQueue, c.SendQueue)
		if c.ReadBps != nil {
			row += fmt.Sprintf("; its program read %s", unit.FormatRate(*c.ReadBps))
		}
		if i := c.Info; i != nil && i.Backoff > 0 {
			row += fmt.Sprintf("; %d timeouts in a row", i.Backoff)
		}
		rows = append(rows, row)
	}
	return rows
}

// toward is the other host to which all connections lead of which a condition holds; empty: they
// lead to several, or to one that is not known.
func (f observed) toward(h *host, where func(record.Connection) bool) (name string) {
	for _, c := range h.state.Notable {
		if !where(c) {
			continue
		}
		remote, err := netip.ParseAddrPort(c.Remote)
		i := slices.IndexFunc(f.hosts, func(o *host) bool { return o != h && o.holder(remote.Addr().Unmap()) != nil })
		if err != nil || i < 0 || name != "" && name != f.hosts[i].name {
			return ""
		}
		name = f.hosts[i].name
	}
	return name
}

// unanswered: a SYN was sent again.
func unanswered(c record.Connection) bool {
	return c.State == "SYN-SENT" && c.Info != nil && (c.Info.Retransmits > 0 || c.Info.Backoff > 0)
}

func synUnanswered(f observed, h *host) *record.Finding {
	rows := h.connections(unanswered, 6)
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Toward: f.toward(h, unanswered), Places: h.paths(unanswered),
		Confidence: record.Likely,
		Summary:    "connections are opened, and nothing answers: the peer is off, a firewall drops silently, or the path is broken in one direction", Evidence: rows,
		Fix: on(h.name, h.alone,
			"ip route get ADDRESS, ip neigh show ADDRESS; then doctor with the peer's snapshot as well"),
		Reference: "RFC 9293, section 3.8.1"}
}

func unacknowledged(f observed, h *host) *record.Finding {
	const stalled = 2
	waits := func(c record.Connection) bool {
		i := c.Info
		if i == nil || i.Backoff < stalled || c.SendQueue == 0 || c.State == "SYN-SENT" || c.State == "SYN-RECV" {
			return false
		}
		return i.Lacking("snd_wnd_bytes") != "" || i.SndWnd >= i.SndMSS // otherwise it probes a zero window
	}
	rows := h.connections(waits, 6)
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Toward: f.toward(h, waits), Places: h.paths(waits), Confidence: record.Likely,
		Summary:  "connections have sent data that nothing acknowledges: the path is cut, or takes only smaller packets",
		Evidence: rows,
		Fix: on(h.name, h.alone,
			"does ping -M do -s 1472 ADDRESS pass, and with -s 1000? if only the smaller one does, a link has a smaller MTU: net.ipv4.tcp_mtu_probing=1 is a workaround",
			"ss -tnio shows the retransmissions"), Reference: "RFC 2923, section 2.1; " + ipSysctl + " (tcp_retries2)"}
}

// unreadData finds connections with much data that lies for longer than it takes a program that
// is busy with others to read on: a receiver of 10 Gbit/s has megabytes unread at any time.
func unreadData(_ observed, h *host) *record.Finding {
	const much, lies = 64 << 10, 0.5 // bytes, seconds
	confidence := record.Possible
	rows := h.connections(func(c record.Connection) bool {
		if c.State != "ESTAB" || c.ReceiveQueue < much || c.ReadBps != nil &&
			8*float64(c.ReceiveQueue) < lies**c.ReadBps {
			return false
		}
		if c.ReadBps != nil {
			confidence = record.Likely
		}
		return true
	}, 6)
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: confidence,
		Summary: "data has arrived that its program does not read", Evidence: rows,
		Fix:       on(h.name, h.alone, "ss -tnp names the program: see whether it waits for a disk, a lock or a CPU"),
		Reference: "tcp(7)"}
}

func udpQueueFull(_ observed, h *host) *record.Finding {
	const much = 32 << 10
	rows := h.listenersWhere(func(l record.Listener) bool { return l.Protocol == "udp" && l.Queued >= much },
		func(l record.Listener) string {
			return fmt.Sprintf("udp %s: %s wait to be read, %d datagrams were dropped", l.Local,
				unit.FormatBytes(float64(l.Queued)), l.Drops)
		})
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary: "datagrams have arrived that their program does not read", Evidence: rows,
		Fix:       on(h.name, h.alone, "ss -unp names the program; a larger SO_RCVBUF only helps against bursts"),
		Reference: "udp(7)"}
}

func halfOpen(_ observed, h *host) *record.Finding {
	const many = 64
	n := h.state.TCP["SYN-RECV"] + h.state.TCP["NEW-SYN-RECV"]
	if n < many {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary: "many connections are half open: their peers do not complete the handshake", Reference: "RFC 4987",
		Evidence: []string{fmt.Sprintf("%d connections in SYN-RECV", n)},
		Fix: on(h.name, h.alone,
			"ss -tn state syn-recv: from one network an attack, from everywhere answers that do not arrive")}
}

// timeWait goes by connections to one address and port, between which each needs a local port of
// its own; others share it, as those of a server share the port that it listens on.
func timeWait(_ observed, h *host) *record.Finding {
	const key = "net.ipv4.ip_local_port_range"
	first, last := h.number(key, 0), h.number(key, 1)
	n, confidence := h.state.TimeWaitBetween, record.Likely
	row := fmt.Sprintf("%d in TIME-WAIT between one address of this host and one address and port", n)
	if n == 0 { // of which addresses they are is not known
		n, confidence = h.state.TCP[record.TimeWait], record.Possible
		row = fmt.Sprintf(
			"%d in TIME-WAIT, to whatever address and port; those of a server that closes first hold its own port, and no further ones", n)
	}
	ports := last - first + 1
	if first < 0 || ports <= 0 || 2*int64(n) < ports {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: confidence,
		Summary:   "connections in TIME-WAIT hold most of the ports: between two addresses no further ones may be left",
		Reference: "RFC 9293, section 3.6; ip(7)",
		Evidence:  []string{fmt.Sprintf("%s; %s = %d %d", row, key, first, last)}}
	settings := []string{"net.ipv4.tcp_tw_reuse", "1"}
	if ports < widePorts {
		settings = append(settings, key, wideRange)
	}
	finding.Fix, finding.Settings = h.fixed([]string{"keep connections open for several requests; or:"}, settings...)
	return finding
}

func orphans(_ observed, h *host) *record.Finding {
	n, most := h.state.Sockstat["TCP.orphan"], h.number("net.ipv4.tcp_max_orphans", 0)
	if most <= 0 || n*4 < most {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary: "many connections have no program any more and wait for their peers", Reference: ipSysctl,
		Evidence: []string{fmt.Sprintf("%d orphans; net.ipv4.tcp_max_orphans is %d", n, most)}}
	finding.Fix, finding.Settings = h.fixed([]string{"find the peers that vanish; or:"},
		"net.ipv4.tcp_orphan_retries", "2")
	return finding
}
