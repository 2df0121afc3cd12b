// Package connection has the rules about sockets: states of connections, listeners, windows, ports.
package connection

import (
	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about sockets and the states of connections.
var Rules = []rule.Rule{
	{ID: "accept-queue-full", Host: true, About: "More connections wait for accept(2) than a listener's backlog.",
		Parts: socketParts, Find: rule.Each(rule.EveryHost, acceptQueueFull), Explains: []string{"listen-overflow",
			"tcp-retransmissions", "tcp-timeouts", "retransmissions-lost", "path-rehash"},
		AtPeers: []string{"syn-unanswered"}},
	{ID: "backlog-small", Host: true,
		About: "A listener's backlog is below 8, on an address other than the loopback's.", Parts: socketParts,
		Find: rule.Each(rule.EveryHost, backlogSmall), Explains: []string{"accept-queue-full", "listen-overflow"}},
	{ID: "close-wait", Host: true, About: "At least 20 connections are in CLOSE-WAIT.", Parts: socketParts,
		Find: rule.Each(rule.EveryHost, closeWait), AtPeers: []string{"fin-wait-many"}},
	{ID: "syn-unanswered", Host: true, About: "A connection in SYN-SENT has sent its SYN again.", Parts: socketParts,
		Find: rule.Each(rule.EveryHost, synUnanswered), Explains: []string{"tcp-retransmissions", "tcp-timeouts",
			"retransmissions-lost", "path-rehash", "connect-fails", "connections-timed-out"}},
	{ID: "unacknowledged", Host: true,
		About: "A connection has unacknowledged data and at least two timeouts in a row, with room in the window of its peer.",
		Parts: socketParts, Find: rule.Each(rule.EveryHost, unacknowledged), Explains: []string{"tcp-retransmissions",
			"tcp-timeouts", "retransmissions-lost", "path-rehash", "connections-timed-out"}},
	{ID: "unread-data", Host: true,
		About: "An established connection has at least 64 KiB unread, which its program would read in more than half a second at the rate at which it reads; possible where that was not seen between two readings.",
		Parts: socketParts, Find: rule.Each(rule.EveryHost, unreadData),
		Explains: []string{"slow-reader", "receive-queue-pruned"}, AtPeers: []string{"peer-window-closed",
			"window-limited"}},
	{ID: "udp-queue-full", Host: true, About: "At least 32 KiB wait in the receive queue of a UDP socket.",
		Parts: socketParts, Find: rule.Each(rule.EveryHost, udpQueueFull), Explains: []string{"udp-buffer-overflow",
			"udp-socket-dropped"}},
	{ID: "half-open-many", Host: true, About: "At least 64 connections are in SYN-RECV.", Parts: socketParts,
		Find: rule.Each(rule.EveryHost, halfOpen), Explains: []string{"syn-queue-full"}},
	{ID: "ports-in-time-wait", Host: true,
		About: "Connections in TIME-WAIT between one address of the host and one address and port are at least half as many as the local port range has ports; possible where their addresses are not known, and all are as many.",
		Parts: []string{"sockets", "parameters"}, Find: rule.Each(rule.EveryHost, timeWait)},
	{ID: "fin-wait-many", Host: true,
		About: "At least 20 connections are in FIN-WAIT-2: this host has closed them, and its peers have not. Likely if they are more than those that are open.",
		Parts: socketParts, Find: rule.Each(rule.EveryHost, finWait)},
	{ID: "closing-unanswered", Host: true,
		About: "At least 20 connections are in FIN-WAIT-1, CLOSING or LAST-ACK: their end is not acknowledged. Likely if they are more than those that are open.",
		Parts: socketParts, Find: rule.Each(rule.EveryHost, closingUnanswered), Explains: []string{"orphans-many",
			"tcp-retransmissions"}},
	{ID: "peer-window-closed", Host: true, Load: true,
		About: "A connection has data to send, and has asked its peer, whose window is smaller than a segment, for a larger one more than once.",
		Parts: socketParts, Find: rule.Each(rule.EveryHost, windowClosed), Explains: []string{"window-limited",
			"send-buffer-limited"}},
	{ID: "window-limited", Host: true, Load: true,
		About: "A connection with data to send spent at least 0.3 s, and half of its busy time, waiting for the window of its peer; likely if that is below 64 KiB.",
		Parts: socketParts, Find: rule.Each(rule.EveryHost, windowLimited),
		Explains: []string{"spurious-retransmissions",
			"tail-loss"}},
	{ID: "send-buffer-limited", Host: true, Load: true,
		About: "A connection spent at least 0.3 s, and half of its busy time, with a full send buffer.",
		Parts: socketParts, Find: rule.Each(rule.EveryHost, sendBufferLimited)},
	{ID: "mss-small", Host: true,
		About: "An established connection with data to send has segments of less than 1,000 bytes, though its path takes 1,280 and more.",
		Parts: socketParts, Find: rule.Each(rule.EveryHost, mssSmall)},
	{ID: cause.UDPSocketDropped.Code, Host: true, Parts: socketParts,
		Find: rule.Each(rule.EveryHost, socketDropped)},
	{ID: "orphans-many", Host: true, About: "Orphaned connections are at least a quarter of tcp_max_orphans.",
		Parts: []string{"sockstat", "parameters"}, Find: rule.Each(rule.EveryHost, orphans)},
}

var socketParts = []string{"sockets"}

func closeWait(_ facts.Trial, h *facts.Host) *record.Finding {
	const many = 20
	n := h.State.TCP["CLOSE-WAIT"]
	if n < many {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary:   "a program does not close connections that its peers have closed",
		Reference: "RFC 9293, section 3.6; close(2)",
		Evidence:  []string{fmt.Sprintf("%d connections in CLOSE-WAIT", n)},
		Fix: said.On(h.Name, h.Alone,
			"ss -tnp state close-wait names the program; each takes a descriptor until it ends")}
	finding.Evidence = append(finding.Evidence, said.Connections(h, func(c record.Connection) bool {
		return c.State == "CLOSE-WAIT"
	}, 3)...)
	return finding
}

func synUnanswered(f facts.Trial, h *facts.Host) *record.Finding {
	rows := said.Connections(h, facts.Unanswered, 6)
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Toward: f.Toward(h, facts.Unanswered), Places: h.Paths(facts.Unanswered),
		Confidence: record.Likely,
		Summary:    "connections are opened, and nothing answers: the peer is off, a firewall drops silently, or the path is broken in one direction", Evidence: rows,
		Fix: said.On(h.Name, h.Alone,
			"ip route get ADDRESS, ip neigh show ADDRESS; then doctor with the peer's snapshot as well"),
		Reference: "RFC 9293, section 3.8.1"}
}

