package netlink

import (
	"fmt"

	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// Qdisc is a queueing discipline of an interface with its counters (tc(8)).
type Qdisc struct {
	Interface string
	Kind      string
	Handle    uint32 // 0: the kernel's default qdisc
	Parent    uint32
	Options   []byte // TCA_OPTIONS, in the format of the kind

	// Bytes and packets since the qdisc was made; Backlog and Qlen wait now.
	Bytes, Packets, Drops, Overlimits, Backlog, Qlen, Requeues uint64
}

// Shape is the rate at which a qdisc lets packets out.
type Shape struct {
	Rate unit.BitRate // 0: none, or none that is known
	// Overhead is what it counts of each packet beside Ethernet's header and what that
	// carries, in bytes; below 0: it leaves so much out.
	Overhead int
}

// Parents that are not another qdisc's class (linux/pkt_sched.h).
const (
	qdiscRoot    uint32 = 0xffffffff // TC_H_ROOT
	qdiscIngress uint32 = 0xfffffff1 // TC_H_INGRESS, of ingress and clsact
)

// IsRoot reports whether the qdisc is the interface's root (egress) qdisc.
func (q Qdisc) IsRoot() bool { return q.Parent == qdiscRoot }

// IsInner reports whether the qdisc was added to a class of another one.
func (q Qdisc) IsInner() bool {
	return !q.IsRoot() && q.Parent != qdiscIngress && q.Handle != 0
}

// HandleText formats the handle as tc(8) does.
func (q Qdisc) HandleText() string { return handleText(q.Handle) }

func handleText(handle uint32) string { return fmt.Sprintf("%x:", handle>>16) }

// QdiscSpec describes a qdisc to make.
type QdiscSpec struct {
	Kind   string // pfifo, bfifo, tbf, fq, fq_codel, netem
	Handle uint32
	// Limit is in packets, or in bytes for bfifo and tbf. 0: the kernel's default,
	// where the kind has one.
	Limit uint32
	// Impairment: tbf takes Rate (in whole bytes per second) and Burst; netem takes
	// Delay, Jitter, Loss and Reorder.
	topology.Impairment
}

// String formats the kind, the handle and what is not 0.
func (s QdiscSpec) String() string {
	text := s.Kind + " " + handleText(s.Handle)
	if s.Rate != 0 {
		text += " rate " + s.Rate.String()
	}
	if s.Burst != 0 {
		text += " burst " + s.Burst.String()
	}
	if s.Limit != 0 {
		text += fmt.Sprintf(" limit %d", s.Limit)
	}
	return text
}
