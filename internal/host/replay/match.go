package replay

import (
	"hash/maphash"
	"slices"
	"sync/atomic"

	"linerate/internal/model/record"
	"linerate/internal/science/stats"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// matcher identifies frames by what a router does not change: everything from IP on except the time to live and
// IPv4's header checksum; for other protocols everything from the EtherType on. VLAN tags, which the receiving
// kernel removes, and padding are ignored.
type matcher struct {
	seed maphash.Seed
	// same groups frames by a hash of their content, in the order of sending; like groups them by a hash of
	// addresses, ports and identification only.
	same, like map[uint64]*group
	received   []bool
	sent       []atomic.Int64 // when each was handed to the kernel; 0: not yet
	highest    int            // one more than the highest that certainly arrived
	counts     record.ReplayReceived
	latency    *hdrhistogram.Histogram
	scratch    []byte
}

// leastPayload is the minimum payload of a frame; shorter ones are padded (IEEE 802.3).
const leastPayload = 46

// group is a list of frames with equal hashes; those before next have arrived.
type group struct {
	frames []int32
	next   int
}

func newMatcher(frames []Frame) *matcher {
	m := &matcher{
		seed: maphash.MakeSeed(), same: map[uint64]*group{}, like: map[uint64]*group{},
		received: make([]bool, len(frames)), sent: make([]atomic.Int64, len(frames)),
		latency: stats.NewHistogram(),
	}
	for i, f := range frames {
		same, like := m.hashes(f.Data)
		add(m.same, same, int32(i))
		add(m.like, like, int32(i))
	}
	return m
}

func add(to map[uint64]*group, hash uint64, i int32) {
	g := to[hash]
	if g == nil {
		g = &group{}
		to[hash] = g
	}
	g.frames = append(g.frames, i)
}

// hashes returns the hash of everything a router does not change, and that of what identifies the packet.
func (m *matcher) hashes(b []byte) (same, like uint64) {
	h := parse(b)
	if h.ip == 0 {
		m.keep(b[h.kind:], 2+leastPayload)
		hash := maphash.Bytes(m.seed, m.scratch)
		return hash, hash
	}
	least := leastPayload
	if h.total != 0 {
		least = min(h.total, leastPayload)
	}
	m.keep(b[h.ip:h.end], least)
	p := m.scratch
	var name [2*16 + 2 + 8 + 1]byte
	copy(name[:], b[h.addr:h.addr+2*h.addrLen])
	if h.six {
		p[7] = 0
	} else {
		p[8], p[10], p[11] = 0, 0, 0
		copy(name[32:], p[4:6])
	}
	if h.l4 != 0 {
		most := 4
		if h.protocol == tcp {
			most = 8 // ports and sequence number
		}
		copy(name[34:], b[h.l4:min(h.l4+most, h.end)])
	}
	name[42] = h.protocol
	return maphash.Bytes(m.seed, p), maphash.Bytes(m.seed, name[:])
}

// keep copies b to scratch. A shorter one than least, whose length is unknown, is treated as padded.
func (m *matcher) keep(b []byte, least int) {
	m.scratch = append(m.scratch[:0], b...)
	if short := least - len(b); short > 0 {
		m.scratch = append(m.scratch, make([]byte, short)...)
	}
}

// wasSent records when a frame is handed to the kernel. Another goroutine may receive meanwhile.
func (m *matcher) wasSent(i int, at int64) { m.sent[i].Store(at) }

// arrived matches a frame received at time at.
func (m *matcher) arrived(b []byte, at int64) {
	if len(b) < ethernet {
		m.counts.Other++
		return
	}
	same, like := m.hashes(b)
	if g := m.same[same]; g != nil {
		if i, ok := m.next(g); ok {
			m.match(g, i, at)
		} else {
			m.counts.Duplicates++
		}
		return
	}
	if g := m.like[like]; g != nil {
		if i, ok := m.next(g); ok {
			m.counts.Altered++
			m.match(g, i, at)
			return
		}
	}
	m.counts.Other++
}

// next returns the first frame of a group that has been sent and has not arrived.
func (m *matcher) next(g *group) (int, bool) {
	for ; g.next < len(g.frames); g.next++ {
		if i := int(g.frames[g.next]); !m.received[i] {
			return i, m.sent[i].Load() != 0
		}
	}
	return 0, false
}

// match records that a frame of a group arrived, frame i at the earliest. If identical frames are lost, it is
// unknown which one arrived: only a frame without duplicates is timed, and a frame that may not have been
// overtaken is not counted as reordered.
func (m *matcher) match(g *group, i int, at int64) {
	m.received[i] = true
	m.counts.Received++
	later, _ := slices.BinarySearch(g.frames, int32(m.highest))
	if later == len(g.frames) || m.sent[g.frames[later]].Load() == 0 {
		m.counts.Reordered++ // RFC 4737, type P
	}
	m.highest = max(m.highest, i+1)
	if len(g.frames) == 1 {
		stats.Record(m.latency, max(0, at-m.sent[i].Load()))
	}
}

// result returns what became of the first sent frames.
func (m *matcher) result(sent int) (*record.ReplayReceived, error) {
	out := m.counts
	out.Lost = int64(sent) - out.Received
	if m.latency.TotalCount() == 0 {
		return &out, nil
	}
	var err error
	out.Latency, err = stats.Distribution(m.latency)
	return &out, err
}
