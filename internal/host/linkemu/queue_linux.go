package linkemu

import (
	"encoding/binary"
	"math"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/record"
)

// queue is what waits for a link of a rate, without being anywhere: when the link
// will have sent all of it says how much that is. A frame is counted from its
// Ethernet header to its last byte, as the kernel's shapers do.
type queue struct {
	perByte float64 // nanoseconds; 0: there is no queue
	room    int64   // bytes
	mark    int64   // bytes; 0: nothing is marked
	free    float64 // when all is sent
}

func newQueue(d record.WireWay) queue {
	q := queue{room: d.QueueBytes, mark: d.MarkBytes}
	if d.RateBps > 0 {
		q.perByte = 8e9 / d.RateBps
	}
	return q
}

// pass takes as many of a frame's segments as there is room for, and marks them
// if too much waits already. Sent is when the link will have sent the last one.
func (q *queue) pass(frame []byte, now int64) (segs int, sent int64, marked bool) {
	segs = segments(frame)
	if q.perByte == 0 {
		return segs, now, false
	}
	begin := math.Max(q.free, float64(now))
	waits := int64((begin - float64(now)) / q.perByte)
	for segs > 0 && waits+sentLen(frame, segs) > q.room {
		segs--
	}
	if segs > 0 {
		marked = q.mark > 0 && waits > q.mark && markCE(frame)
		q.free = begin + float64(sentLen(frame, segs))*q.perByte
	}
	return segs, int64(q.free), marked
}

// sentLen is how many bytes the first segments of a frame are on the link.
func sentLen(frame []byte, segs int) int64 {
	s, ok := shapeOf(frame)
	if !ok {
		return int64(len(frame) - netlink.TapHeader)
	}
	_, to := s.extent(frame, 0, segs)
	return int64(segs*s.payload + to)
}

// markCE gives a frame the mark that congestion was met (RFC 3168, section 5),
// if its sender has said that it understands marks.
func markCE(frame []byte) bool {
	if len(frame) < netlink.TapHeader+ethernet {
		return false
	}
	kind, network := etherType(frame[netlink.TapHeader:])
	ip := frame[netlink.TapHeader+network:]
	const met = 3 // and 0: the sender does not understand marks
	switch {
	case kind == 0x0800 && len(ip) >= 20 && len(ip) >= int(ip[0]&15)*4:
		if ip[1]&met == 0 {
			return false
		}
		ip[1] |= met
		binary.BigEndian.PutUint16(ip[10:], 0)
		binary.BigEndian.PutUint16(ip[10:], ^sum(ip[:int(ip[0]&15)*4]))
		return true
	case kind == 0x86dd && len(ip) >= 40:
		if ip[1]>>4&met == 0 {
			return false
		}
		ip[1] |= met << 4
		return true
	}
	return false
}
