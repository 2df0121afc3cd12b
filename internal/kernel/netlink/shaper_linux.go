//go:build !portable

package netlink

import (
	"golang.org/x/sys/unix"

	"linerate/internal/model/unit"
)

// Attributes of the options of qdiscs with a rate (linux/pkt_sched.h).
const (
	cakeRate64   = 2
	cakeOverhead = 6
	cakeRaw      = 12

	netemRate64     = 8
	netemParameters = 24 // struct tc_netem_qopt, which precedes the attributes

	htbParameters = 1 // struct tc_htb_opt: rate and ceil, each a struct tc_ratespec
	htbGlobal     = 2 // struct tc_htb_glob
	htbRate64     = 6
	htbCeil64     = 7

	rateSpec = 12 // struct tc_ratespec
	ethernet = 14 // Ethernet's header
)

// Shape returns the rate limit of a qdisc of the kinds tbf, htb, cake and netem. It is zero for
// others, and if a part of the packets can pass unshaped. For htb it is what the default class gets
// while no other sends; with classifiers, what all classes get together.
func (c *Conn) Shape(q Qdisc) (Shape, error) {
	switch q.Kind {
	case "htb":
		return c.htbShape(q)
	case "tbf":
		spec := q.Spec()
		s := Shape{Rate: spec.Rate, Burst: spec.Burst}
		if parameters := within(q.Options, tbfParameters).data; len(parameters) >= rateSpec {
			s.Overhead = overheadOf(parameters)
		}
		return s, nil
	case "cake":
		return cakeShape(q.Options), nil
	case "netem":
		return netemShape(q.Options), nil
	}
	return Shape{}, nil
}

// overheadOf returns the overhead in a struct tc_ratespec, which tc(8) interprets as a signed
// 16-bit number.
func overheadOf(spec []byte) int { return int(int16(native.Uint16(spec[2:]))) }

// cakeShape parses the options of cake. Unless raw, cake counts a packet from its IP header on, and
// adds its overhead.
func cakeShape(options []byte) (s Shape) {
	a := byKind(options)
	s.Rate = unit.BitRate(a[cakeRate64].uint64() * 8)
	if _, raw := a[cakeRaw]; !raw {
		s.Overhead = int(int32(a[cakeOverhead].uint32())) - ethernet
	}
	return s
}

// mostNetem is the rate from which on the rate of netem delays nothing. linerate sets it so that
// packets stay in order.
const mostNetem = 32e9

// netemShape parses struct tc_netem_rate: rate, packet_overhead, cell_size, cell_overhead.
func netemShape(options []byte) (s Shape) {
	if len(options) < netemParameters {
		return s
	}
	for a := range attributes(options[netemParameters:]) {
		switch {
		case a.kind == netemRate && len(a.data) >= 16:
			s.Rate = max(s.Rate, unit.BitRate(native.Uint32(a.data))*8)
			s.Overhead = int(int32(native.Uint32(a.data[4:])))
		case a.kind == netemRate64:
			s.Rate = unit.BitRate(a.uint64() * 8)
		}
	}
	if s.Rate >= mostNetem {
		return Shape{}
	}
	return s
}

// htbClass is a class of htb with its guaranteed rate and its ceiling.
type htbClass struct {
	id, parent uint32
	rate, ceil Shape
}

func (c *Conn) htbShape(q Qdisc) (Shape, error) {
	index, err := c.index(q.Interface)
	if err != nil {
		return Shape{}, err
	}
	classes, err := list(c, "list classes of "+q.Interface, unix.RTM_GETTCLASS, unix.RTM_NEWTCLASS, tcmsgLen,
		[][]byte{tcmsg(index, 0, 0)},
		func(body []byte, _ int64) (htbClass, bool) {
			class := htbClassOf(body)
			return class, class.id>>16 == q.Handle>>16
		})
	if err != nil {
		return Shape{}, err
	}
	filters, err := c.HasFilters(q.Interface, q.Handle)
	if err != nil {
		return Shape{}, err
	}
	return htbShape(q, classes, filters), nil
}

func htbClassOf(body []byte) htbClass {
	class := htbClass{id: native.Uint32(body[8:]), parent: native.Uint32(body[12:])}
	for o := range attributes(within(body[tcmsgLen:], unix.TCA_OPTIONS).data) {
		switch {
		case o.kind == htbParameters && len(o.data) >= 2*rateSpec:
			class.rate = class.rate.or(o.data)
			class.ceil = class.ceil.or(o.data[rateSpec:])
		case o.kind == htbRate64:
			class.rate.Rate = unit.BitRate(o.uint64() * 8)
		case o.kind == htbCeil64:
			class.ceil.Rate = unit.BitRate(o.uint64() * 8)
		}
	}
	return class
}

// or returns the shape in a struct tc_ratespec, whose 32 bits allow up to 34 Gbit/s. A larger rate
// in s, from a 64-bit attribute, is kept.
func (s Shape) or(spec []byte) Shape {
	return Shape{Rate: max(s.Rate, unit.BitRate(native.Uint32(spec[8:]))*8), Overhead: overheadOf(spec)}
}

// htbTree has the classes of an htb by their handles.
type htbTree map[uint32]htbClass

// own returns what a class gets without borrowing: its rate, limited by its ceiling.
func (c htbClass) own() Shape { return slower(c.ceil, c.rate) }

// alone returns what a class gets while no other class sends. When it has used up its rate it
// borrows from its parent, and so on, within the ceilings. A root class cannot borrow, so its
// ceiling is not used (htb_activate_prios in net/sched/sch_htb.c).
func (t htbTree) alone(class htbClass) Shape {
	parent, known := t[class.parent]
	if !known {
		return class.own()
	}
	delete(t, class.id) // visit each class once
	return slower(class.ceil, faster(class.rate, t.alone(parent)))
}

// together returns what a class gets while all classes below it send. These always get their own
// rates, even if the sum exceeds their parent's rate.
func (t htbTree) together(class htbClass) Shape {
	delete(t, class.id)
	var below Shape
	for _, child := range t {
		if child.parent == class.id {
			has := t.together(child)
			below = Shape{Rate: below.Rate + has.Rate, Overhead: has.Overhead}
		}
	}
	return faster(class.own(), below)
}

func slower(a, b Shape) Shape {
	if b.Rate < a.Rate {
		return b
	}
	return a
}

func faster(a, b Shape) Shape {
	if b.Rate > a.Rate {
		return b
	}
	return a
}

// htbShape returns the shape of the default class or, with filters, of all classes together.
// Packets of no class leave unshaped.
func htbShape(q Qdisc, classes []htbClass, filters bool) (s Shape) {
	tree := htbTree{}
	for _, class := range classes {
		tree[class.id] = class
	}
	of := q.Handle
	if global := within(q.Options, htbGlobal).data; len(global) >= 12 {
		of = q.Handle&0xffff0000 | native.Uint32(global[8:])&0xffff
	}
	class, known := tree[of]
	switch {
	case !known:
		return Shape{}
	case !filters:
		return tree.alone(class)
	}
	for _, class := range classes {
		if class.parent == qdiscRoot {
			has := tree.together(class)
			s = Shape{Rate: s.Rate + has.Rate, Overhead: has.Overhead}
		}
	}
	return s
}
