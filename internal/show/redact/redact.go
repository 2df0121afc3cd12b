// Package redact replaces addresses and names in snapshots that are shown to others.
//
// Addresses are replaced bit by bit by a function of the key and of the preceding bits, so that two
// addresses share a prefix of the same length before and after (Xu, Fan, Ammar, Moon:
// "Prefix-Preserving IP Address Anonymization", 2002). MAC addresses keep their vendor. What a
// diagnosis uses is kept: names of interfaces, kernels, parameters, programs and files.
package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// Snapshots replaces snapshots by redacted copies with Redacted set. An address or a name has the
// same replacement in all of them.
func Snapshots(key [32]byte, list ...*netstate.HostSnapshot) error {
	r := redactor{key: key, names: map[string]string{}, words: map[string]string{}, count: map[string]int{}}
	for _, s := range list {
		redacted, err := r.addresses(*s)
		if err != nil {
			return err
		}
		redacted.Version, redacted.Host.Kernel, redacted.Redacted = s.Version, s.Host.Kernel, true
		*s = redacted
		for _, i := range s.Reading.Snapshot.Interfaces {
			r.words[i.Interface] = i.Interface
		}
		for _, n := range s.State.LLDP {
			r.words[n.Port] = n.Port
		}
		for parameter := range s.State.Parameters {
			r.words[parameter] = parameter
		}
	}
	for _, visitor := range []func(*string, string){r.learn, r.replace} {
		for _, s := range list {
			visit(s, visitor)
		}
	}
	return nil
}

type redactor struct {
	key   [32]byte
	names map[string]string // replacements of strings that are names
	words map[string]string // replacements of names inside strings; a name that is kept maps to itself
	count map[string]int    // number of names by kind
}

// named reports whether a string is a name to be replaced: neither an address nor the name of an
// interface.
func (r redactor) named(text, kind string) bool {
	_, err := netip.ParseAddr(text)
	return kind != "" && text != "" && err != nil && !pairs.MatchString(text) && !(kind == "description" &&
		r.words[text] == text)
}

// learn assigns a replacement such as host1 to a name. A name without a letter could be any number:
// it is only replaced if it is the whole string.
func (r redactor) learn(text *string, kind string) {
	if !r.named(*text, kind) || r.names[*text] != "" {
		return
	}
	r.count[kind]++
	r.names[*text] = fmt.Sprint(kind, r.count[kind])
	if r.words[*text] == "" && strings.ContainsFunc(*text, unicode.IsLetter) {
		r.words[*text] = r.names[*text]
	}
}

func (r redactor) replace(text *string, kind string) {
	if r.named(*text, kind) {
		*text = r.names[*text]
	} else {
		*text = dotted.Regexp().ReplaceAllStringFunc(*text, r.labels)
	}
}

// dotted matches words (which may contain hyphens) joined by dots, and addresses, which have
// already been replaced.
var dotted = pattern.MustCompile(address + `|` + label + `(?:\.` + label + `)*`)

const label = `[\pL\pM\pN_]+(?:-+[\pL\pM\pN_]+)*`

// labels replaces names in words joined by dots: at each word the longest name that begins there.
func (r redactor) labels(text string) string {
	name, rest, more := strings.Cut(text, ".")
	for end := len(text); end > 0; end = strings.LastIndexByte(text[:end], '.') {
		if known := r.words[text[:end]]; known != "" {
			name, rest, more = known, strings.TrimPrefix(text[end:], "."), end < len(text)
			break
		}
	}
	if more {
		return name + "." + r.labels(rest)
	}
	return name
}

// addresses returns a copy of a snapshot with addresses replaced in every string.
func (r redactor) addresses(s netstate.HostSnapshot) (redacted netstate.HostSnapshot, err error) {
	text, err := json.Marshal(s)
	if err != nil {
		return redacted, err
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return redacted, err
	}
	if text, err = json.Marshal(r.value(tree)); err != nil {
		return redacted, err
	}
	return redacted, json.Unmarshal(text, &redacted)
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
		redacted := make(map[string]any, len(v))
		for key, inner := range v {
			redacted[r.text(key)] = r.value(inner) // parameters have the names of interfaces in theirs
		}
		return redacted
	}
	return v
}

