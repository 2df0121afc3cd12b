//go:build !portable

package netlink

import (
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/model/unit"
)

// spec is a struct tc_ratespec.
func spec(overhead int16, bytesPerS uint32) []byte {
	b := native.AppendUint16([]byte{0, 1}, uint16(overhead))
	return native.AppendUint32(append(b, 0, 0, 0, 0), bytesPerS)
}

// TestShape: rates and overheads of the kinds that have them, as the kernel lists them.
func TestShape(t *testing.T) {
	bytes := func(words ...uint32) (b []byte) {
		for _, w := range words {
			b = native.AppendUint32(b, w)
		}
		return b
	}
	const mbyte = 1e6
	tbf := append(append(spec(4, 100*mbyte), make([]byte, rateSpec)...), make([]byte, 12)...)
	// 1 ms at the rate
	bucket := append(append(spec(0, 100*mbyte), make([]byte, rateSpec)...), bytes(0, uint32(1e6/psched()), 0)...)
	for _, test := range []struct {
		name, kind string
		options    []byte
		want       Shape
	}{
		{"tbf", "tbf", appendAttribute(nil, tbfParameters, tbf), Shape{Rate: 800e6, Overhead: 4}},
		{"tbf above 34 Gbit/s", "tbf", appendUint64(appendAttribute(nil, tbfParameters, tbf), tbfRate64, 5e9),
			Shape{Rate: 40e9, Overhead: 4}},
		{"tbf with a bucket", "tbf", appendAttribute(nil, tbfParameters, bucket), Shape{Rate: 800e6, Burst: 100_000}},
		{"cake", "cake", appendUint32(appendUint32(appendUint64(nil, cakeRate64, 2*mbyte), cakeOverhead, 0), cakeRaw,
			0), Shape{Rate: 16e6}},
		{"cake with overhead", "cake", appendUint32(appendUint64(nil, cakeRate64, 2*mbyte), cakeOverhead, 18),
			Shape{Rate: 16e6, Overhead: 4}},
		{"cake that is unlimited", "cake", appendUint32(appendUint64(nil, cakeRate64, 0), cakeRaw, 0), Shape{}},
		{"netem", "netem", appendAttribute(make([]byte, netemParameters), netemRate, bytes(mbyte, 20, 0, 0)),
			Shape{Rate: 8e6, Overhead: 20}},
		{"netem without a rate", "netem", make([]byte, netemParameters), Shape{}},
		{"netem's rate of linerate's", "netem", appendAttribute(make([]byte, netemParameters), netemRate,
			bytes(4e9, 0, 0, 0)), Shape{}},
		{"fq_codel", "fq_codel", nil, Shape{}},
		{"too short", "netem", []byte{1}, Shape{}},
		{"too short", "tbf", appendAttribute(nil, tbfParameters, []byte{1}), Shape{}},
	} {
		got, err := (*Conn)(nil).Shape(Qdisc{Kind: test.kind, Options: test.options})
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
}

// TestHTBShape: what the default class has by borrowing from those above it, within its
// ceiling; with filters, all classes; none where packets of no class pass.
func TestHTBShape(t *testing.T) {
	q := Qdisc{Kind: "htb", Handle: 1 << 16, Options: appendAttribute(nil, htbGlobal,
		[]byte{3, 0, 0, 0, 10, 0, 0, 0, 0x20, 0, 0, 0})}
	class := func(minor, parent uint32, rate, ceil unit.BitRate) htbClass {
		return htbClass{id: 1<<16 | minor, parent: parent, rate: Shape{Rate: rate}, ceil: Shape{Rate: ceil}}
	}
	const top = 1<<16 | 1
	classes := []htbClass{class(1, qdiscRoot, 100e6, 100e6), class(0x10, top, 80e6, 80e6),
		class(0x20, top, 10e6, 200e6), class(2, qdiscRoot, 5e6, 8e6)}
	for _, test := range []struct {
		name    string
		classes []htbClass
		filters bool
		want    unit.BitRate
	}{
		{"the parent has less than the ceiling", classes, false, 100e6},
		{"with filters", classes, true, 105e6},
		{"without the default class", classes[:2], false, 0},
		{"a root class", []htbClass{class(0x20, qdiscRoot, 20e6, 80e6)}, false, 20e6},
		{"a root class with filters", []htbClass{class(0x20, qdiscRoot, 20e6, 80e6)}, true, 20e6},
		{"a ceiling below the rate", []htbClass{class(0x20, qdiscRoot, 20e6, 10e6)}, false, 10e6},
		{"the class's own ceiling", []htbClass{class(1, qdiscRoot, 100e6, 100e6), class(0x20, top, 20e6, 80e6)},
			false, 80e6},
		{"a root's rate, not its ceiling", []htbClass{class(1, qdiscRoot, 40e6, 90e6), class(0x20, top, 20e6, 80e6)},
			false, 40e6},
		{"more of its own than its parent has", []htbClass{class(1, qdiscRoot, 40e6, 40e6),
			class(0x20, top, 70e6, 80e6)}, false, 70e6},
		{"the same with filters", []htbClass{class(1, qdiscRoot, 40e6, 40e6), class(0x20, top, 70e6, 80e6),
			class(0x30, top, 10e6, 80e6)}, true, 80e6},
		{"a parent's ceiling", []htbClass{class(1, qdiscRoot, 90e6, 90e6), class(3, top, 10e6, 30e6),
			class(0x20, 1<<16|3, 5e6, 80e6)}, false, 30e6},
		{"a loop", []htbClass{class(0x20, 1<<16|0x20, 7e6, 7e6)}, false, 7e6},
	} {
		if got := htbShape(q, test.classes, test.filters); got.Rate != test.want {
			t.Errorf("%s: %v, want %v", test.name, got.Rate, test.want)
		}
	}
}

// TestHTBClassOf: the rates of a class above 34 Gbit/s are in attributes of their own, which
// may come before or after the others.
func TestHTBClassOf(t *testing.T) {
	parameters := append(spec(4, 100e6), spec(4, 1<<32-1)...)
	large := appendUint64(nil, htbCeil64, 5e9)
	for _, options := range [][]byte{append(appendAttribute(nil, htbParameters, parameters), large...),
		append(large, appendAttribute(nil, htbParameters, parameters)...)} {
		c := htbClassOf(appendAttribute(tcmsg(1, 1<<16|1, qdiscRoot), unix.TCA_OPTIONS, options))
		if c.id != 1<<16|1 || c.parent != qdiscRoot || c.rate != (Shape{Rate: 800e6, Overhead: 4}) ||
			c.ceil != (Shape{Rate: 40e9, Overhead: 4}) {
			t.Errorf("%+v", c)
		}
	}
}
