package wording

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Limited returns the facts about what limits a flow as text. Flows of an earlier version have no
// facts; then it returns stored.
func Limited(list []fact.Fact, stored string) string {
	var b strings.Builder
	if list == nil {
		return stored
	}
	for i, f := range list {
		b.WriteString(Fact(f))
		if i == len(list)-1 {
			break
		}
		if q, is := f.Is.(fact.QueueAt); is && q.Larger != "" && !q.OrCPU {
			b.WriteString(": ") // what is full by it
		} else {
			b.WriteString("; ")
		}
	}
	return b.String()
}

// Flow returns a flow with its limit and its prediction as text.
func Flow(f record.Flow) record.Flow {
	f.LimitedWhy = Limited(f.LimitedFacts, f.LimitedWhy)
	if f.Expected != nil {
		expected := *f.Expected
		expected.Why = Limited(expected.Facts, expected.Why)
		f.Expected = &expected
	}
	return f
}

// Flows returns a copy of flows with their limits and predictions as text.
func Flows(list []record.Flow) []record.Flow {
	list = slices.Clone(list)
	for i := range list {
		list[i] = Flow(list[i])
	}
	return list
}

// wayOf returns the name of an interface with its direction: "out of client.eth0".
func wayOf(name string, out bool) string {
	if out {
		return "out of " + name
	}
	return "into " + name
}

