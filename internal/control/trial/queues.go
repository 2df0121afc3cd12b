package trial

import (
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// What a flow's two ends had in their buffers, over all readings of the window.

// unread is how much waited for the receiver to read it, in the mean of all
// readings.
func unread(r0, r1 message.FlowEnd, receiver message.WindowReply) int64 {
	sum, readings := r0.UnreadBytes+r1.UnreadBytes, int64(2)
	for _, sample := range receiver.Reading.Series {
		for _, s := range sample.Flows {
			if s.ID == r1.ID {
				sum += s.UnreadBytes
				readings++
			}
		}
	}
	return sum / readings
}

// readings are a sender's in the window, in its own words: at how many of them nothing that was
// written waited to be sent (less than a segment may wait for company), although the windows had
// room; at how many of these its socket buffer was full: what it counts is more than the payload,
// but not twice as much; and at how many the receiver's window had room for one segment at most,
// and the congestion window for more; or was closing, from the widest so far.
type readings struct {
	all, dry, full, closed, closing float64
	widest                          uint32
}

func (n *readings) look(i record.TCPInfo, sndbufBytes int64) {
	n.all++
	if i.Closing(n.widest) {
		n.closing++
	}
	n.widest = max(n.widest, i.SndWnd)
	switch {
	case i.CwndFull():
	case i.RwndFull():
		n.closed++
	case i.NotsentBytes < i.SndMSS:
		n.dry++
		if held := int64(i.Unacked)*int64(i.SndMSS) + int64(i.NotsentBytes); sndbufBytes > 0 && 2*held >= sndbufBytes {
			n.full++
		}
	}
}

// fill fills in the shares of all readings.
func (n readings) fill(rec *record.Flow) {
	if n.all > 0 {
		rec.DryShare, rec.SndbufFullShare, rec.RwndFullShare = n.dry/n.all, n.full/n.all, n.closed/n.all
		rec.ClosingShare = n.closing / n.all
	}
}

// together are the readings of several connections that are counted together: of all of them,
// nothing waited to be sent.
func together(id string, sender message.WindowReply) (n readings) {
	for _, sample := range sender.Reading.Series {
		for _, s := range sample.Flows {
			if s.ID == id && s.SndCwnd > 0 {
				n.look(record.TCPInfo{SndMSS: 1, Unacked: s.Unacked, SndCwnd: s.SndCwnd, NotsentBytes: s.NotsentBytes,
					Lacks: []string{"snd_wnd_bytes"}}, 0)
			}
		}
	}
	return n
}

func windows(s0, s1 message.FlowEnd, sender message.WindowReply) (n readings) {
	if s0.Info == nil || s1.Info == nil || s1.Info.SndMSS == 0 {
		return n
	}
	n.look(*s0.Info, s1.SndbufBytes)
	for _, sample := range sender.Reading.Series {
		for _, s := range sample.Flows {
			if s.ID == s1.ID && s.SndCwnd > 0 {
				n.look(record.TCPInfo{SndMSS: s1.Info.SndMSS, Unacked: s.Unacked, SndCwnd: s.SndCwnd,
					NotsentBytes: s.NotsentBytes, SndWnd: s.SndWnd, Lacks: s1.Info.Lacks}, s1.SndbufBytes)
			}
		}
	}
	n.look(*s1.Info, s1.SndbufBytes)
	return n
}
