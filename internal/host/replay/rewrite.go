package replay

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"linerate/internal/model/checksum"
)

// Rewrite lists the changes to each frame before it is transmitted.
type Rewrite struct {
	Source, Destination net.HardwareAddr // Ethernet addresses; nil: as in the file
	Addresses           []Mapping        // for both addresses of an IP header; the first that matches applies
}

// Mapping replaces one address prefix by another of the same length.
type Mapping struct{ From, To netip.Prefix }

// ParseMapping parses OLD=NEW: two addresses, or two prefixes of the same length.
func ParseMapping(text string) (m Mapping, err error) {
	from, to, found := strings.Cut(text, "=")
	if found {
		if m.From, err = prefix(from); err == nil {
			m.To, err = prefix(to)
		}
	}
	if !found || err != nil || m.From.Bits() != m.To.Bits() || m.From.Addr().BitLen() != m.To.Addr().BitLen() {
		return m,
			fmt.Errorf(
				"%.60q: expected two addresses or two prefixes of one length, such as 10.0.0.1=192.0.2.1 or "+
					"10.0.0.0/24=192.0.2.0/24", text)
	}
	return m, nil
}

func prefix(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// Apply changes a frame and its checksums. Addresses inside the IP payload, as in ICMP messages, and in ARP
// stay.
func (r Rewrite) Apply(b []byte) {
	copy(b, r.Destination)
	copy(b[6:], r.Source)
	if len(r.Addresses) == 0 {
		return
	}
	h := parse(b)
	if h.ip == 0 {
		return
	}
	check := h.check(b)
	for _, at := range []int{h.addr, h.addr + h.addrLen} {
		was := b[at : at+h.addrLen]
		address, _ := netip.AddrFromSlice(was)
		for _, m := range r.Addresses {
			if !m.From.Contains(address) {
				continue
			}
			now := m.replace(address).AsSlice()
			if !h.six {
				checksum.Update(b[h.ip+10:], was, now)
			}
			if check != 0 {
				checksum.Update(b[check:], was, now)
				if h.protocol == udp && b[check] == 0 && b[check+1] == 0 {
					b[check], b[check+1] = 0xff, 0xff
				}
			}
			copy(was, now)
			break
		}
	}
}

// replace returns a with its prefix replaced by To.
func (m Mapping) replace(a netip.Addr) netip.Addr {
	b, to := a.AsSlice(), m.To.Addr().AsSlice()
	for i := range b {
		bits := min(8, max(0, m.To.Bits()-8*i))
		mask := byte(0xff << (8 - bits))
		b[i] = to[i]&mask | b[i]&^mask
	}
	replaced, _ := netip.AddrFromSlice(b)
	return replaced
}
