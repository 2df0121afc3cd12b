package apply

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// qdisc is the root queueing discipline of an interface; where the root is the rate of a
// lab's link, it is the queue inside, except that a tbf replaces the rate itself
// (docs/decisions/0031-qdiscs-on-links.md).
type qdisc struct {
	baseTarget
	q setting.Qdisc
}

func newQdisc(base baseTarget, q setting.Qdisc) (*qdisc, error) {
	if _, why := q.Check(); why != "" {
		return nil, fmt.Errorf("qdisc of %s: %s", q.Interface, why)
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

// find returns the qdisc that the setting replaces, and the root that is a lab's link; nil:
// there is none.
func (t *qdisc) find(list []netlink.Qdisc) (found, link *netlink.Qdisc) {
	isFound := netlink.Qdisc.IsRoot
	if i := slices.IndexFunc(list, netlink.Qdisc.IsLink); i >= 0 {
		link = &list[i]
		if t.q.Kind != "tbf" {
			isFound = func(q netlink.Qdisc) bool { return q.Parent == netlink.LinkQueue }
		}
	}
	if i := slices.IndexFunc(list, isFound); i >= 0 {
		found = &list[i]
	}
	return found, link
}

func (t *qdisc) read() (State, error) {
	list, err := t.of()
	found, link := t.find(list)
	switch {
	case found == nil && link != nil:
		return State{Text: "default (bfifo of the link)"}, err
	case found == nil: // an interface that was never up has none yet
		return State{Text: "default"}, err
	case found.Handle == 0:
		text := found.Kind
		if text == "mq" {
			text += " of " + strings.Join(defaultKinds(*found, list), ", ")
		}
		return State{Text: "default (" + text + ")"}, nil
	}
	spec := found.Spec()
	return State{Text: spec.String(), Object: found.Options, Qdisc: &spec}, nil
}

// defaultKinds are the kinds of a default root qdisc: its own, or of mq those of the queues,
// each once.
func defaultKinds(root netlink.Qdisc, list []netlink.Qdisc) (kinds []string) {
	if root.Kind != "mq" {
		return []string{root.Kind}
	}
	for _, q := range list {
		if q.Parent>>16 == root.Handle>>16 && !slices.Contains(kinds, q.Kind) {
			kinds = append(kinds, q.Kind)
		}
	}
	return kinds
}

// same compares the options of a qdisc. What one of the two does not say is the kind's
// default; but a cake without a rate is not one with a rate.
func (t *qdisc) same(a, b State) bool {
	if a.Qdisc == nil || b.Qdisc == nil {
		return a.Qdisc == nil && b.Qdisc == nil && (a.Text == b.Text || a.Text == "default" || b.Text == "default")
	}
	x, y := *a.Qdisc, *b.Qdisc
	if x.Kind != y.Kind || x.Handle != y.Handle || x.Rate != y.Rate {
		return false
	}
	for _, o := range x.Options() {
		for _, p := range y.Options() {
			if o.Key == p.Key && !near(o, p) {
				return false
			}
		}
	}
	return true
}

// near compares two values of an option. The kernel stores the burst of tbf as a time in
// ticks, the times of codel in units of 1024 ns and the probability of red in 32 bits.
func near(a, b setting.QdiscOption) bool {
	x, y := a.Number(), b.Number()
	if list, ok := a.Value.([]unit.Bytes); ok { // the kernel reports those of all bands
		other := b.Value.([]unit.Bytes)
		n := min(len(list), len(other))
		return slices.Equal(list[:n], other[:n])
	}
	if math.IsNaN(x) {
		return a.Value == b.Value
	}
	tolerance := map[string]float64{"burst": x/100 + 2048, "target": 2048, "interval": 2048, "probability": 1e-6}[a.Key]
	return math.Abs(x-y) <= tolerance
}

func (t *qdisc) plan(prior State) (State, error) {
	list, err := t.of()
	if err != nil {
		return State{}, err
	}
	next := netlink.QdiscSpec{Handle: freeHandle(list), Qdisc: t.q}
	switch _, link := t.find(list); {
	case link == nil:
	case t.q.Kind == "tbf": // it is changed in place, and what is inside stays
		// It gives a fifo inside its own limit (net/sched/sch_tbf.c, tbf_change).
		if i := slices.IndexFunc(list, func(q netlink.Qdisc) bool {
			return q.Parent == netlink.LinkQueue &&
				strings.HasSuffix(q.Kind, "fifo")
		}); i >= 0 {
			return State{}, fmt.Errorf("the queue of %s is a %s, whose limit a tbf would replace: set the tbf first",
				t.q.Interface, list[i].Kind)
		}
		next.Handle, next.Rate = link.Handle, min(next.Rate, link.Spec().Rate)
	default:
		next.Parent = netlink.LinkQueue
	}
	if next.Handle != netlink.LinkHandle {
		if err := t.restorable(prior, next.Parent, list); err != nil {
			return State{}, err
		}
	}
	next.Interface = ""
	next.Rate = 8 * unit.BitRate(uint64(next.Rate/8)) // the kernel keeps whole bytes per second
	if next.Kind == "tbf" && next.Limit == 0 {
		// A tenth of a second of queue, and room for the bucket.
		next.Limit = int(min(unit.Bytes(next.Rate/80)+next.Burst, math.MaxUint32))
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
func (t *qdisc) restorable(prior State, parent uint32, list []netlink.Qdisc) error {
	refuse := func(why string) error {
		return errors.New("its present qdisc (" + prior.Text + ") could not be restored exactly: " + why +
			"; remove it first, or leave it")
	}
	for _, q := range list {
		if q.IsInner() && q.Parent != parent {
			return refuse("it has a " + q.Kind + " qdisc (" + q.HandleText() + ") inside")
		}
	}
	if prior.Qdisc == nil {
		return t.remade(prior, list)
	}
	kind, ours := setting.FindQdiscKind(prior.Qdisc.Kind)
	switch {
	case !ours && prior.Qdisc.Kind != "pfifo_fast":
		restorable := setting.QdiscKindNames(func(k setting.QdiscKind) bool { return k.Unrestorable == "" })
		return refuse("that is possible for " + strings.Join(restorable, ", ") + " and for the kernel's default")
	case kind.Unrestorable != "":
		return refuse(kind.Unrestorable)
	case prior.Qdisc.SizeTable:
		return refuse("it has a size table (tc-stab(8))")
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

// remade refuses to replace a default qdisc that the kernel would not make again when ours is
// deleted: it makes what net.core.default_qdisc says then, for each queue of several
// (attach_default_qdiscs in net/sched/sch_generic.c), except that an interface without a queue
// has noqueue whatever that says, and the queue of a lab's link is made by its rate. The
// parameter is the machine's: in other namespaces than its first it cannot be read.
func (t *qdisc) remade(prior State, list []netlink.Qdisc) error {
	const key = "net.core.default_qdisc"
	found, link := t.find(list)
	present, err := t.host.sysctls.Read(key)
	if found == nil || link != nil || found.Kind == "noqueue" || err != nil ||
		slices.Equal(defaultKinds(*found, list), []string{present}) {
		return nil
	}
	return fmt.Errorf(
		"its present qdisc (%s) could not be restored exactly: the kernel would make %s, since %s has changed; set "+
			"that back first, or change it after the qdisc",
		prior.Text, present, key)
}

func (t *qdisc) change(next State) error {
	return t.emptied(t.host.conn.ReplaceQdisc(t.q.Interface, *next.Qdisc), *next.Qdisc)
}

func (t *qdisc) restore(prior, _ State) error {
	if prior.Qdisc != nil {
		return t.emptied(t.host.conn.RestoreQdisc(t.q.Interface, *prior.Qdisc, prior.Object), *prior.Qdisc)
	}
	list, err := t.of()
	if err != nil {
		return err
	}
	if _, link := t.find(list); link != nil {
		return t.host.conn.RestoreLinkQueue(*link)
	}
	return t.host.conn.DeleteRootQdisc(t.q.Interface)
}

// emptied makes the queue of a lab's link again after a change of its tbf in place. A packet
// that waits there and is larger than the new burst would never leave, nor would any behind
// it (net/sched/sch_tbf.c, tbf_dequeue).
func (t *qdisc) emptied(err error, changed netlink.QdiscSpec) error {
	if err != nil || changed.Handle != netlink.LinkHandle {
		return err
	}
	list, err := t.of()
	if err != nil {
		return err
	}
	_, link := t.find(list)
	if link == nil {
		return nil
	}
	conn := t.host.conn
	inner := slices.IndexFunc(list, func(q netlink.Qdisc) bool { return q.Parent == netlink.LinkQueue && q.IsInner() })
	if inner < 0 { // the link's own queue has no handle, without which nothing is deleted
		other := netlink.QdiscSpec{Handle: freeHandle(list), Parent: netlink.LinkQueue,
			Qdisc: setting.Qdisc{Kind: "pfifo"}}
		return errors.Join(conn.ReplaceQdisc(t.q.Interface, other), conn.RestoreLinkQueue(*link))
	}
	return errors.Join(conn.RestoreLinkQueue(*link), conn.ReplaceQdisc(t.q.Interface, list[inner].Spec()))
}
