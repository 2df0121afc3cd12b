package apply

import (
	"fmt"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
)

// Absent is the text of the state of an object that is not there.
const Absent = "absent"

// State is the condition of one object: as text, for people and to compare, and
// as the kernel described it, to bring it back.
type State struct {
	Text   string         `json:"text"`
	Object netlink.Object `json:"object,omitempty"`
	// There are the places of those that are there, where only some of several
	// addresses are.
	There []int `json:"there,omitempty"`
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

// baseTarget has the methods that most targets share.
type baseTarget struct{}

func (baseTarget) scope() (string, string, error)             { return Namespace, "", nil }
func (baseTarget) leaveIfPresent(State) bool                  { return false }
func (baseTarget) same(a, b State) bool                       { return a.Text == b.Text }
func (baseTarget) between(_, _, _ State) bool                 { return false }
func (baseTarget) sideEffects(_, _ State, _ bool) sideEffects { return sideEffects{} }

// targets divides a setting into single changes, in order.
func (h host) targets(s setting.Setting) ([]target, error) {
	one := func(t target, err error) ([]target, error) { return []target{t}, err }
	switch s.Kind() {
	case "sysctl":
		var list []target
		for _, parameter := range s.Sysctl {
			list = append(list, &sysctl{host: h, key: parameter.Key, value: parameter.Value})
		}
		return list, nil
	case "neighbour":
		return one(newNeighbour(h, *s.Neighbour))
	case "address":
		return one(newAddress(h, *s.Address))
	case "route":
		return one(newRoute(h, *s.Route))
	case "nexthop":
		return one(newNexthop(h, *s.Nexthop))
	case "rule":
		return one(newRule(h, *s.Rule))
	case "link":
		return newLink(h, *s.Link)
	case "qdisc":
		return one(newQdisc(h, *s.Qdisc))
	}
	return nil, fmt.Errorf("a setting without a kind: expected one of sysctl, neighbour, address, nexthop, route, rule, link, qdisc")
}
