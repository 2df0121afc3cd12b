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
	// scope says whom the change reaches, and why.
	scope() (scope, why string, err error)
	read() (State, error)
	// leaveIfPresent says whether what is there satisfies "if absent".
	leaveIfPresent(prior State) bool
	// plan says what the change leads to. It refuses what cannot be made or
	// could not be undone.
	plan(prior State) (State, error)
	// change makes the planned state.
	change(next State) error
	// restore brings prior back from the state it is in.
	restore(prior, is State) error
	// same says whether two states are the same condition.
	same(a, b State) bool
	// between says whether a state that is neither is on the way from one to the
	// other, for changes that consist of several.
	between(prior, next, is State) bool
	// endangers says what else the kernel may take away when the object goes
	// from one state to the other.
	endangers(from, to State, reverting bool) danger
}

// ordinary holds what most targets have in common.
type ordinary struct{}

func (ordinary) scope() (string, string, error)      { return Namespace, "", nil }
func (ordinary) leaveIfPresent(State) bool           { return false }
func (ordinary) same(a, b State) bool                { return a.Text == b.Text }
func (ordinary) between(_, _, _ State) bool          { return false }
func (ordinary) endangers(_, _ State, _ bool) danger { return danger{} }

// targets breaks a setting up into single changes, in order.
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
