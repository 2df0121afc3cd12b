package present

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// howCounted says where and when a direction's bytes were counted.
var howCounted = map[string]string{
	record.CountedReceived:     "received here, in the window",
	record.CountedAcknowledged: "acknowledged by the server's kernel, in the window",
	record.CountedByPeer:       "received there, as the server says, over its own time",
}

// peerRows are the rows of a direction.
func peerRows(m *record.Measure, d record.MeasureDirection) [][]string {
	rows := [][]string{{d.Direction, unit.FormatRate(d.GoodputBps), howCounted[d.Counted] + "; " + againstLimit(d)}}
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
			[]string{"", "lost " + unit.FormatPercent(d.LostShare), fmt.Sprintf("%s sent here in the window, %s received %s, %s missing", number.Thousands(g.Sent), number.Thousands(g.Received), where, number.Thousands(g.Lost))},
			[]string{"", "jitter " + number.Microseconds(g.JitterUs), "as iperf3 smooths it (RFC 1889)"})
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
	text := fmt.Sprintf("iperf3's own: it %s %s", verb, unit.FormatBytes(float64(p.Bytes)))
	if p.Seconds > 0 {
		text += fmt.Sprintf(" in its %.4g s", p.Seconds)
	} else {
		text += ", and does not report in what time"
	}
	if verb == "sent" && p.Retransmits >= 0 && p.Datagrams == nil {
		text += ", and resent " + words.Count(int(p.Retransmits), "segment")
	}
	return text
}
