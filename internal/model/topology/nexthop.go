package topology

import (
	"strconv"

	"linerate/internal/model/setting"
)

// members returns the next hops of a nexthop object: itself, or the members of the group.
func (h *Host) members(id int) (list []setting.Nexthop) {
	n, ok := h.Nexthop(id)
	if !ok {
		return nil
	}
	if len(n.Group) == 0 {
		return []setting.Nexthop{{Via: n.Via, Interface: n.Interface, Weight: 1}}
	}
	for _, m := range n.Group {
		if single, ok := h.Nexthop(m.ID); ok && len(single.Group) == 0 {
			list = append(list, setting.Nexthop{Via: single.Via, Interface: single.Interface, Weight: m.Weight})
		}
	}
	return list
}

// nexthopObject checks a nexthop object. The members of a group must precede it.
func (c settingChecker) nexthopObject(n setting.NexthopObject, path string) {
	if n.ID <= 0 || n.ID > maxTable {
		c.report(path+".id", "nexthop object %d: expected a number from 1 to %d", n.ID, maxTable)
	}
	if len(n.Group) == 0 {
		if n.Resilient != nil {
			c.report(path+".resilient", "nexthop object %d: only a group can be resilient", n.ID)
		}
		if n.Interface == "" {
			c.report(path, "nexthop object %d: expected interface, or a group", n.ID)
			return
		}
		c.nexthop(setting.Nexthop{Via: n.Via, Interface: n.Interface}, path)
		return
	}
	if n.Via != "" || n.Interface != "" {
		c.report(path, "nexthop object %d: it has either a group, or via and interface", n.ID)
	}
	for i, m := range n.Group {
		at := path + ".group[" + strconv.Itoa(i) + "]"
		c.number(at, "weight", m.Weight, 1, maxWeight)
		switch single, ok := c.h.Nexthop(m.ID); {
		case !ok && len(c.h.Via) == 0:
			c.report(at+".id", "host %q has no nexthop object %d", c.h.Name, m.ID)
		case ok && (len(single.Group) > 0 || m.ID == n.ID):
			c.report(at+".id", "nexthop object %d is a group: a group consists of single next hops", m.ID)
		}
	}
	if r := n.Resilient; r != nil && (r.Buckets < 0 || r.Buckets > 65535 || r.Buckets > 0 && r.Buckets < len(n.Group)) {
		c.report(path+".resilient.buckets",
			"buckets %d: expected at least one for each of the %d members, and at most 65535", r.Buckets, len(n.Group))
	}
}
