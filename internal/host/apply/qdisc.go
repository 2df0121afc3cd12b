package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// qdisc is the root queueing discipline of an interface.
type qdisc struct {
	baseTarget
	q setting.Qdisc
}

// qdiscKinds are the kinds that can be set. The kernel accepts their options as it
// reports them, so they can be restored.
var qdiscKinds = []string{"pfifo", "bfifo", "tbf", "fq", "fq_codel"}

func newQdisc(base baseTarget, q setting.Qdisc) (*qdisc, error) {
	fail := func(text string) (*qdisc, error) { return nil, fmt.Errorf("qdisc of %s: %s", q.Interface, text) }
	switch {
	case !slices.Contains(qdiscKinds, q.Kind):
		return fail(fmt.Sprintf("kind %q: expected one of %s", q.Kind, strings.Join(qdiscKinds, ", ")))
	case q.Limit < 0 || int64(q.Limit) > 1<<32-1:
		return fail(fmt.Sprintf("limit %d: expected 1 to 4294967295", q.Limit))
	case q.Kind == "tbf" && (q.Rate < 8 || q.Burst <= 0):
		return fail("tbf needs a rate and a burst")
	case q.Kind != "tbf" && (q.Rate != 0 || q.Burst != 0):
		return fail(q.Kind + " has neither rate nor burst: that is tbf")
	}
	return &qdisc{base, q}, nil
}

func (t *qdisc) what() string { return t.q.Interface + " root" }

// of lists the qdiscs of the interface.
func (t *qdisc) of() ([]netlink.Qdisc, error) {
	if _, err := t.host.conn.LinkByName(t.q.Interface); err != nil {
		return nil, err
	}
	all, err := t.host.conn.Qdiscs(nil)
	return slices.DeleteFunc(all, func(q netlink.Qdisc) bool { return q.Interface != t.q.Interface }), err
}

func (t *qdisc) read() (State, error) {
	list, err := t.of()
	i := slices.IndexFunc(list, netlink.Qdisc.IsRoot)
	switch {
	case i < 0: // an interface that was never up has none yet
		return State{Text: "default"}, err
	case list[i].Handle == 0:
		return State{Text: "default (" + list[i].Kind + ")"}, nil
	}
	spec := list[i].Spec()
	return State{Text: spec.String(), Object: list[i].Options, Qdisc: &spec}, nil
}

// same compares the options of a qdisc. The kernel stores tbf's burst as a time in ticks,
// so it reads back slightly different; and a limit of 0 is equal to any, the kind's
// default.
func (t *qdisc) same(a, b State) bool {
	if a.Qdisc == nil || b.Qdisc == nil {
		return a.Qdisc == nil && b.Qdisc == nil && (a.Text == b.Text || a.Text == "default" || b.Text == "default")
	}
	x, y := *a.Qdisc, *b.Qdisc
	near := x.Burst/100 + 2048
	return x.Kind == y.Kind && x.Handle == y.Handle && x.Rate == y.Rate &&
		(x.Limit == y.Limit || x.Limit == 0 || y.Limit == 0) &&
		x.Burst <= y.Burst+near && y.Burst <= x.Burst+near
}

func (t *qdisc) plan(prior State) (State, error) {
	list, err := t.of()
	if err != nil {
		return State{}, err
	}
	if err := t.restorable(prior, list); err != nil {
		return State{}, err
	}
	next := netlink.QdiscSpec{
		Kind: t.q.Kind, Limit: uint32(t.q.Limit), Handle: freeHandle(list),
		// The kernel keeps tbf's rate in whole bytes per second.
		Impairment: topology.Impairment{Rate: 8 * unit.BitRate(uint64(t.q.Rate/8)), Burst: t.q.Burst},
	}
	if next.Kind == "tbf" && next.Limit == 0 {
		// A tenth of a second of queue, and room for the bucket.
		next.Limit = uint32(min(unit.Bytes(next.Rate/80)+next.Burst, 1<<32-1))
	}
	return State{Text: next.String(), Qdisc: &next}, nil
}

// freeHandle returns a handle that no qdisc of the interface has, so that the new one can
// be identified later.
func freeHandle(list []netlink.Qdisc) uint32 {
	handle := uint32(0x1e700000)
	for slices.ContainsFunc(list, func(q netlink.Qdisc) bool { return q.Handle == handle }) {
		handle += 0x10000
	}
	return handle
}

// restorable refuses to replace what could not be put back faithfully.
func (t *qdisc) restorable(prior State, list []netlink.Qdisc) error {
	refuse := func(why string) error {
		return errors.New("its present root qdisc (" + prior.Text + ") could not be restored exactly: " + why + "; remove it first, or leave it")
	}
	for _, q := range list {
		if q.IsInner() {
			return refuse("it has a " + q.Kind + " qdisc (" + q.HandleText() + ") inside")
		}
	}
	if prior.Qdisc == nil {
		return nil // the kernel restores the default when ours is deleted
	}
	if prior.Qdisc.Kind != "pfifo_fast" && !slices.Contains(qdiscKinds, prior.Qdisc.Kind) {
		return refuse("that is possible for " + strings.Join(qdiscKinds, ", ") + " and for the kernel's default")
	}
	filters, err := t.host.conn.HasFilters(t.q.Interface, prior.Qdisc.Handle)
	if err != nil {
		return err
	}
	if filters {
		return refuse("it has filters")
	}
	return nil
}

func (t *qdisc) change(next State) error {
	return t.host.conn.ReplaceRootQdisc(t.q.Interface, *next.Qdisc)
}

func (t *qdisc) restore(prior, _ State) error {
	if prior.Qdisc == nil {
		return t.host.conn.DeleteRootQdisc(t.q.Interface)
	}
	return t.host.conn.RestoreRootQdisc(t.q.Interface, prior.Qdisc.Kind, prior.Qdisc.Handle, prior.Object)
}
