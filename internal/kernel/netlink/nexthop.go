package netlink

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"linerate/internal/model/setting"
)

// NexthopObject is a next hop, or a group of next hops, that routes refer to by its ID
// (ip-nexthop(8); Linux 5.3, resilient groups 5.13).
type NexthopObject struct {
	ID int // above 0
	// Via and Interface describe a single next hop. The zero Via means a directly connected IPv4
	// network.
	Via       netip.Addr
	Interface string
	Group     []setting.Member // a weight of 0 means 1
	// Resilient is nil for a hash-threshold group. Otherwise see
	// Documentation/networking/nexthop-group-resilient.rst.
	Resilient *setting.Resilient
	// Blackhole reports whether packets are discarded. FDB reports whether it belongs to a VXLAN
	// and has no interface.
	Blackhole, FDB bool
	// Dead and LinkDown are the kernel's flags of a single next hop (RTNH_F_DEAD, RTNH_F_LINKDOWN).
	Dead, LinkDown bool
	Object         Object
}

// String formats the object like ip-nexthop(8).
func (n NexthopObject) String() string {
	text := "id " + strconv.Itoa(n.ID)
	if len(n.Group) > 0 {
		var members []string
		for _, m := range n.Group {
			member := strconv.Itoa(m.ID)
			if m.Weight > 1 {
				member += "," + strconv.Itoa(m.Weight)
			}
			members = append(members, member)
		}
		text += " group " + strings.Join(members, "/")
		if r := n.Resilient; r != nil {
			text += fmt.Sprintf(" type resilient buckets %d idle_timer %g unbalanced_timer %g", r.Buckets,
				r.IdleTimer.Seconds(), r.UnbalancedTimer.Seconds())
		}
		return text
	}
	if n.Via.IsValid() {
		text += " via " + n.Via.String()
	}
	return text + " dev " + n.Interface
}
