package apply

import (
	"fmt"
	"strings"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
)

// Absent is the text of the state of an object that does not exist.
const Absent = "absent"

// State is the state of one object: as text, to print and compare, and as the kernel
// described it, to restore it.
type State struct {
	Text   string         `json:"text"`
	Object netlink.Object `json:"object,omitempty"`
	// There lists the indices of the addresses that exist, if only some of a run do.
	There []int `json:"there,omitempty"`
	// Otherwise says that an address of the run exists with another prefix length.
	Otherwise bool `json:"otherwise,omitempty"`
	// Group is set for groups of nexthop objects.
	Group *nexthopGroup `json:"group,omitempty"`
	// Nexthop is the nexthop object of a route that has one.
	Nexthop int `json:"nexthop,omitempty"`
	// Qdisc is set for queueing disciplines.
	Qdisc *netlink.QdiscSpec `json:"qdisc,omitempty"`
}

func (s State) absent() bool { return s.Text == Absent }

// target is one kernel object that a setting changes: one sysctl, one route, one
// attribute of one interface.
type target interface {
	kind() string
	// what names the object.
	what() string
	// setting is the part of the setting that makes this target, for the journal.
	setting() setting.Setting
	// scope returns Namespace or Machine, and the reason.
	scope() (scope, why string, err error)
	read() (State, error)
	// leaveIfPresent reports whether an object in state prior satisfies "if absent".
	leaveIfPresent(prior State) bool
	// plan returns the state after the change. The error refuses a change that cannot
	// be made or could not be undone.
	plan(prior State) (State, error)
	// change makes the planned state.
	change(next State) error
	// restore brings prior back from the state it is in.
	restore(prior, is State) error
	// same reports whether two states are equivalent.
	same(a, b State) bool
	// between reports whether is lies between prior and next, for targets that consist
	// of several objects.
	between(prior, next, is State) bool
	// sideEffects returns what else the kernel may delete when the object goes from one
	// state to the other.
	sideEffects(from, to State, reverting bool) sideEffects
}

// baseTarget has the access to the host, the setting of the target, and the methods that
// most targets share.
type baseTarget struct {
	host host
	s    setting.Setting
}

func (t *baseTarget) kind() string             { return t.s.Kind() }
func (t *baseTarget) setting() setting.Setting { return t.s }

func (*baseTarget) scope() (string, string, error)             { return Namespace, "", nil }
func (*baseTarget) leaveIfPresent(State) bool                  { return false }
func (*baseTarget) same(a, b State) bool                       { return a.Text == b.Text }
func (*baseTarget) between(_, _, _ State) bool                 { return false }
func (*baseTarget) sideEffects(_, _ State, _ bool) sideEffects { return sideEffects{} }

// targets divides a setting into single changes, in order.
func (h host) targets(s setting.Setting) ([]target, error) {
	base := baseTarget{h, s}
	var t target
	var err error
	switch s.Kind() {
	case "sysctl":
		var list []target
		for _, parameter := range s.Sysctl {
			base.s.Sysctl = []setting.Sysctl{parameter}
			list = append(list, &sysctl{base, parameter.Key, parameter.Value})
		}
		return list, nil
	case "link":
		return newLink(base, *s.Link)
	case "nic":
		return newNIC(base, *s.NIC)
	case "cpu":
		return newCPU(base, *s.CPU)
	case "neighbour":
		t, err = newNeighbour(base, *s.Neighbour)
	case "address":
		t, err = newAddress(base, *s.Address)
	case "route":
		if s.Route.Number() > 1 {
			t, err = newRoutes(base, *s.Route)
		} else {
			t, err = newRoute(base, *s.Route)
		}
	case "nexthop":
		t, err = newNexthop(base, *s.Nexthop)
	case "rule":
		t, err = newRule(base, *s.Rule)
	case "nft":
		t, err = newNFT(base, *s.NFT)
	case "qdisc":
		t, err = newQdisc(base, *s.Qdisc)
	default:
		err = fmt.Errorf("a setting without a kind: expected one of %s", strings.Join(setting.Kinds, ", "))
	}
	if err != nil {
		return nil, err
	}
	return []target{t}, nil
}