func unacknowledged(f facts.Trial, h *facts.Host) *record.Finding {
	const stalled = 2
	waits := func(c record.Connection) bool {
		i := c.Info
		if i == nil || i.Backoff < stalled || c.SendQueue == 0 || c.State == "SYN-SENT" || c.State == "SYN-RECV" {
			return false
		}
		return i.Lacking("snd_wnd_bytes") != "" || i.SndWnd >= i.SndMSS // otherwise it probes a zero window
	}
	rows := said.Connections(h, waits, 6)
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Toward: f.Toward(h, waits), Places: h.Paths(waits), Confidence: record.Likely,
		Summary:  "connections have sent data that nothing acknowledges: the path is cut, or takes only smaller packets",
		Evidence: rows,
		Fix: said.On(h.Name, h.Alone,
			"does ping -M do -s 1472 ADDRESS pass, and with -s 1000? if only the smaller one does, a link has a smaller MTU: net.ipv4.tcp_mtu_probing=1 is a workaround",
			"ss -tnio shows the retransmissions"), Reference: "RFC 2923, section 2.1; " + said.IPSysctl +
			" (tcp_retries2)"}
}

// unreadData finds connections with much data that lies for longer than it takes a program that
// is busy with others to read on: a receiver of 10 Gbit/s has megabytes unread at any time.
func unreadData(_ facts.Trial, h *facts.Host) *record.Finding {
	const much, lies = 64 << 10, 0.5 // bytes, seconds
	confidence := record.Possible
	rows := said.Connections(h, func(c record.Connection) bool {
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
	return &record.Finding{Host: h.Name, Confidence: confidence,
		Summary: "data has arrived that its program does not read", Evidence: rows,
		Fix: said.On(h.Name, h.Alone,
			"ss -tnp names the program: see whether it waits for a disk, a lock or a CPU"),
		Reference: "tcp(7)"}
}

func udpQueueFull(_ facts.Trial, h *facts.Host) *record.Finding {
	const much = 32 << 10
	rows := said.ListenersWhere(h, func(l record.Listener) bool { return l.Protocol == "udp" && l.Queued >= much },
		func(l record.Listener) string {
			return fmt.Sprintf("udp %s: %s wait to be read, %d datagrams were dropped", l.Local,
				unit.FormatBytes(float64(l.Queued)), l.Drops)
		})
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary: "datagrams have arrived that their program does not read", Evidence: rows,
		Fix:       said.On(h.Name, h.Alone, "ss -unp names the program; a larger SO_RCVBUF only helps against bursts"),
		Reference: "udp(7)"}
}

func halfOpen(_ facts.Trial, h *facts.Host) *record.Finding {
	const many = 64
	n := h.State.TCP["SYN-RECV"] + h.State.TCP["NEW-SYN-RECV"]
	if n < many {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary: "many connections are half open: their peers do not complete the handshake", Reference: "RFC 4987",
		Evidence: []string{fmt.Sprintf("%d connections in SYN-RECV", n)},
		Fix: said.On(h.Name, h.Alone,
			"ss -tn state syn-recv: from one network an attack, from everywhere answers that do not arrive")}
}

// timeWait goes by connections to one address and port, between which each needs a local port of
// its own; others share it, as those of a server share the port that it listens on.
func timeWait(_ facts.Trial, h *facts.Host) *record.Finding {
	const key = "net.ipv4.ip_local_port_range"
	first, last := h.Number(key, 0), h.Number(key, 1)
	n, confidence := h.State.TimeWaitBetween, record.Likely
	row := fmt.Sprintf("%d in TIME-WAIT between one address of this host and one address and port", n)
	if n == 0 { // of which addresses they are is not known
		n, confidence = h.State.TCP[record.TimeWait], record.Possible
		row = fmt.Sprintf(
			"%d in TIME-WAIT, to whatever address and port; those of a server that closes first hold its own port, and no further ones", n)
	}
	ports := last - first + 1
	if first < 0 || ports <= 0 || 2*int64(n) < ports {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Confidence: confidence,
		Summary:   "connections in TIME-WAIT hold most of the ports: between two addresses no further ones may be left",
		Reference: "RFC 9293, section 3.6; ip(7)",
		Evidence:  []string{fmt.Sprintf("%s; %s = %d %d", row, key, first, last)}}
	settings := []string{"net.ipv4.tcp_tw_reuse", "1"}
	if ports < widePorts {
		settings = append(settings, key, wideRange)
	}
	finding.Fix, finding.Settings = fix.Fixed(h, []string{"keep connections open for several requests; or:"},
		settings...)
	return finding
}

func orphans(_ facts.Trial, h *facts.Host) *record.Finding {
	n, most := h.State.Sockstat["TCP.orphan"], h.Number("net.ipv4.tcp_max_orphans", 0)
	if most <= 0 || n*4 < most {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary: "many connections have no program any more and wait for their peers", Reference: said.IPSysctl,
		Evidence: []string{fmt.Sprintf("%d orphans; net.ipv4.tcp_max_orphans is %d", n, most)}}
	finding.Fix, finding.Settings = fix.Fixed(h, []string{"find the peers that vanish; or:"},
		"net.ipv4.tcp_orphan_retries", "2")
	return finding
}
