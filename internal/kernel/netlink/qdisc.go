package netlink

import (
	"fmt"
	"strings"

	"linerate/internal/model/setting"
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
	SizeTable bool   // whether it has TCA_STAB

	// Bytes, Packets, Drops, Overlimits and Requeues count since the qdisc was created. Backlog
	// (bytes) and Qlen (packets) are what it holds now.
	Bytes, Packets, Drops, Overlimits, Backlog, Qlen, Requeues uint64
}

// Shape is the rate limit of a qdisc.
type Shape struct {
	Rate unit.BitRate // 0: none, or unknown
	// Overhead is the number of bytes that the qdisc counts for each packet in addition to the
	// Ethernet header and its payload. It can be negative.
	Overhead int
	Burst    unit.Bytes // the token bucket; 0: unknown
}

// Parents other than the class of another qdisc (linux/pkt_sched.h).
const (
	qdiscRoot    uint32 = 0xffffffff // TC_H_ROOT
	qdiscIngress uint32 = 0xfffffff1 // TC_H_INGRESS, of ingress and clsact
)

// LinkHandle is the handle of the tbf that limits the rate of a lab's link, at the root of the
// sending interface. LinkQueue is its class, which holds the queue of the link: a bfifo, unless a
// setting replaces it.
const (
	LinkHandle uint32 = 0x1e6f0000
	LinkQueue         = LinkHandle | 1
)

// IsLink reports whether the qdisc limits the rate of a lab's link.
func (q Qdisc) IsLink() bool { return q.IsRoot() && q.Kind == "tbf" && q.Handle == LinkHandle }

// IsRoot reports whether the qdisc is the interface's root (egress) qdisc.
func (q Qdisc) IsRoot() bool { return q.Parent == qdiscRoot }

// IsInner reports whether the qdisc was added to a class of another one.
func (q Qdisc) IsInner() bool {
	return !q.IsRoot() && q.Parent != qdiscIngress && q.Handle != 0
}

// ParentText returns the position of the qdisc: root, ingress, or the class of another one, 7:1.
func (q Qdisc) ParentText() string {
	switch q.Parent {
	case qdiscRoot:
		return "root"
	case qdiscIngress:
		return "ingress"
	}
	return fmt.Sprintf("%x:%x", q.Parent>>16, q.Parent&0xffff)
}

// HandleText formats the handle like tc(8).
func (q Qdisc) HandleText() string { return handleText(q.Handle) }

func handleText(handle uint32) string { return fmt.Sprintf("%x:", handle>>16) }

// QdiscSpec describes a qdisc to create, or one that was read.
type QdiscSpec struct {
	Handle uint32
	// Parent is the class of another qdisc that contains it. 0: it is the root.
	Parent uint32 `json:"parent,omitempty"`
	// Qdisc has an empty Interface. Its Kind may also be netem, or another one that settings cannot
	// create.
	setting.Qdisc
	// Netem has the options of netem besides the limit: Delay, Jitter, Loss and Reorder.
	Netem topology.Impairment `json:"-"`
	// SizeTable reports whether a qdisc that was read has a size table (tc-stab(8)).
	SizeTable bool `json:"size_table,omitempty"`
}

// String formats the kind, the handle and the options.
func (s QdiscSpec) String() string {
	return s.Kind + " " + handleText(s.Handle) + strings.TrimPrefix(s.Qdisc.String(), s.Kind)
}
