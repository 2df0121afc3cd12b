package trial

import "linerate/internal/model/message"

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

// roomy is how much of the congestion window is in flight at most where there is
// room for more.
const roomy = 0.9

// dry is the share of a sender's readings at which nothing that was written waited
// to be sent (less than a segment may wait for company), although the windows had
// room; and the share at which its socket buffer was full then: what it counts is
// more than the payload, but not twice as much.
func dry(s0, s1 message.FlowEnd, sender message.WindowReply) (dry, full float64) {
	if s0.Info == nil || s1.Info == nil || s1.Info.SndMSS == 0 {
		return 0, 0
	}
	mss, readings := s1.Info.SndMSS, 0.0
	look := func(unacked, cwnd, notsent uint32) {
		readings++
		if notsent >= mss || float64(unacked) >= roomy*float64(cwnd) {
			return
		}
		dry++
		if held := int64(unacked)*int64(mss) + int64(notsent); s1.SndbufBytes > 0 && 2*held >= s1.SndbufBytes {
			full++
		}
	}
	for _, end := range []message.FlowEnd{s0, s1} {
		look(end.Info.Unacked, end.Info.SndCwnd, end.Info.NotsentBytes)
	}
	for _, sample := range sender.Reading.Series {
		for _, s := range sample.Flows {
			if s.ID == s1.ID && s.SndCwnd > 0 {
				look(s.Unacked, s.SndCwnd, s.NotsentBytes)
			}
		}
	}
	return dry / readings, full / readings
}
