// Package redact replaces addresses and names in snapshots that are to be shown to others.
//
// Addresses are replaced bit by bit by a function of the key and of the bits before, so that
// two addresses share as long a prefix afterwards as before (Xu, Fan, Ammar, Moon:
// "Prefix-Preserving IP Address Anonymization", 2002). MAC addresses keep their vendor. Names
// of interfaces, programs, kernels and files stay.
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"linerate/internal/model/record"
)

// Snapshot returns the snapshot with everything replaced, and Redacted set. The same key
// replaces an address by the same one.
func Snapshot(s record.HostSnapshot, key [32]byte) (redacted record.HostSnapshot, err error) {
	text, err := json.Marshal(s)
	if err != nil {
		return redacted, err
	}
	var tree any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return redacted, err
	}
	r := redactor{key: key, names: map[string]string{}}
	r.name(s.Reading.Host, "host")
	r.name(s.Host.Host, "host")
	named := map[string]bool{}
	for _, n := range s.State.LLDP {
		named[n.Port] = true
	}
	for _, i := range s.Reading.Snapshot.Interfaces {
		named[i.Interface] = true
	}
	for _, n := range s.State.LLDP {
		r.name(n.System, "host")
		if !named[n.PortDescription] { // names of interfaces stay
			r.name(n.PortDescription, "description")
		}
	}
	for _, p := range s.State.Probes {
		if _, err := netip.ParseAddr(p.Peer); err != nil {
			r.name(p.Peer, "host")
		}
		if p.Reverse != nil {
			r.name(p.Reverse.Name, "host")
		}
	}
	if res := s.State.Resolver; res != nil {
		for _, domain := range res.Search {
			r.name(domain, "domain")
		}
	}
	if text, err = json.Marshal(r.value(tree)); err != nil {
		return redacted, err
	}
	if err := json.Unmarshal(text, &redacted); err != nil {
		return redacted, err
	}
	redacted.Redacted = true
	return redacted, nil
}

type redactor struct {
	key   [32]byte
	names map[string]string
}

// name gives a name a replacement such as host1.
func (r redactor) name(name, kind string) {
	if name == "" || r.names[name] != "" {
		return
	}
	n := 1
	for _, other := range r.names {
		if strings.HasPrefix(other, kind) {
			n++
		}
	}
	r.names[name] = fmt.Sprint(kind, n)
}

func (r redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case []any:
		for i := range v {
			v[i] = r.value(v[i])
		}
	case map[string]any:
		for key, inner := range v {
			v[key] = r.value(inner)
		}
	}
	return v
}

// A token is a MAC address, or what an address consists of.
var token = regexp.MustCompile(`\b[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}\b|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*`)

func (r redactor) text(text string) string {
	if replaced, is := r.names[text]; is {
		return replaced
	}
	return token.ReplaceAllStringFunc(text, func(found string) string {
		if len(found) == 17 && strings.Count(found, ":") == 5 {
			return r.mac(found)
		}
		addr, err := netip.ParseAddr(found)
		if err != nil {
			return found
		}
		return r.address(addr).String()
	})
}

// mac keeps the vendor of an address, and broadcasts and multicasts as they are.
func (r redactor) mac(mac string) string {
	first, err := hex.DecodeString(mac[:2])
	if err != nil || first[0]&1 == 1 || mac == "00:00:00:00:00:00" {
		return mac
	}
	h := hmac.New(sha256.New, r.key[:])
	h.Write([]byte("mac " + strings.ToLower(mac)))
	sum := h.Sum(nil)
	return fmt.Sprintf("%s:%02x:%02x:%02x", mac[:8], sum[0], sum[1], sum[2])
}

// address keeps the bits that say what kind of address it is.
func (r redactor) address(addr netip.Addr) netip.Addr {
	kept := 0
	switch {
	case addr.IsUnspecified(), addr.IsLoopback(), addr.IsMulticast(), addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return addr
	case addr.Is4() && addr.As4()[0] == 0, addr.Is4() && addr.As4()[0] == 255: // a mask
		return addr
	case addr.IsLinkLocalUnicast() && addr.Is4():
		kept = 16
	case addr.IsLinkLocalUnicast():
		kept = 64
	case addr.Is6():
		kept = 8
	}
	bytes := addr.AsSlice()
	out := append([]byte(nil), bytes...)
	for bit := kept; bit < len(bytes)*8; bit++ {
		h := hmac.New(sha256.New, r.key[:])
		fmt.Fprintf(h, "%d %d ", len(bytes), bit)
		prefix := append([]byte(nil), bytes[:bit/8+1]...)
		prefix[bit/8] &^= byte(0xff) >> (bit % 8) // only the bits before
		h.Write(prefix)
		out[bit/8] ^= h.Sum(nil)[0] & 1 << (7 - bit%8)
	}
	redacted, _ := netip.AddrFromSlice(out)
	if redacted.Is4() && (redacted.As4()[0] == 0 || redacted.As4()[0] == 127 || redacted.As4()[0] >= 224) {
		// Of another kind: the first byte is moved into those of ordinary addresses, the same for all.
		b := redacted.As4()
		b[0] = 10 + b[0]%64
		redacted = netip.AddrFrom4(b)
	}
	return redacted.WithZone(addr.Zone())
}
