package apply

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
)

// nexthop is one nexthop object, identified by its number.
type nexthop struct {
	baseTarget
	n    setting.NexthopObject
	spec netlink.NexthopObject
}

func newNexthop(base baseTarget, n setting.NexthopObject) (*nexthop, error) {
	t := &nexthop{baseTarget: base, n: n, spec: netlink.NexthopObject{ID: n.ID, Interface: n.Interface, Group: n.Group}}
	var err error
	if t.spec.Via, err = parseVia(n.Via); err != nil {
		return nil, fmt.Errorf("nexthop %d: %w", n.ID, err)
	}
	if t.spec.Via == (netip.Addr{}) && n.Interface == "" && len(n.Group) == 0 {
		return nil, fmt.Errorf("nexthop %d: expected an interface, or a group", n.ID)
	}
	if n.Resilient != nil {
		complete := n.Resilient.WithDefaults()
		t.spec.Resilient = &complete
	}
	return t, nil
}

func (t *nexthop) what() string { return fmt.Sprintf("id %d", t.n.ID) }

func (t *nexthop) found() (netlink.NexthopObject, error) {
	all, err := t.host.conn.NexthopObjects()
	for _, n := range all {
		if n.ID == t.n.ID {
			return n, nil
		}
	}
	return netlink.NexthopObject{}, err
}

func (t *nexthop) read() (State, error) {
	n, err := t.found()
	if err != nil || n.ID == 0 {
		return State{Text: Absent}, err
	}
	return State{Text: n.String(), Object: n.Object, Group: groupOf(n)}, nil
}

func (t *nexthop) leaveIfPresent(prior State) bool { return !prior.absent() }

// plan keeps the kind of a group if the setting names none: the kernel does not convert
// between kinds.
func (t *nexthop) plan(prior State) (State, error) {
	if len(t.spec.Group) > 0 && t.n.Resilient == nil && !prior.absent() {
		n, err := t.found()
		if err != nil {
			return State{}, err
		}
		t.spec.Resilient = n.Resilient
	}
	return State{Text: t.spec.String(), Group: groupOf(t.spec)}, nil
}

func (t *nexthop) change(State) error { return t.host.conn.ReplaceNexthopObject(t.spec) }

// between: a nexthop object is deleted with the carrier of its interface, and a group
// keeps its other members.
func (t *nexthop) between(_, next, is State) bool {
	made, left := next.Group, is.Group
	return is.absent() || made != nil && left != nil && made.Kind == left.Kind &&
		!slices.ContainsFunc(left.Members, func(m setting.Member) bool { return !slices.Contains(made.Members, m) })
}

// nexthopGroup is a group of nexthop objects.
type nexthopGroup struct {
	Members []setting.Member `json:"members"` // with their weights, of at least 1
	// Kind has the properties of a resilient group; the zero value is one with a hash threshold.
	Kind setting.Resilient `json:"kind,omitzero"`
}

// groupOf is an object's group; nil: it is a single next hop.
func groupOf(n netlink.NexthopObject) *nexthopGroup {
	if len(n.Group) == 0 {
		return nil
	}
	g := &nexthopGroup{}
	for _, m := range n.Group {
		g.Members = append(g.Members, setting.Member{ID: m.ID, Weight: max(1, m.Weight)})
	}
	if n.Resilient != nil {
		g.Kind = *n.Resilient
	}
	return g
}

// ids are the numbers of an object and of the members of its group.
func ids(n netlink.NexthopObject) []int {
	list := []int{n.ID}
	for _, m := range n.Group {
		list = append(list, m.ID)
	}
	return list
}

func (t *nexthop) restore(prior, _ State) error {
	if prior.absent() {
		return t.host.conn.DeleteNexthopObject(t.n.ID)
	}
	return t.host.conn.RestoreNexthopObject(prior.Object)
}

// nexthops lists the objects that the kernel may delete with a change to an interface:
// its own, and then all groups, which lose a member with them.
func (h host) nexthops(d sideEffects) ([]kernelObject, error) {
	all, err := h.conn.NexthopObjects()
	var list, groups []kernelObject
	for _, n := range all {
		switch {
		case len(n.Group) > 0:
			groups = append(groups, kernelObject{Text: n.String(), Object: n.Object, Nexthops: ids(n)})
		case d.iface == "" || d.iface == n.Interface:
			list = append(list, kernelObject{Text: n.String(), Object: n.Object, Nexthops: ids(n)})
		}
	}
	return append(list, groups...), err
}
