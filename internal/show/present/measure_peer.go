package present

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// measuredWithPeer is measured where the other end is not linerate's: what was
// counted here, how, what the peer says of it, and what cannot be known.
func measuredWithPeer(m *record.Measure) [][]Block {
	var rows [][]string
	for _, d := range m.Directions {
		rows = append(rows, peerRows(m, d)...)
	}
	parts := append([][]Block{{figureList(rows)}}, measuredFlows(m)...)
	last := movedBy(m)
	for _, e := range m.Ends {
		text := fmt.Sprintf("%s %s s per gigabyte (all of its %s %s %% busy)", e.Host, significant(e.CPUSPerGigabyte, 2), Count(e.CPUs, "CPU"), significant(100*e.CPUBusy, 2))
		if m.PeerCPUPercent > 0 {
			text += fmt.Sprintf("; the server says that it used %s %% of one, in its own time", significant(m.PeerCPUPercent, 2))
		}
		last = append(last, Statement{Label: "CPU", Text: text})
	}
	last = append(last, measureTrust(m)...)
	last = append(last, measuredFindings(m)...)
	for i, text := range m.Unknown {
		s := Statement{Text: text}
		if i == 0 {
			s.Label = "Unknown"
		}
		last = append(last, s)
	}
	return append(parts, last)
}

// howCounted puts a direction's way of counting into words.
var howCounted = map[string]string{
	record.CountedReceived:     "received here, in the window",
	record.CountedAcknowledged: "acknowledged by the server's kernel, in the window",
	record.CountedByPeer:       "received there, as the server says, over its own time",
}

// peerRows are what is said of a direction.
func peerRows(m *record.Measure, d record.MeasureDirection) [][]string {
	text := howCounted[d.Counted]
	if d.LimitBps > 0 {
		text += fmt.Sprintf("; %.4g %% of the limit, %s (%s)", 100*d.GoodputBps/d.LimitBps, unit.FormatRate(d.LimitBps), d.LimitWhy)
	} else {
		text += "; limit " + d.LimitWhy
	}
	if slowest, fastest := slowestAndFastest(d, func(i record.MeasureInterval) float64 { return i.GoodputBps }); len(d.Intervals) > 1 {
		text += fmt.Sprintf("; %s to %s by interval", unit.FormatRate(slowest), unit.FormatRate(fastest))
	}
	rows := [][]string{{d.Direction, unit.FormatRate(d.GoodputBps), text}}
	switch g := d.Datagrams; {
	case g == nil:
	case d.Counted == record.CountedReceived:
		rows = append(rows, measuredRows(m, d)[1:]...)
	default:
		where := "there in its own time"
		if d.Peer != nil && d.Peer.WholeTest {
			where = "there with the warm-up"
		}
		rows = append(rows,
			[]string{"", "lost " + Percent(d.LostShare), fmt.Sprintf("%s sent here in the window, %s received %s, %s missing", thousands(g.Sent), thousands(g.Received), where, thousands(g.Lost))},
			[]string{"", "jitter " + Microseconds(g.JitterUs), "as iperf3 smooths it (RFC 1889)"})
	}
	if p := d.Peer; p != nil {
		rate := "?"
		if p.Seconds > 0 {
			rate = unit.FormatRate(p.GoodputBps)
		}
		rows = append(rows, []string{"", rate, peerSays(d)})
	}
	return rows
}

// peerSays is the peer's own figure.
func peerSays(d record.MeasureDirection) string {
	p := d.Peer
	verb := "received"
	if d.Counted == record.CountedReceived {
		verb = "sent"
	}
	text := fmt.Sprintf("iperf3's own: it %s %s", verb, Volume(p.Bytes))
	if p.Seconds > 0 {
		text += fmt.Sprintf(" in its %.4g s", p.Seconds)
	} else {
		text += ", and does not tell in what time"
	}
	if verb == "sent" && p.Retransmits >= 0 && p.Datagrams == nil {
		text += ", and resent " + Count(int(p.Retransmits), "segment")
	}
	return text
}
