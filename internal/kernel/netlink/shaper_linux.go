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
	htbCeil64     = 7

	rateSpec = 12 // struct tc_ratespec
	ethernet = 14 // Ethernet's header
)

// Shape is the rate of a qdisc of the kinds tbf, htb, cake and netem; zero of others, and
// where a part of the packets may pass it unshaped. Of htb with classifiers it is the most
// that its classes have together.
func (c *Conn) Shape(q Qdisc) (Shape, error) {
	switch q.Kind {
	case "htb":
		return c.htbShape(q)
	case "tbf":
		s := Shape{Rate: q.Spec().Rate}
		for a := range attributes(q.Options) {
			if a.kind == tbfParameters && len(a.data) >= rateSpec {
				s.Overhead = overheadOf(a.data)
			}
		}
		return s, nil
	case "cake":
		return cakeShape(q.Options), nil
	case "netem":
		return netemShape(q.Options), nil
	}
	return Shape{}, nil
}

// overheadOf is that of a struct tc_ratespec, which is 16 bits with a sign for tc(8).
func overheadOf(spec []byte) int { return int(int16(native.Uint16(spec[2:]))) }

// cakeShape: unless raw, cake counts a packet from its IP header on, and its overhead.
func cakeShape(options []byte) (s Shape) {
	overhead, raw := 0, false
	for a := range attributes(options) {
		switch {
		case a.kind == cakeRate64:
			s.Rate = unit.BitRate(a.uint64() * 8)
		case a.kind == cakeOverhead:
			overhead = int(int32(a.uint32()))
		case a.kind == cakeRaw:
			raw = true
		}
	}
	if !raw {
		s.Overhead = overhead - ethernet
	}
	return s
}

// mostNetem is a rate from which on netem's delays nothing: linerate's own gives it one so
// that packets stay in order.
const mostNetem = 32e9

// netemShape reads struct tc_netem_rate: rate, packet_overhead, cell_size, cell_overhead.
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

// htbClass is a class of htb with the most that it may have.
type htbClass struct {
	id, parent uint32
	ceil       Shape
}

func (c *Conn) htbShape(q Qdisc) (Shape, error) {
	index, err := c.index(q.Interface)
	if err != nil {
		return Shape{}, err
	}
	classes, err := list(c, "list classes of "+q.Interface, unix.RTM_GETTCLASS, unix.RTM_NEWTCLASS, tcmsgLen, [][]byte{tcmsg(index, 0, 0)},
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
	for a := range attributes(body[tcmsgLen:]) {
		if a.kind != unix.TCA_OPTIONS {
			continue
		}
		for o := range attributes(a.data) {
			switch {
			case o.kind == htbParameters && len(o.data) >= 2*rateSpec:
				ceil := o.data[rateSpec:]
				class.ceil.Rate = max(class.ceil.Rate, unit.BitRate(native.Uint32(ceil[8:]))*8)
				class.ceil.Overhead = overheadOf(ceil)
			case o.kind == htbCeil64:
				class.ceil.Rate = unit.BitRate(o.uint64() * 8)
			}
		}
	}
	return class
}

// htbShape is that of the default class and those above it; with filters, of all classes
// together. Packets of no class leave unshaped.
func htbShape(q Qdisc, classes []htbClass, filters bool) (s Shape) {
	byID := map[uint32]htbClass{}
	for _, class := range classes {
		byID[class.id] = class
	}
	of := q.Handle
	for a := range attributes(q.Options) {
		if a.kind == htbGlobal && len(a.data) >= 12 {
			of = q.Handle&0xffff0000 | native.Uint32(a.data[8:])&0xffff
		}
	}
	class, known := byID[of]
	if !known {
		return Shape{}
	}
	if filters {
		for _, class := range classes {
			if class.parent == qdiscRoot {
				s.Rate, s.Overhead = s.Rate+class.ceil.Rate, class.ceil.Overhead
			}
		}
		return s
	}
	for s = class.ceil; known; class, known = byID[class.parent] {
		if class.ceil.Rate < s.Rate {
			s = class.ceil
		}
		delete(byID, class.id) // each once
	}
	return s
}
