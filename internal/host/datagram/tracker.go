package datagram

import (
	"math"

	"linerate/internal/model/record"
)

// windowBits is how many datagrams back a tracker knows each one: at forty million a
// second, 6 ms.
const windowBits = 1 << 18

// tracker counts, by sequence numbers, what became of a flow's datagrams. Only the
// flow's receiver writes it; tally.go shows it to others.
type tracker struct {
	counts
	header Header                  // nil: our own
	latest []uint64                // of each tuple, one more than its highest number; nil: there is one
	next   uint64                  // one more than the highest sequence number so far
	seen   [windowBits / 64]uint64 // a bit for each of the latest sequence numbers

	dropped uint32 // as of the latest message
	largest int    // datagrams in one message, so far
	intact  bool   // the latest message was what remained of one batch, in order

	sent, arrived int64 // of the latest datagram that counted for the jitter
	timed         bool
}

// newTracker makes a tracker of datagrams that so many tuples have in turn. Those of
// different tuples may take different paths, where one overtakes another: only what
// comes after a later one of its own tuple is reordered.
func newTracker(header Header, tuples int) tracker {
	l := tracker{header: header}
	if tuples > 1 {
		l.latest = make([]uint64, tuples)
	}
	return l
}

// counts are since the flow began.
type counts struct {
	received, bytes int64 // once each
	lost            int64 // below the highest, and not received
	reordered       int64 // received after one that was sent later
	duplicates      int64
	late            int64 // too late to tell whether a second time
	inBuffer        int64 // of the lost, at most: thrown away at the receiver's socket
	stray           int64 // not of the flow
	arrivedBytes    int64 // all payload, strays and duplicates too
	jitter          float64
}

// add counts one datagram's sequence number. True: it is there for the first
// time.
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
		// Its bit may already stand for a later one.
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

// skip counts the datagrams before sequence as lost, and forgets those whose
// bits are needed. Each word of bits is cleared as its first number comes into
// reach, so that below the highest number no word holds an older one's bits.
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

// received is one datagram or several, put together by the kernel.
type received struct {
	data    []byte // all of it, or its beginning
	bytes   int    // of all of it
	segment int    // the size of each but the last
	dropped uint32 // messages that the socket had thrown away before this one
	arrived int64
	cut     bool
}

// addMessage adds a message. Of one whose data was not taken, the datagrams are those
// that follow the first: the sender numbers a batch consecutively. foreign is called
// with what is not of the flow. timed: delay is how much later than sent the message
// arrived, on two clocks that need not agree; it is given once for what was sent at
// the same instant.
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

// parse reads a header; left is 0 where the sender is not linerate's.
func (l *tracker) parse(b []byte) (left int, sequence uint64, ns int64) {
	if l.header != nil {
		sequence, ns = l.header.Parse(b)
		return 0, sequence, ns
	}
	return header(b)
}

// attributeDrops finds out how many of the datagrams that are missing before a message
// were thrown away at this host's own socket. It counts messages: each was as
// many datagrams as the largest one so far, at most.
func (l *tracker) attributeDrops(sequence uint64, m received) {
	l.largest = max(l.largest, (m.bytes+m.segment-1)/m.segment)
	thrown := int64(m.dropped - l.dropped)
	l.dropped = m.dropped
	if thrown > 0 && sequence > l.next {
		l.inBuffer += min(int64(sequence-l.next), thrown*int64(l.largest))
	}
}

// updateJitter goes on with the interarrival jitter (RFC 3550, 6.4.1). Datagrams that
// were sent at the same instant have no spacing of their own: one counts.
func (l *tracker) updateJitter(sent, arrived int64) {
	if l.timed {
		d := math.Abs(float64((arrived - l.arrived) - (sent - l.sent)))
		l.jitter += (d - l.jitter) / 16
	}
	l.sent, l.arrived, l.timed = sent, arrived, true
}

// record puts the counts into a record.
func (c counts) record() *record.Datagrams {
	return &record.Datagrams{
		Received: c.received, Lost: c.lost, Reordered: c.reordered, Duplicates: c.duplicates,
		Stale: c.late, LostInBuffer: min(c.inBuffer, c.lost), JitterUs: c.jitter / 1e3,
	}
}
