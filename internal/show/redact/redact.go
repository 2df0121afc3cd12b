// Package redact replaces addresses and names in snapshots that are to be shown to others.
//
// Addresses are replaced bit by bit by a function of the key and of the bits before, so that
// two addresses share as long a prefix afterwards as before (Xu, Fan, Ammar, Moon:
// "Prefix-Preserving IP Address Anonymization", 2002). MAC addresses keep their vendor. Names
// of interfaces, programs, kernels and files stay.
package redact

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"linerate/internal/model/record"
)

// Snapshots returns a function that returns a snapshot with everything replaced, and Redacted
// set: in all snapshots that it is called with, an address or a name by the same one.
func Snapshots(key [32]byte) func(record.HostSnapshot) (record.HostSnapshot, error) {
	return redactor{key: key, names: map[string]string{}}.snapshot
}

func (r redactor) snapshot(s record.HostSnapshot) (redacted record.HostSnapshot, err error) {
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
		if !addressed.MatchString(n.Chassis) {
			r.name(n.Chassis, "host")
		}
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
	r.found = r.tokens()
	if text, err = json.Marshal(r.value(tree)); err != nil {
		return redacted, err
	}
	if err := json.Unmarshal(text, &redacted); err != nil {
		return redacted, err
	}
	redacted.Schema, redacted.Version, redacted.Redacted = s.Schema, s.Version, true
	return redacted, nil
}

type redactor struct {
	key   [32]byte
	names map[string]string
	found *regexp.Regexp // of tokens
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

// address finds MAC addresses and what is longer (IPoIB, the MAC= of netfilter's log), in the
// notations of ip(8), of Windows and of switches, and what an IP address consists of.
const address = `\b[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5,}\b|\b[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2}\b|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?:\b[0-9a-fA-F]+)?:[0-9a-fA-F:]*:[0-9a-fA-F:.]*`

var (
	addressed = regexp.MustCompile(address)
	pairs     = regexp.MustCompile(`^(?:[0-9a-fA-F]{2}[:-]){5,}[0-9a-fA-F]{2}$|^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2}$`)
)

// tokens finds addresses and, as whole words, names; of names that begin alike the longest. A
// name without a letter may be any number: it is replaced only where it is all of a text.
func (r redactor) tokens() *regexp.Regexp {
	names := slices.SortedFunc(maps.Keys(r.names), func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	all := address
	for _, name := range names {
		if strings.ContainsFunc(name, unicode.IsLetter) {
			all += "|" + wordEdge(name[:1]) + regexp.QuoteMeta(name) + wordEdge(name[len(name)-1:])
		}
	}
	return regexp.MustCompile(all)
}

// wordEdge is the edge of a word beside one of its characters; empty: that ends no word.
func wordEdge(character string) string {
	if word.MatchString(character) {
		return `\b`
	}
	return ""
}

var word = regexp.MustCompile(`^\w$`)

func (r redactor) text(text string) string {
	if replaced, is := r.names[text]; is {
		return replaced
	}
	return r.found.ReplaceAllStringFunc(text, func(found string) string {
		// A colon before an address ends a word; behind it there may be a port or punctuation.
		begin := len(found) - len(strings.TrimPrefix(found, ":"))
		if strings.HasPrefix(found, "::") {
			begin = 0
		}
		if run := strings.TrimRight(found[begin:], ":."); pairs.MatchString(run) {
			return found[:begin] + r.hardware(run) + found[begin+len(run):]
		}
		for end := len(found); end > begin; end-- {
			if addr, err := netip.ParseAddr(found[begin:end]); err == nil {
				return found[:begin] + r.address(addr).String() + found[end:]
			}
		}
		return cmp.Or(r.names[found], found)
	})
}

// hardware replaces an address of a link, in its notation: the identifier at the end of one of
// InfiniBand (RFC 4391, section 9.1.1) or of 8 bytes, and otherwise each 6 bytes.
func (r redactor) hardware(text string) string {
	octets, err := hex.DecodeString(strings.NewReplacer(":", "", "-", "", ".", "").Replace(text))
	if err != nil {
		return text
	}
	switch len(octets) {
	case 8, 20:
		r.identifier(octets[len(octets)-8:])
	default:
		for n := 0; n+6 <= len(octets); n += 6 {
			r.identifier(octets[n : n+6])
		}
	}
	digits := hex.EncodeToString(octets)
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(":-.", c) {
			return c
		}
		digit := digits[0]
		digits = digits[1:]
		return rune(digit)
	}, text)
}

// identifier keeps the vendor of an address, and broadcasts, multicasts and zeros as they are.
func (r redactor) identifier(octets []byte) {
	if len(octets) == 6 && octets[0]&1 == 1 || !slices.ContainsFunc(octets, func(b byte) bool { return b != 0 }) {
		return
	}
	h := hmac.New(sha256.New, r.key[:])
	fmt.Fprintf(h, "mac %x", octets)
	copy(octets[3:], h.Sum(nil))
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
