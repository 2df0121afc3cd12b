package topology

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Address is one address or a range of aliases on an interface, written
// 192.168.1.15/24 or 192.168.2.1-254/16 (the part after the dash replaces the
// last number) or 10.0.0.1-10.0.3.250/8.
type Address struct {
	First, Last netip.Addr
	Bits        int
}

// maxAliases limits a range: to the kernel each alias is a separate address.
const maxAliases = 65536

// Contains reports whether addr is one of the addresses of the range.
func (a Address) Contains(addr netip.Addr) bool {
	return a.First.Compare(addr) <= 0 && addr.Compare(a.Last) <= 0
}

// Prefix returns the first address with the prefix length.
func (a Address) Prefix() netip.Prefix { return netip.PrefixFrom(a.First, a.Bits) }

// Number returns the number of addresses in the range.
func (a Address) Number() int { return size(a) }

// Prefixes lists the range's addresses, each with the prefix length.
func (a Address) Prefixes() []netip.Prefix {
	var list []netip.Prefix
	for addr := a.First; addr.IsValid() && addr.Compare(a.Last) <= 0; addr = addr.Next() {
		list = append(list, netip.PrefixFrom(addr, a.Bits))
	}
	return list
}

// String formats the address as a study file does; ParseAddress is the inverse.
func (a Address) String() string { return fmt.Sprintf("%s/%d", a.Range(), a.Bits) }

// Range formats the address, or the range, without the prefix length.
func (a Address) Range() string {
	first, last := a.First.String(), a.Last.String()
	if a.First == a.Last {
		return first
	}
	// The last number alone, where it is all that differs.
	if a.First.Is4() {
		if dot := strings.LastIndex(last, "."); strings.HasPrefix(first, last[:dot+1]) {
			last = last[dot+1:]
		}
	}
	return first + "-" + last
}

// MarshalText implements encoding.TextMarshaler.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Address) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAddress(string(text))
	return err
}

// JSONSchema returns the schema of the spelling, for editors.
func (Address) JSONSchema() map[string]any {
	return unit.Schema("string", `^[0-9a-fA-F:.]+(-[0-9a-fA-F:.]+)?/[0-9]+$`, "192.168.1.15/24", "192.168.2.1-254/16",
		"fd00::15/64")
}

// ParseAddress parses an address or a range of addresses with its prefix length.
func ParseAddress(text string) (Address, error) {
	wrong := func(why string) (Address, error) {
		return Address{}, fmt.Errorf("%q is not an address of an interface: %s", text, why)
	}
	const such = "expected one with a prefix length, such as 192.168.1.15/24 or 192.168.2.1-254/16"
	span, length, slash := strings.Cut(strings.TrimSpace(text), "/")
	if !slash {
		if _, err := netip.ParseAddr(span); err == nil {
			return wrong("its prefix length is missing, as in " + span + "/24")
		}
		return wrong(such)
	}
	a, why := parseSpan(span)
	switch why {
	case "":
	case notAddress:
		return wrong(source.AboveByte(text) + such)
	case otherKind:
		return wrong(cmp.Or(spread(span), why+"; "+such))
	default:
		return wrong(why)
	}
	var err error
	if a.Bits, err = strconv.Atoi(length); err != nil || a.Bits < 1 || a.Bits > a.First.BitLen() ||
		strconv.Itoa(a.Bits) != length {
		return wrong(fmt.Sprintf("expected a prefix length from 1 to %d, found %q", a.First.BitLen(), length))
	}
	return a, nil
}

// Results of parseSpan other than a wrong size or direction.
const (
	notAddress = "not an address"
	otherKind  = "the end of the range is not an address of the same kind"
)

// parseSpan parses an address or a range without a prefix length. Why says what is wrong with it.
// Empty: it is valid.
func parseSpan(text string) (a Address, why string) {
	first, last, isRange := strings.Cut(text, "-")
	var err error
	if a.First, err = netip.ParseAddr(first); err != nil || a.First.Zone() != "" || a.First.Is4In6() {
		return a, notAddress
	}
	a.Last, a.Bits = a.First, a.First.BitLen()
	if !isRange {
		return a, ""
	}
	if !strings.ContainsAny(last, ".:") {
		// Only the last number is given.
		separator := "."
		if a.First.Is6() {
			separator = ":"
		}
		last = first[:strings.LastIndex(first, separator)+1] + last
	}
	switch a.Last, err = netip.ParseAddr(last); {
	case err != nil || a.Last.Zone() != "" || a.Last.Is4() != a.First.Is4():
		return a, otherKind
	case a.Last.Less(a.First):
		return a, "the range runs backwards"
	case size(a) > maxAliases:
		return a, fmt.Sprintf("the range has more than %d addresses", maxAliases)
	}
	return a, ""
}

// spread explains a range whose end is a number above 255, interpreted as an offset: 10.0.0.10-263
// probably means 10.0.0.10-10.0.1.7. Empty: text is no such range.
func spread(span string) string {
	first, last, _ := strings.Cut(span, "-")
	addr, err := netip.ParseAddr(first)
	n, wrong := strconv.ParseUint(last, 10, 16)
	if err != nil || wrong != nil || !addr.Is4() || n <= 255 {
		return ""
	}
	at := addr.As4()
	end := uint64(binary.BigEndian.Uint32(at[:])&^255) + n
	if end > math.MaxUint32 {
		return ""
	}
	binary.BigEndian.PutUint32(at[:], uint32(end))
	return fmt.Sprintf("%d is above 255; a range over several /24 has its last address in full: %s-%s", n, first,
		netip.AddrFrom4(at))
}

// Places expands a range of addresses with an optional port, such as 192.168.2.1-254,
// 10.0.0.1-10.0.3.250:5202 or [fd00::1-ff]:5202, to a list of addresses with that port. Any
// other text is returned unchanged as the only element, since it may be a name.
func Places(text string) ([]string, error) {
	span, port := text, ""
	if inner, bracketed := strings.CutPrefix(text, "["); bracketed {
		if span, port, bracketed = strings.Cut(inner, "]"); !bracketed {
			return []string{text}, nil
		}
	} else if i := strings.LastIndexByte(text, ':'); i >= 0 && strings.Count(text, ":") == 1 {
		span, port = text[:i], text[i:]
	}
	if !strings.Contains(span, "-") {
		return []string{text}, nil
	}
	a, why := parseSpan(span)
	switch why {
	case "":
	case notAddress:
		return []string{text}, nil
	default:
		return nil, fmt.Errorf("%q: %s", text, cmp.Or(spread(span), why+"; expected one such as 192.168.2.1-254"))
	}
	var list []string
	for _, p := range a.Prefixes() {
		one := p.Addr().String()
		if p.Addr().Is6() && port != "" {
			one = "[" + one + "]"
		}
		list = append(list, one+port)
	}
	return list, nil
}

// size counts the addresses of a range, up to maxAliases + 1.
func size(a Address) int {
	first, last := new(big.Int).SetBytes(a.First.AsSlice()), new(big.Int).SetBytes(a.Last.AsSlice())
	distance := last.Sub(last, first)
	if !distance.IsInt64() || distance.Int64() > maxAliases {
		return maxAliases + 1
	}
	return int(distance.Int64()) + 1
}
