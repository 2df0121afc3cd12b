package trial

import (
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// How full the buffers of a flow's two ends were, over all readings of the window.

// unread returns how many bytes waited for the receiving program, in the mean of all readings.
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

// readings counts a sender's readings in the window. dry is the number of readings at which
// everything written had been sent (except less than a segment, which may wait for more), although
// both windows had room, and full those of them with a full socket buffer, which counts more than
// the payload but less than twice as much. closed is the number at which the receiver's window, but
// not the congestion window, had room for one segment at most, and closing those at which the
// receiver's window was shrinking from its widest so far.
type readings struct {
	all, dry, full, closed, closing float64
	widest                          uint32
}

func (n *readings) look(i netstate.TCPInfo, sndbufBytes int64) {
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

// fill fills in the shares of the readings; without readings it changes nothing.
func (n readings) fill(rec *record.Flow) {
	if n.all > 0 {
		rec.DryShare, rec.SndbufFullShare, rec.RwndFullShare = n.dry/n.all, n.full/n.all, n.closed/n.all
		rec.ClosingShare = n.closing / n.all
	}
}

// together returns the readings of several connections that are counted as one flow: dry are those
// at which none of them had anything left to send.
func together(id string, sender message.WindowReply) (n readings) {
	for _, sample := range sender.Reading.Series {
		for _, s := range sample.Flows {
			if s.ID == id && s.SndCwnd > 0 {
				n.look(netstate.TCPInfo{SndMSS: 1, Unacked: s.Unacked, SndCwnd: s.SndCwnd, NotsentBytes: s.NotsentBytes,
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
				n.look(netstate.TCPInfo{SndMSS: s1.Info.SndMSS, Unacked: s.Unacked, SndCwnd: s.SndCwnd,
					NotsentBytes: s.NotsentBytes, SndWnd: s.SndWnd, Lacks: s1.Info.Lacks}, s1.SndbufBytes)
			}
		}
	}
	n.look(*s1.Info, s1.SndbufBytes)
	return n
}
