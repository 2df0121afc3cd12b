package netlink

import (
	"fmt"

	"linerate/internal/model/topology"
)

// Qdisc is a queueing discipline of an interface with its counters.
type Qdisc struct {
	Interface string
	Kind      string
	Handle    uint32 // 0: the kernel's default qdisc
	Parent    uint32
	Options   []byte // TCA_OPTIONS, in the format of the kind

	Bytes, Packets, Drops, Overlimits, Backlog, Qlen, Requeues uint64
}

// Parents that are not another qdisc's class.
const (
	QdiscRoot    uint32 = 0xffffffff
	QdiscIngress uint32 = 0xfffffff1 // ingress and clsact
)

// IsRoot reports whether the qdisc is the interface's root (egress) qdisc.
func (q Qdisc) IsRoot() bool { return q.Parent == QdiscRoot }

// HandleText spells a handle as tc(8) does.
func HandleText(handle uint32) string { return fmt.Sprintf("%x:", handle>>16) }

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

// qdiscs are what the kernel's parts of an impairment need: tbf, netem, or netem
// as the child of tbf.
func qdiscs(s topology.Split) (specs []QdiscSpec) {
	if s.TBF.Rate > 0 {
		specs = append(specs, QdiscSpec{Kind: "tbf", Handle: 1 << 16, Limit: uint32(s.TBF.QueueSize()),
			Impairment: topology.Impairment{Rate: s.TBF.Rate, Burst: s.TBF.Burst}})
	}
	if s.NetemLimit > 0 {
		specs = append(specs, QdiscSpec{Kind: "netem", Handle: uint32(len(specs)+1) << 16, Limit: uint32(s.NetemLimit), Impairment: s.Netem})
	}
	return specs
}
