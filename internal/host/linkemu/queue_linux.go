//go:build !portable

package linkemu

import (
	"encoding/binary"
	"math"

	"linerate/internal/model/checksum"
	"linerate/internal/model/topology"
)

// queue is a virtual queue in front of a link with a rate. It stores no frame: its length follows from the time
// at which the link becomes idle. A frame's size counts from its Ethernet header to its last byte, as in the
// kernel's shapers.
type queue struct {
	perByte float64 // ns per byte; 0: no rate, so no queue
	limit   int64   // bytes
	mark    int64   // ECN threshold in bytes; 0: nothing is marked
	idleAt  float64 // when everything is sent, in nanoseconds
}

func newQueue(i topology.Impairment) queue {
	q := queue{limit: int64(i.Queue.At(i.Rate)), mark: int64(i.ECN.At(i.Rate))}
	if i.Rate > 0 {
		q.perByte = 8e9 / float64(i.Rate)
	}
	return q
}

// enqueue accepts as many segments of a frame as fit, and marks them if more than the threshold is waiting.
// sent is when the link has sent the last of them.
func (q *queue) enqueue(frame []byte, now int64) (segs int, sent int64) {
	segs = segments(frame)
	if q.perByte == 0 {
		return segs, now
	}
	begin := math.Max(q.idleAt, float64(now))
	waits := int64((begin - float64(now)) / q.perByte)
	for segs > 0 && waits+sentLen(frame, segs) > q.limit {
		segs--
	}
	if segs > 0 {
		if q.mark > 0 && waits > q.mark {
			markCE(frame)
		}
		q.idleAt = begin + float64(sentLen(frame, segs))*q.perByte
	}
	return segs, int64(q.idleAt)
}

// sentLen returns the bytes that the first segs segments of a frame take on the link.
func sentLen(frame []byte, segs int) int64 {
	s, ok := parseSuperFrame(frame)
	if !ok {
		return int64(len(frame) - tapHeader)
	}
	_, to := s.extent(frame, 0, segs)
	return int64(segs*s.payload + to)
}

// markCE sets CE in the frame's ECN field (RFC 3168, section 5); it returns false if the sender is not
// ECN-capable.
func markCE(frame []byte) bool {
	if len(frame) < tapHeader+ethernet {
		return false
	}
	kind, network := etherType(frame[tapHeader:])
	ip := frame[tapHeader+network:]
	const ce = 3 // and 0 is Not-ECT
	switch {
	case kind == 0x0800 && len(ip) >= 20 && len(ip) >= int(ip[0]&15)*4:
		if ip[1]&ce == 0 {
			return false
		}
		ip[1] |= ce
		binary.BigEndian.PutUint16(ip[10:], 0)
		binary.BigEndian.PutUint16(ip[10:], checksum.Of(ip[:int(ip[0]&15)*4]))
		return true
	case kind == 0x86dd && len(ip) >= 40:
		if ip[1]>>4&ce == 0 {
			return false
		}
		ip[1] |= ce << 4
		return true
	}
	return false
}
