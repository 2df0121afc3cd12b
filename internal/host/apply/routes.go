package apply

import (
	"errors"
	"fmt"

	"linerate/internal/model/setting"
)

// routes are routes to consecutive prefixes, which are read, journaled, added and removed
// together: one by one, each would need a dump of all routes. None of them may exist before.
type routes struct{ route }

func newRoutes(base baseTarget, r setting.Route) (*routes, error) {
	if why := r.WrongCount(); why != "" {
		return nil, errors.New(why)
	}
	if !r.Prefix().IsValid() {
		return nil, fmt.Errorf("%d routes to %s: expected a prefix such as 10.0.0.0/24", r.Count, r.To)
	}
	one, err := newRoute(base, r)
	if err != nil {
		return nil, err
	}
	return &routes{*one}, nil
}

func (t *routes) what() string {
	return fmt.Sprintf("%d from %s to %s in table %d", t.r.Number(), t.spec.To, t.r.Last(), t.spec.Table)
}

func (t *routes) read() (State, error) {
	n, err := t.host.conn.CountRoutes(t.spec, t.r.Prefix(), t.r.Last())
	switch {
	case err != nil || n == 0:
		return State{Text: Absent}, err
	case n < t.r.Number():
		return State{Text: fmt.Sprintf("%d of %d present", n, t.r.Number())}, nil
	}
	return State{Text: present}, nil
}

func (*routes) leaveIfPresent(prior State) bool { return prior.Text == present }

// between: some have been removed by another program, or not been added before a kill.
func (*routes) between(_, _, _ State) bool { return true }

func (t *routes) plan(prior State) (State, error) {
	if !prior.absent() {
		return State{}, fmt.Errorf("%s: expected none, so that all can be removed again", prior.Text)
	}
	if err := t.resolve(); err != nil {
		return State{}, err
	}
	return State{Text: present}, nil
}

func (t *routes) change(State) error { return t.host.conn.AddRoutes(t.spec, t.r.All()) }

func (t *routes) restore(_, _ State) error {
	return t.host.conn.DeleteRoutes(t.spec, t.r.All())
}
