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
	SizeTable bool   // it has TCA_STAB

	// Bytes and packets since the qdisc was made; Backlog and Qlen wait now.
	Bytes, Packets, Drops, Overlimits, Backlog, Qlen, Requeues uint64
}

// Shape is the rate at which a qdisc lets packets out.
type Shape struct {
	Rate unit.BitRate // 0: none, or none that is known
	// Overhead is what it counts of each packet beside Ethernet's header and what that
	// carries, in bytes; below 0: it leaves so much out.
	Overhead int
	Burst    unit.Bytes // the token bucket; 0: not known
}

// Parents that are not another qdisc's class (linux/pkt_sched.h).
const (
	qdiscRoot    uint32 = 0xffffffff // TC_H_ROOT
	qdiscIngress uint32 = 0xfffffff1 // TC_H_INGRESS, of ingress and clsact
)

// LinkHandle is the handle of the tbf that is the rate of a lab's link, at the root of the
// interface that sends, and LinkQueue the class in it that holds the link's queue: a bfifo,
// unless a setting replaces it.
const (
	LinkHandle uint32 = 0x1e6f0000
	LinkQueue         = LinkHandle | 1
)

// IsLink reports whether the qdisc is the rate of a lab's link.
func (q Qdisc) IsLink() bool { return q.IsRoot() && q.Kind == "tbf" && q.Handle == LinkHandle }

// IsRoot reports whether the qdisc is the interface's root (egress) qdisc.
func (q Qdisc) IsRoot() bool { return q.Parent == qdiscRoot }

// IsInner reports whether the qdisc was added to a class of another one.
func (q Qdisc) IsInner() bool {
	return !q.IsRoot() && q.Parent != qdiscIngress && q.Handle != 0
}

// ParentText is where the qdisc is: root, ingress, or the class of another one, 7:1.
func (q Qdisc) ParentText() string {
	switch q.Parent {
	case qdiscRoot:
		return "root"
	case qdiscIngress:
		return "ingress"
	}
	return fmt.Sprintf("%x:%x", q.Parent>>16, q.Parent&0xffff)
}

// HandleText formats the handle as tc(8) does.
func (q Qdisc) HandleText() string { return handleText(q.Handle) }

func handleText(handle uint32) string { return fmt.Sprintf("%x:", handle>>16) }

// QdiscSpec describes a qdisc to make, or one that was read.
type QdiscSpec struct {
	Handle uint32
	// Parent is the class of another qdisc in which it is; 0: it is the root.
	Parent uint32 `json:"parent,omitempty"`
	// Qdisc: its Interface is empty. Kind may also be netem, and one that no setting makes.
	setting.Qdisc
	// Netem has what netem takes beside the limit: Delay, Jitter, Loss and Reorder.
	Netem topology.Impairment `json:"-"`
	// SizeTable: one that was read has a size table (tc-stab(8)).
	SizeTable bool `json:"size_table,omitempty"`
}

// String formats the kind, the handle and the options.
func (s QdiscSpec) String() string {
	return s.Kind + " " + handleText(s.Handle) + strings.TrimPrefix(s.Qdisc.String(), s.Kind)
}
