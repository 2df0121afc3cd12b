package netlink

import "fmt"

// Qdisc is one queueing discipline of an interface.
type Qdisc struct {
	Interface string
	Kind      string
	Handle    uint32 // 0: made by the kernel by default
	Parent    uint32
	Options   []byte // TCA_OPTIONS, in the discipline's own format

	Bytes, Packets, Drops, Overlimits, Backlog, Qlen, Requeues uint64
}

// Parents that are not another qdisc's class.
const (
	QdiscRoot    uint32 = 0xffffffff
	QdiscIngress uint32 = 0xfffffff1 // ingress and clsact
)

// IsRoot says whether the qdisc is the interface's root for sending.
func (q Qdisc) IsRoot() bool { return q.Parent == QdiscRoot }

// HandleText spells a handle as tc(8) does.
func HandleText(handle uint32) string { return fmt.Sprintf("%x:", handle>>16) }

// QdiscSpec describes a root qdisc to make. A zero Limit, Rate or Burst leaves
// the choice to the kernel, where the kind has one.
type QdiscSpec struct {
	Kind       string // pfifo, bfifo, tbf, fq, fq_codel, netem
	Handle     uint32
	Limit      uint32  // packets, or bytes for bfifo and tbf
	RateBytes  uint64  // tbf: bytes per second
	BurstBytes uint64  // tbf
	DelayNs    int64   // netem
	JitterNs   int64   // netem: to either side of the delay, in order
	Loss       float64 // netem: 0…1
	Reorder    float64 // netem: 0…1, not delayed
}
