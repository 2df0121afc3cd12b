package netlink

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// NexthopObject is a next hop, or a group of some, that routes refer to by its
// number (ip-nexthop(8); kernel 5.3, resilient groups 5.13).
type NexthopObject struct {
	ID int
	// Via and Interface are a single next hop's; Via invalid: directly attached, in the
	// family of IPv4.
	Via       netip.Addr
	Interface string
	// Group are the members' numbers and weights.
	Group     []NexthopMember
	Resilient *Resilient
	Object    Object
}

// NexthopMember is one of a group.
type NexthopMember struct{ ID, Weight int }

// Resilient groups keep a table of hash values and change as little of it as they
// can when members come and go
// (Documentation/networking/nexthop-group-resilient.rst). Zero values are the
// kernel's: 128 buckets, 120 s idle, never moved while in use.
type Resilient struct {
	Buckets                    int
	IdleTimer, UnbalancedTimer time.Duration
}

// String spells the object as ip-nexthop(8) does.
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
			text += fmt.Sprintf(" type resilient buckets %d idle_timer %g unbalanced_timer %g", r.Buckets, r.IdleTimer.Seconds(), r.UnbalancedTimer.Seconds())
		}
		return text
	}
	if n.Via.IsValid() {
		text += " via " + n.Via.String()
	}
	return text + " dev " + n.Interface
}
