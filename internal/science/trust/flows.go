package trust

import (
	"fmt"
	"math"
	"strings"

	"linerate/internal/model/record"
)

// connected: every flow opened, unless the treatment allows otherwise.
func connected(v view) (judged, bool) {
	var missing []string
	for _, f := range v.Flows {
		if !f.Connected {
			text := fmt.Sprintf("%s from %s to %s", f.ID, f.From, f.To)
			if f.Error != "" {
				text += ": " + f.Error
			}
			missing = append(missing, text)
		}
	}
	c := record.Check{Check: Connected, Pass: len(missing) == 0 || v.Unreachable}
	switch {
	case len(v.Flows) == 0:
		c.Pass, c.Detail = false, "the trial has no flow"
	case len(missing) == 0:
		c.Detail = every(len(v.Flows)) + " connected"
	case v.Unreachable:
		c.Detail = fmt.Sprintf("%d of %d flows could not connect, as the treatment allows", len(missing), len(v.Flows))
	default:
		c.Detail = fmt.Sprintf("%d of %d flows could not connect (%s)", len(missing), len(v.Flows), some(missing))
	}
	return judged{c, float64(len(missing))}, true
}

// alive: every flow that connected lasted through the window.
func alive(v view) (judged, bool) {
	var lost []string
	n := 0
	for _, f := range v.Flows {
		if !f.Connected {
			continue
		}
		n++
		if !f.Alive {
			text := fmt.Sprintf("%s from %s to %s", f.ID, f.From, f.To)
			if f.Error != "" {
				text += ": " + f.Error
			}
			lost = append(lost, text)
		}
	}
	if n == 0 {
		return judged{}, false
	}
	c := record.Check{Check: Alive, Pass: len(lost) == 0, Detail: every(n) + " lasted through the window"}
	if len(lost) > 0 {
		c.Detail = fmt.Sprintf("%d of %d flows ended before the window did (%s)", len(lost), n, some(lost))
	}
	return judged{c, 0}, true
}

func every(flows int) string {
	if flows == 1 {
		return "the flow"
	}
	return fmt.Sprintf("all %d flows", flows)
}

// some joins at most three of a list.
func some(list []string) string {
	if len(list) > 3 {
		list = append(list[:3:3], "…")
	}
	return strings.Join(list, "; ")
}

const (
	// unreadBytes stands for a receive queue that the record does not tell.
	unreadBytes = 256 << 10
	// oneWrite is what a sender gives to its kernel at a time: it counts as
	// written when the call returns, by when part of it may have arrived.
	oneWrite = 128 << 10
	// oneFrame is the most that is sent at once (GSO).
	oneFrame = 64 << 10
)

// conservation: nothing is received that was not sent, and what the sender knows
// to be acknowledged is what the receiver read. Per flow these may differ by
// what was under way at an edge: the send buffer and one write for bytes
// written, the window for bytes sent, the receive queue and one round trip for
// bytes acknowledged. The kernel's own count of bytes sent knows no writes, and
// is the narrower of the two where it is known.
func conservation(v view) (judged, bool) {
	var received, written, acked float64
	worst, worstText := 0.0, ""
	compare := func(f record.Flow, excess, allowed float64, what string) {
		if strain := excess / allowed; strain > worst {
			worst = strain
			worstText = fmt.Sprintf("%s from %s to %s: %s by %s, with up to %s under way", f.ID, f.From, f.To, what, volume(excess), volume(allowed))
		}
	}
	n := 0
	for _, f := range v.Flows {
		if !f.Connected || (f.ReceivedBytes == 0 && f.WrittenBytes == 0) {
			continue
		}
		n++
		got := float64(f.ReceivedBytes)
		received += got
		written += float64(f.WrittenBytes)
		perSecond := got / v.WindowS
		edges := perSecond * (v.skew[f.From] + v.skew[f.To])
		unread := float64(unreadBytes)
		if f.ReceiverInfo != nil && f.ReceiverInfo.RcvSpace > 0 {
			unread = float64(f.ReceiverInfo.RcvSpace)
		}
		held := float64(f.UnsentBytes)
		if f.SenderInfo != nil {
			held = max(held, float64(f.SenderInfo.SndCwnd)*float64(f.SenderInfo.SndMSS))
		}
		compare(f, got-float64(f.WrittenBytes), held+oneWrite+unread+edges, "received exceeds written")
		if f.SentBytes > 0 {
			compare(f, got-float64(f.SentBytes), max(held, oneFrame)+unread+edges, "received exceeds sent")
		}
		if f.SenderInfo == nil {
			continue // no TCP_INFO on this system
		}
		acked += float64(f.AckedBytes)
		flight := unread + perSecond*float64(f.SenderInfo.RTTUs)/1e6 + edges
		compare(f, math.Abs(got-float64(f.AckedBytes)), flight, "received and acknowledged differ")
	}
	if n == 0 {
		return judged{}, false
	}
	c := record.Check{Check: Conservation, Pass: worst <= 1}
	c.Detail = fmt.Sprintf("in the window senders wrote %s", volume(written))
	if acked > 0 {
		c.Detail += fmt.Sprintf(", had %s acknowledged", volume(acked))
	}
	c.Detail += fmt.Sprintf(", and receivers read %s; ", volume(received))
	if c.Pass {
		c.Detail += "no flow differs by more than was under way"
	} else {
		c.Detail += worstText
	}
	return judged{c, worst}, true
}

// steady: the first and the last third of the window carry the same. A sample
// may be some milliseconds off, which matters where thirds are short.
func steady(v view) (judged, bool) {
	n := math.MaxInt
	for _, f := range v.Flows {
		if f.Connected && len(f.Bins) > 0 {
			n = min(n, len(f.Bins))
		}
	}
	if n < 3 || n == math.MaxInt {
		return judged{}, false
	}
	third := n / 3
	var first, last float64
	for _, f := range v.Flows {
		if len(f.Bins) < n {
			continue
		}
		for i := range third {
			first += float64(f.Bins[i])
			last += float64(f.Bins[n-1-i])
		}
	}
	if first == 0 && last == 0 {
		return judged{}, false
	}
	const sampleDoubt = 0.005
	seconds := v.WindowS * float64(third) / float64(n)
	allowed := driftShare + 2*sampleDoubt/seconds
	drift := last/max(first, 1) - 1
	c := record.Check{Check: Steady, Pass: math.Abs(drift) <= allowed}
	c.Detail = fmt.Sprintf("the last third of the window carried %s and the first %s: %+.2g %% (allowed ±%.2g %%)",
		volume(last), volume(first), 100*drift, 100*allowed)
	return judged{c, math.Abs(drift) / allowed}, true
}
