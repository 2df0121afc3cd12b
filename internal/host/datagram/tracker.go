package datagram

import (
	"math"

	"linerate/internal/model/record"
)

// windowBits is how many of the latest sequence numbers a tracker remembers one by one: 6 ms at 40 million per
// second.
const windowBits = 1 << 18

// tracker counts by sequence number which datagrams of a flow were received, lost, reordered or duplicated.
// Only the flow's receiver writes it; tally.go publishes it.
type tracker struct {
	counts
	header Header                  // nil: linerate's own
	latest []uint64                // by tuple, one more than its highest sequence number; nil: one tuple
	next   uint64                  // one more than the highest sequence number so far
	seen   [windowBits / 64]uint64 // one bit per recent sequence number

	dropped uint32 // the socket's drop count at the latest message
	largest int    // the most datagrams in one message so far
	intact  bool   // the latest message was the rest of one batch, in order

	sent, arrived int64 // of the latest datagram that counted for jitter
	timed         bool
}

// newTracker returns a tracker of datagrams that cycle through tuples combinations of addresses and ports.
// Different tuples may take different paths, so a datagram counts as reordered only if a later one of its own
// tuple came before it.
func newTracker(header Header, tuples int) tracker {
	l := tracker{header: header}
	if tuples > 1 {
		l.latest = make([]uint64, tuples)
	}
	return l
}

// counts are totals since the flow began.
type counts struct {
	received, bytes int64 // duplicates counted once
	lost            int64 // below the highest sequence number and not received
	reordered       int64 // received after one that was sent later
	duplicates      int64
	late            int64 // too old to tell whether they are duplicates
	inBuffer        int64 // upper bound of the lost ones that the receiver's socket dropped
	stray           int64 // not part of the flow
	arrivedBytes    int64 // all payload, including stray datagrams and duplicates
	jitter          float64
}

// add counts a datagram's sequence number and reports whether it is new.
func (l *tracker) add(sequence uint64) bool {
	at, bit := &l.seen[sequence/64%uint64(len(l.seen))], uint64(1)<<(sequence%64)
	switch {
	case sequence == l.next:
		if sequence%64 == 0 {
			*at = 0
		}
		*at |= bit
		l.next++
	case sequence > l.next:
		l.skip(sequence)
		*at |= bit
		l.next = sequence + 1
	case l.next-sequence > windowBits-64:
		// Its bit may already belong to a later number.
		l.late++
		return false
	case *at&bit != 0:
		l.duplicates++
		return false
	default:
		*at |= bit
		l.lost--
		if l.latest == nil || sequence < l.latest[sequence%uint64(len(l.latest))] {
			l.reordered++
		}
	}
	if l.latest != nil {
		of := &l.latest[sequence%uint64(len(l.latest))]
		*of = max(*of, sequence+1)
	}
	l.received++
	return true
}

// skip counts the datagrams before sequence as lost and clears the bits it reuses. Each word of bits is cleared
// when its first number is reached, so no word below the highest number holds old bits.
func (l *tracker) skip(sequence uint64) {
	l.lost += int64(sequence - l.next)
	word, last := (l.next+63)/64, sequence/64
	if last-word >= uint64(len(l.seen)) && last >= word {
		word = last - uint64(len(l.seen)) + 1
	}
	for ; word <= last; word++ {
		l.seen[word%uint64(len(l.seen))] = 0
	}
}

// received is one datagram, or several that the kernel merged.
type received struct {
	data    []byte // all of it, or its start
	bytes   int    // its full size
	segment int    // the size of each datagram but the last
	dropped uint32 // the socket's drop count before this message
	arrived int64
	cut     bool
}

// addMessage counts the datagrams of a message. If its data was not read, they are those that follow the first:
// the sender numbers a batch consecutively. It passes data that is not of the flow to foreign. If timed, delay
// is how long after sending the message arrived, on two clocks that need not agree; it is returned once for
// datagrams sent at the same time.
func (l *tracker) addMessage(m received, foreign func([]byte)) (delay int64, timed bool) {
	l.arrivedBytes += int64(m.bytes)
	l.intact = false
	if m.segment < headerBytes || m.cut {
		l.stray++
		foreign(m.data)
		return 0, false
	}
	brief := len(m.data) < m.bytes
	var left, datagrams int
	var next, sequence uint64
	var sent int64
	inOrder := true
	for at := 0; at < m.bytes; at += m.segment {
		size := min(m.segment, m.bytes-at)
		if size < headerBytes {
			l.stray++
			inOrder = false
			continue
		}
		first := datagrams == 0
		if first || !brief {
			var rest int
			if rest, sequence, sent = l.parse(m.data[at:]); sequence >= maxSequence {
				l.stray++
				inOrder = false
				foreign(m.data[at:min(at+size, len(m.data))])
				if brief {
					return delay, timed
				}
				continue
			}
			if first {
				left = rest
				l.attributeDrops(sequence, m)
				if !l.timed || sent != l.sent {
					delay, timed = m.arrived-sent, true
					l.updateJitter(sent, m.arrived)
				}
			} else if sequence != next {
				inOrder = false
			}
		}
		datagrams++
		if l.add(sequence) {
			l.bytes += int64(size)
		}
		sequence++
		next = sequence
	}
	l.intact = inOrder && datagrams == left
	return delay, timed
}

// parse decodes a header; left is 0 if the sender is not linerate.
func (l *tracker) parse(b []byte) (left int, sequence uint64, ns int64) {
	if l.header != nil {
		sequence, ns = l.header.Parse(b)
		return 0, sequence, ns
	}
	return header(b)
}

// attributeDrops estimates how many of the datagrams missing before a message this host's socket dropped. The
// kernel counts messages; each is taken to hold at most as many datagrams as the largest so far.
func (l *tracker) attributeDrops(sequence uint64, m received) {
	l.largest = max(l.largest, (m.bytes+m.segment-1)/m.segment)
	thrown := int64(m.dropped - l.dropped)
	l.dropped = m.dropped
	if thrown > 0 && sequence > l.next {
		l.inBuffer += min(int64(sequence-l.next), thrown*int64(l.largest))
	}
}

// updateJitter updates the interarrival jitter (RFC 3550, 6.4.1). Of datagrams sent at the same time only one
// counts, since they have no spacing.
func (l *tracker) updateJitter(sent, arrived int64) {
	if l.timed {
		d := math.Abs(float64((arrived - l.arrived) - (sent - l.sent)))
		l.jitter += (d - l.jitter) / 16
	}
	l.sent, l.arrived, l.timed = sent, arrived, true
}

// record returns the counts as a record.
func (c counts) record() *record.Datagrams {
	return &record.Datagrams{
		Received: c.received, Lost: c.lost, Reordered: c.reordered, Duplicates: c.duplicates,
		Stale: c.late, LostInBuffer: min(c.inBuffer, c.lost), JitterUs: c.jitter / 1e3,
	}
}