var _ = later(func() {
	spell(func(_ string, c fact.NoCarrierFor) string {
		text := fmt.Sprintf("%s had no carrier for %s of the window", c.Interface, unit.FormatSeconds(c.Seconds))
		if c.Down {
			text = fmt.Sprintf("%s was down for %s of the window", c.Interface, unit.FormatSeconds(c.Seconds))
		}
		if c.WindowS > 0 {
			text += " of " + unit.FormatSeconds(c.WindowS)
		}
		return text
	})
	spell(func(_ string, a fact.NoAcknowledgement) string {
		return fmt.Sprintf("nothing acknowledged; the last %d timeouts in a row brought no answer", a.Timeouts)
	})
	spell(func(_ string, c fact.CapShare) string {
		average := unit.FormatPercent(c.Share)
		of := map[string]string{fact.CapWrite: "its program's write cap", fact.CapPace: "its pacing",
			fact.CapRate: "its rate"}[c.Cap] + " of " + unit.FormatRate(c.Bps)
		if c.Of == 0 {
			return average + " of " + of
		}
		return fmt.Sprintf("%s in %d of %d intervals, and %s of it on average", of, c.At, c.Of, average)
	})
	spell(linkShare)
	spell(func(_ string, a fact.AcknowledgementShare) string {
		return fmt.Sprintf("%s of that rate is not data in this direction: the other direction's acknowledgements",
			unit.FormatPercent(math.Round(1000*a.Share)/1000))
	})
	spell(func(_ string, s fact.ShortWindow) string {
		return fmt.Sprintf("a window of %s is too short for an RTT of %s", unit.FormatSeconds(s.WindowS),
			unit.FormatSeconds(s.RTTS))
	})
	spell(func(_ string, n fact.NotReported) string {
		switch n.For {
		case fact.ForWaits:
			return "not evaluated: the sender's kernel does not report what it waited for (" + n.Field +
				" in TCP_INFO, since Linux 4.10)"
		case fact.ForReader:
			return "not evaluated: whether its program reads slowly, since the sender's kernel does not report the " +
				"window (" + n.Field + " in TCP_INFO, since Linux 5.4)"
		}
		return "the receiver's window is not known (" + n.Field + " in TCP_INFO, since Linux 5.4)"
	})
	spell(func(_ string, w fact.WaitedFor) string {
		return fmt.Sprintf("waited for the receiver's window %s of the time, for room in the send buffer %s",
			unit.FormatPercent(w.Window), unit.FormatPercent(w.Buffer))
	})
	spell(func(_ string, b fact.BusyFor) string {
		return fmt.Sprintf("had data to send or unacknowledged for %s of the window", unit.FormatPercent(b.Share))
	})
	spell(func(_ string, n fact.NothingToSend) string {
		if n.ByProgram {
			return fmt.Sprintf("no connection of its program had anything left to send at %s of the readings",
				unit.FormatPercent(n.Share))
		}
		return fmt.Sprintf("all that was written had been sent at %s of the readings, with room in both windows",
			unit.FormatPercent(n.Share))
	})
	spell(func(_ string, b fact.BufferHolds) string {
		return fmt.Sprintf("its buffer of %s holds %s of the flow", unit.FormatBytes(b.Bytes),
			unit.FormatSeconds(b.Seconds))
	})
	spell(func(_ string, b fact.BufferFull) string {
		size, part := unit.FormatBytes(b.Bytes), unit.FormatPercent(b.Share)
		if b.AllSent {
			return fmt.Sprintf("its buffer of %s was full and all of it sent at %s of the readings, with room in both "+
				"windows", size, part)
		}
		return fmt.Sprintf("waited for room in a buffer of %s %s of the time", size, part)
	})
	spell(func(_ string, w fact.WindowFull) string {
		text := fmt.Sprintf("waited for the receiver's window %s of the time", unit.FormatPercent(w.Share))
		if w.Read {
			text = fmt.Sprintf("the receiver's window was full at %s of the readings", unit.FormatPercent(w.Share))
		}
		if w.BufferBytes > 0 {
			text += fmt.Sprintf(", of a receive buffer of %s at %s", unit.FormatBytes(w.BufferBytes), w.Receiver)
		}
		return text
	})
	spell(func(_ string, w fact.ReceiverWindow) string {
		text := "the window was " + unit.FormatBytes(w.Bytes)
		if u := w.Unread; u != nil {
			text += fmt.Sprintf(", and %s were unread for %s", unit.FormatBytes(u.Bytes), unit.FormatSeconds(u.Seconds))
		}
		return text
	})
	spell(func(_ string, u fact.UnreadFor) string {
		text := unit.FormatBytes(u.Bytes) + " were unread"
		if u.Seconds > 0 {
			text += " for " + unit.FormatSeconds(u.Seconds)
		}
		return text
	})
	spell(func(_ string, c fact.ReadCap) string {
		return fmt.Sprintf("its program reads at most %s, and %s were unread", unit.FormatRate(c.Bps),
			unit.FormatBytes(c.UnreadBytes))
	})
	spell(func(_ string, w fact.WindowClosing) string {
		return fmt.Sprintf("at %s of the readings it was zero, or less than half of what it had been",
			unit.FormatPercent(w.Share))
	})
	spell(func(_ string, w fact.WindowClosed) string {
		return fmt.Sprintf("%s in flight on average, so it was smaller or zero for most of the time",
			unit.FormatBytes(w.FlyingBytes))
	})
	spell(roundTrip)
	spell(func(host string, q fact.QueueAt) string {
		text := roundTrip(host, q.RoundTrip) + ": packets were queued "
		switch {
		case q.Either:
			return text + "before a full link, of its own direction or of the other, in whose queue its " +
				"acknowledgements wait: each direction alone tells which"
		case q.Interface != "":
			text += "at " + q.Interface
		default:
			text += "before a link on the path"
		}
		if q.Resent > 0 {
			text += fmt.Sprintf("; %s of the bytes were retransmitted, so packets are lost, in that queue or "+
				"elsewhere on the path, and the flow sends less after each loss", unit.FormatPercent(q.Resent))
		}
		if q.OrCPU {
			text += ", or waited for a CPU"
		}
		switch {
		case q.Larger == "":
			return text
		case q.OrCPU:
			return text + ": a larger " + q.Larger + " may only lengthen that queue"
		}
		return text + ", and a larger " + q.Larger + " would only lengthen that queue"
	})
	spell(func(_ string, q fact.AcknowledgementsQueue) string {
		if q.Interface == "" {
			sign := "lose packets"
			if q.Even {
				sign = "have an even rate"
			}
			return fmt.Sprintf("its acknowledgements wait in a queue that the flows from %s to %s fill, which %s",
				q.From, q.To, sign)
		}
		queue, filled, carried := "the queue "+wayOf(q.Interface, q.Out), "other traffic fills", unit.FormatRate(q.Bps)
		if q.Shaper != "" {
			queue = fmt.Sprintf("the queue of %s out of %s", q.Shaper, q.Interface)
		}
		if q.From != "" {
			filled = fmt.Sprintf("the flows from %s to %s fill", q.From, q.To)
		}
		if q.RateBps > 0 {
			carried = fmt.Sprintf("%s of %s", unit.FormatPercent(q.Share), unit.FormatRate(q.RateBps))
		}
		text := fmt.Sprintf("its acknowledgements wait in %s, which %s (%s)", queue, filled, carried)
		if q.While {
			text = "while it had room, " + text
		}
		return text
	})
	spell(func(_ string, n fact.NoWindowFull) string {
		if n.AllowedBytes == 0 {
			return "no window was full"
		}
		return fmt.Sprintf("no window was full: %s in flight where congestion control allowed %s",
			unit.FormatBytes(n.FlyingBytes), unit.FormatBytes(n.AllowedBytes))
	})
	spell(func(_ string, f fact.InFlight) string {
		return fmt.Sprintf("limited to %s in flight (congestion window)", unit.FormatBytes(f.Bytes))
	})
	spell(func(_ string, s fact.SentAgain) string {
		text := unit.FormatPercent(s.Share) + " of the bytes were retransmitted"
		if s.Needless > 0 {
			text += fmt.Sprintf(", %s of it needlessly", unit.FormatPercent(math.Round(100*s.Needless)/100))
		}
		if s.Reordered {
			text += ", after reordering"
		}
		if s.NoDrops {
			text += "; no interface, qdisc or CPU backlog that was read dropped any"
		}
		return text
	})
	spell(func(host string, n fact.NeverLeft) string {
		var queues []string
		for _, q := range n.Queues {
			queues = append(queues, fmt.Sprintf("%s of %s, which dropped %s packets", q.Kind, q.Interface,
				unit.FormatCount(q.Packets)))
		}
		by := host + " itself"
		if queues != nil {
			by = "its own queue, " + strings.Join(queues, ", ")
		}
		return fmt.Sprintf("of the segments that %s retransmitted, %s (%s of %s) never left it: refused by %s", host,
			unit.FormatPercent(n.Share), unit.FormatCount(n.Segments), unit.FormatCount(n.Of), by)
	})
	spell(func(_ string, q fact.QueueDrops) string {
		at := q.Interface
		if q.Kind != "" {
			at = q.Kind + " of " + at
		}
		return fmt.Sprintf("%s dropped %s packets before they were sent, %s of what it was given", at,
			unit.FormatCount(q.Packets), unit.FormatPercent(q.Share))
	})
})

func linkShare(_ string, l fact.LinkShare) string {
	carried, way := fmt.Sprintf("%s of %s", unit.FormatPercent(l.Share), unit.FormatRate(l.RateBps)),
		wayOf(l.Interface, l.Out)
	if l.Shaped {
		carried = fmt.Sprintf("%s of the %s that %s lets", unit.FormatPercent(l.Share), unit.FormatRate(l.RateBps),
			cmp.Or(l.Shaper, "the link"))
	}
	if l.Queued > 0 {
		return fmt.Sprintf("a queue at %s at %s of the readings, and %s out of it", l.Interface,
			unit.FormatPercent(l.Queued), carried)
	}
	return carried + " " + way
}

func roundTrip(_ string, r fact.RoundTrip) string {
	name := "RTT"
	if r.Mean {
		name = "mean RTT"
	}
	return fmt.Sprintf("%s %s, without a queue %s", name, unit.FormatSeconds(r.Seconds), unit.FormatSeconds(r.LeastS))
}
