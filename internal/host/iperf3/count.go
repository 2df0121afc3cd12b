package iperf3

import (
	"time"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
)

// Count holds the counts of a flow at one time.
type Count struct {
	Bytes       int64
	packets     int64 // sent, or received and lost
	lost        int64
	retransmits int64   // -1: unknown
	jitter      float64 // in seconds
}

// CountOf returns the counts of a flow. Bytes sent over TCP are those that the peer's kernel has acknowledged;
// the rest may still be on this host.
func CountOf(e message.FlowEnd) Count {
	c := Count{Bytes: e.ReceivedBytes + e.WrittenBytes, retransmits: -1}
	if d := e.Datagrams; d != nil {
		c.packets, c.lost, c.jitter = d.Sent+d.Received+d.Lost, d.Lost, d.JitterUs/1e6
		return c
	}
	if e.Sends {
		c.Bytes = max(0, c.Bytes-e.UnsentBytes)
		if e.Info != nil {
			c.retransmits = int64(e.Info.TotalRetrans)
		}
	}
	return c
}

// Result returns the final result of stream id, over the given seconds, minus the counts of the omitted time.
func (c Count) Result(id int, omitted Count, seconds float64) StreamResult {
	r := StreamResult{
		ID: Int(id), Bytes: Int(max(0, c.Bytes-omitted.Bytes)), Retransmits: -1, Jitter: c.jitter, EndTime: seconds,
		Packets: Int(c.packets), OmittedPackets: Int(omitted.packets), Errors: Int(c.lost),
		OmittedErrors: Int(omitted.lost),
	}
	if c.retransmits >= 0 {
		r.Retransmits = Int(c.retransmits - max(0, omitted.retransmits))
	}
	return r
}

// CPUTime is processor time of this process, including its work for other clients.
type CPUTime struct{ user, system time.Duration }

// UsedCPU returns what the process has used so far.
func UsedCPU() CPUTime {
	user, system := proc.CPUTime()
	return CPUTime{user, system}
}

// Since returns the time used since before.
func (c CPUTime) Since(before CPUTime) CPUTime {
	return CPUTime{c.user - before.user, c.system - before.system}
}

// NewResults returns results without streams for a side that used this processor time in the given seconds.
func NewResults(used CPUTime, seconds float64) *Results {
	share := func(d time.Duration) float64 { return 100 * d.Seconds() / max(seconds, 1e-9) }
	return &Results{
		CPUTotal: share(used.user + used.system), CPUUser: share(used.user), CPUSystem: share(used.system),
		SenderRetransmits: -1, Streams: []StreamResult{},
	}
}

// Add adds a stream's result; sends reports whether this side sends it.
func (r *Results) Add(s StreamResult, sends bool, congestionControl string) {
	if sends {
		r.SenderRetransmits = max(r.SenderRetransmits, 0)
		if s.Retransmits >= 0 {
			r.SenderRetransmits = 1
		}
	}
	if congestionControl != "" {
		r.CongestionUsed = congestionControl
	}
	r.Streams = append(r.Streams, s)
}
