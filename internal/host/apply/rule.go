package apply

import (
	"errors"
	"fmt"
	"net/netip"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
)

// rule is one routing policy rule. Without a priority it gets the one that the kernel
// would choose: before all others but the first.
type rule struct {
	baseTarget
	k netlink.Rule
}

func newRule(base baseTarget, r setting.Rule) (*rule, error) {
	t := &rule{base, netlink.Rule{Family: 4, Priority: r.Priority, Table: r.Table, Plain: true}}
	for _, side := range []struct {
		text string
		to   *netip.Prefix
	}{{r.From, &t.k.From}, {r.To, &t.k.To}} {
		if side.text == "" || side.text == "all" {
			continue
		}
		prefix, err := parseDestination(side.text, false)
		if err != nil {
			return nil, fmt.Errorf("rule: %w", err)
		}
		if prefix.Addr().Is6() {
			t.k.Family = 6
		}
		if prefix.Bits() > 0 {
			*side.to = prefix
		}
	}
	if r.Table <= 0 {
		return nil, errors.New("rule: expected the table to look up")
	}
	if t.k.From.IsValid() && t.k.To.IsValid() && t.k.From.Addr().Is4() != t.k.To.Addr().Is4() {
		return nil, fmt.Errorf("rule from %s to %s: one is IPv4 and the other IPv6", r.From, r.To)
	}
	return t, nil
}

func (t *rule) what() string { return t.k.String() }

func (t *rule) read() (State, error) {
	all, err := t.host.conn.Rules()
	for _, r := range all {
		if r.Plain && r.Family == t.k.Family && r.From == t.k.From && r.To == t.k.To && r.Table == t.k.Table &&
			(t.k.Priority == 0 || r.Priority == t.k.Priority) {
			return State{Text: present, Object: r.Object}, nil
		}
	}
	return State{Text: Absent}, err
}

func (t *rule) plan(prior State) (State, error) {
	if prior.absent() && t.k.Priority == 0 {
		all, err := t.host.conn.Rules()
		if err != nil {
			return State{}, err
		}
		lowest := 32766
		for _, r := range all {
			if r.Family == t.k.Family && r.Priority > 0 {
				lowest = min(lowest, r.Priority)
			}
		}
		if lowest == 1 {
			return State{}, errors.New("there is no priority left before the other rules: give one")
		}
		t.k.Priority = lowest - 1
		chosen := *t.s.Rule
		chosen.Priority = t.k.Priority // for the journal: the undo must find this very rule
		t.s.Rule = &chosen
	}
	return State{Text: present}, nil
}

func (t *rule) change(State) error { return t.host.conn.AddRule(t.k) }

func (t *rule) restore(prior, _ State) error {
	if prior.absent() {
		return t.host.conn.DeleteRule(t.k)
	}
	return t.host.conn.AddRule(t.k)
}
