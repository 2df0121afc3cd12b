package netlink

import (
	"bytes"
	"encoding/binary"
	"iter"
	"net/netip"
)

// attribute is a netlink attribute: struct nlattr and its payload.
type attribute struct {
	kind uint16 // without the flags for nesting and byte order
	data []byte
}

const attributeHeader = 4

func align(n int) int { return (n + 3) &^ 3 }

// attributes iterates over a sequence of attributes. It stops at the first malformed one.
func attributes(b []byte) iter.Seq[attribute] {
	return func(yield func(attribute) bool) {
		for len(b) >= attributeHeader {
			size := int(binary.NativeEndian.Uint16(b))
			if size < attributeHeader || size > len(b) {
				return
			}
			kind := binary.NativeEndian.Uint16(b[2:]) & 0x3fff
			if !yield(attribute{kind, b[attributeHeader:size]}) {
				return
			}
			b = b[min(align(size), len(b)):]
		}
	}
}

// byKind returns attributes by kind, the last one of each.
func byKind(b []byte) map[uint16]attribute {
	m := map[uint16]attribute{}
	for a := range attributes(b) {
		m[a.kind] = a
	}
	return m
}

// within returns the attribute inside of nested ones, given their kinds from the outermost on. Without data: there is
// none.
func within(b []byte, kinds ...uint16) (a attribute) {
	for _, kind := range kinds {
		a = byKind(b)[kind]
		b = a.data
	}
	return a
}

// appendAttribute appends an attribute with its padding.
func appendAttribute(b []byte, kind uint16, data []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(attributeHeader+len(data)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(b, data...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func appendUint32(b []byte, kind uint16, value uint32) []byte {
	return appendAttribute(b, kind, binary.NativeEndian.AppendUint32(nil, value))
}

func appendUint64(b []byte, kind uint16, value uint64) []byte {
	return appendAttribute(b, kind, binary.NativeEndian.AppendUint64(nil, value))
}

func appendText(b []byte, kind uint16, text string) []byte {
	return appendAttribute(b, kind, append([]byte(text), 0))
}

// octet returns a number of one byte. 0: it has none.
func (a attribute) octet() int {
	if len(a.data) == 0 {
		return 0
	}
	return int(a.data[0])
}

func (a attribute) uint16() int {
	if len(a.data) < 2 {
		return 0
	}
	return int(binary.NativeEndian.Uint16(a.data))
}

func (a attribute) uint32() uint32 {
	if len(a.data) < 4 {
		return 0
	}
	return binary.NativeEndian.Uint32(a.data)
}

func (a attribute) uint64() uint64 {
	if len(a.data) < 8 {
		return 0
	}
	return binary.NativeEndian.Uint64(a.data)
}

// addr returns an IPv4 or IPv6 address; the zero Addr if it is neither.
func (a attribute) addr() netip.Addr {
	addr, _ := netip.AddrFromSlice(a.data)
	return addr
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// counter returns the i-th 64-bit counter of a statistics structure. 0: the structure of this
// kernel is shorter.
func counter(b []byte, i int) uint64 {
	if len(b) < 8*(i+1) {
		return 0
	}
	return binary.NativeEndian.Uint64(b[8*i:])
}
