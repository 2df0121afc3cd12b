package netlink

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"linerate/internal/model/setting"
)

// NexthopObject is a next hop, or a group of them, that routes refer to by its number
// (ip-nexthop(8); Linux 5.3, resilient groups 5.13).
type NexthopObject struct {
	ID int // above 0
	// Via and Interface are a single next hop's. The zero Via is a directly attached
	// IPv4 network.
	Via       netip.Addr
	Interface string
	Group     []setting.Member // a weight of 0 is 1
	// Resilient is nil for a group with a hash threshold. Otherwise see
	// Documentation/networking/nexthop-group-resilient.rst.
	Resilient *setting.Resilient
	// Blackhole: what it is for is discarded. FDB: it is a VXLAN's, and has no interface.
	Blackhole, FDB bool
	// Dead and LinkDown are the kernel's flags of a single next hop (RTNH_F_DEAD,
	// RTNH_F_LINKDOWN).
	Dead, LinkDown bool
	Object         Object
}

// String formats the object as ip-nexthop(8) does.
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
