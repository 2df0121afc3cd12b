package apply

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

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
	return State{Text: n.String(), Object: n.Object}, nil
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
	return State{Text: t.spec.String()}, nil
}

func (t *nexthop) change(State) error { return t.host.conn.ReplaceNexthopObject(t.spec) }

// between: a nexthop object is deleted with the carrier of its interface, and a group
// keeps its other members.
func (t *nexthop) between(_, next, is State) bool {
	made, kind := grouped(next.Text)
	left, same := grouped(is.Text)
	return is.absent() || len(left) > 0 && slices.Equal(kind, same) &&
		!slices.ContainsFunc(left, func(member string) bool { return !slices.Contains(made, member) })
}

// grouped splits the text of a group into its members, such as "1" and "2,3", and its
// kind.
func grouped(text string) (members, kind []string) {
	if words := strings.Fields(text); len(words) > 3 && words[2] == "group" {
		return strings.Split(words[3], "/"), words[4:]
	}
	return nil, nil
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
			groups = append(groups, kernelObject{n.String(), n.Object})
		case d.iface == "" || d.iface == n.Interface:
			list = append(list, kernelObject{n.String(), n.Object})
		}
	}
	return append(list, groups...), err
}