// address matches MAC addresses and longer ones (IPoIB, the MAC= of netfilter's log) in the
// notations of ip(8), Windows and switches, and the parts of IP addresses.
const address = `\b[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5,}\b|\b[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2}\b|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?:\b[0-9a-fA-F]+)?:[0-9a-fA-F:]*:[0-9a-fA-F:.]*`

var (
	addressed = pattern.MustCompile(address + `\w*`) // with the rest of the word: std::foo contains no address
	// pairs matches a link-layer address: an even number of octets, after a word that may look like
	// another octet ("add:"), before punctuation.
	pairs = pattern.MustCompile(
		`^([0-9a-fA-F]*[:-])??((?:[0-9a-fA-F]{2}[:-][0-9a-fA-F]{2}[:-]){2,}[0-9a-fA-F]{2}[:-][0-9a-fA-F]{2}|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2})([:.]*)$`)
)

// spelled matches addresses that are written in hexadecimal digits without separators: those of nft(8) and tc(8), and
// the MAC address in the name of an interface (systemd.net-naming-scheme(7)).
var spelled = pattern.MustCompile(`\b(0x|enx)([0-9a-fA-F]{32}|[0-9a-fA-F]{12}|[0-9a-fA-F]{8})\b`)

// digits replaces addresses in hexadecimal digits. A number with the first byte 0, such as a mark, stays.
func (r redactor) digits(text string) string {
	return spelled.Regexp().ReplaceAllStringFunc(text, func(found string) string {
		part := spelled.FindStringSubmatch(found)
		octets, err := hex.DecodeString(part[2])
		if err != nil {
			return found
		}
		if addr, is := netip.AddrFromSlice(octets); is {
			octets = r.address(addr).AsSlice()
		} else {
			r.identifier(octets)
		}
		return part[1] + hex.EncodeToString(octets)
	})
}

func (r redactor) text(text string) string {
	return addressed.Regexp().ReplaceAllStringFunc(r.digits(text), func(found string) string {
		if part := pairs.FindStringSubmatch(found); part != nil {
			return part[1] + r.hardware(part[2]) + part[3]
		}
		// A colon before an address ends a word. After the address there may be a port or
		// punctuation.
		for _, begin := range []int{0, strings.IndexByte(found, ':') + 1} {
			for end := len(found); end > begin; end-- {
				if end < len(found) && found[end] != ':' && found[end] != '.' {
					continue
				}
				if addr, err := netip.ParseAddr(found[begin:end]); err == nil {
					return found[:begin] + r.address(addr).String() + found[end:]
				}
			}
		}
		return found
	})
}

// hardware replaces a link-layer address in its notation: the identifier at the end of an
// InfiniBand address (RFC 4391, section 9.1.1) or of an address of 8 bytes, otherwise each 6 bytes.
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

// identifier keeps the vendor of an address, and broadcast, multicast and zero addresses.
func (r redactor) identifier(octets []byte) {
	if len(octets) == 6 && octets[0]&1 == 1 || !slices.ContainsFunc(octets, func(b byte) bool { return b != 0 }) {
		return
	}
	h := hmac.New(sha256.New, r.key[:])
	fmt.Fprintf(h, "mac %x", octets)
	copy(octets[3:], h.Sum(nil))
}

// address keeps the bits that determine the kind of address.
func (r redactor) address(addr netip.Addr) netip.Addr {
	kept := 0
	switch {
	case addr.IsUnspecified(), addr.IsLoopback(), addr.IsMulticast(),
		addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
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
		prefix[bit/8] &^= byte(0xff) >> (bit % 8) // only the preceding bits
		h.Write(prefix)
		out[bit/8] ^= h.Sum(nil)[0] & 1 << (7 - bit%8)
	}
	redacted, _ := netip.AddrFromSlice(out)
	if redacted.Is4() && (redacted.As4()[0] == 0 || redacted.As4()[0] == 127 || redacted.As4()[0] >= 224) {
		// The result has another kind: its first byte is mapped to those of ordinary addresses, in
		// the same way for all.
		b := redacted.As4()
		b[0] = 10 + b[0]%64
		redacted = netip.AddrFrom4(b)
	}
	return redacted.WithZone(addr.Zone())
}
