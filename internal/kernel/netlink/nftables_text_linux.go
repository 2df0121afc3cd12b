//go:build !portable

package netlink

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"linerate/internal/model/plain"
)

// nftText formats a rule as nft(8) prints it, from its expressions: loads into registers, and what
// is done with them (linux/netfilter/nf_tables.h).
type nftText struct {
	family  byte
	words   []string
	loads   []nftLoad // contents of the registers
	network string    // ip, ip6: from the family or from what was matched
	l4      string    // tcp, udp, …
	implied []string  // matches that a field of that header implies: "meta l4proto tcp"
	verdict string
}

// nftLoad describes the content of a register.
type nftLoad struct {
	register uint32
	name     string // "tcp dport"
	format   func(nftText, []byte) string
	whole    int    // length of a field if only its first bytes were loaded
	mask     []byte // mask that was applied
	used     bool
}

// longestNftText limits the text of a rule, in characters.
const longestNftText = 500

func (t nftText) String() string { return plain.Short(strings.Join(t.words, " "), longestNftText) }

func (t *nftText) say(format string, values ...any) {
	t.words = append(t.words, fmt.Sprintf(format, values...))
}

// settle prints the matches that no field has implied.
func (t *nftText) settle() {
	t.words, t.implied = append(t.words, t.implied...), nil
}

// saidBy drops the matches that a field of these headers implies.
func (t *nftText) saidBy(headers ...string) {
	t.implied = slices.DeleteFunc(t.implied, func(match string) bool {
		_, value, _ := strings.Cut(strings.TrimPrefix(match, "meta "), " ")
		value = cmp.Or(map[string]string{"ipv4": "ip", "ipv6": "ip6"}[value], value)
		return slices.Contains(headers, value)
	})
}

// keep stores a load in its register.
func (t *nftText) keep(l nftLoad) {
	t.loads = append(slices.DeleteFunc(t.loads, func(o nftLoad) bool { return o.register == l.register }), l)
}

// take returns the content of a register and marks it as used.
func (t *nftText) take(register uint32) (nftLoad, bool) {
	i := slices.IndexFunc(t.loads, func(l nftLoad) bool { return l.register == register })
	if i < 0 {
		return nftLoad{name: "[?]", format: nftHex}, false
	}
	t.loads[i].used = true
	return t.loads[i], true
}

// value returns the data of an attribute that contains NFTA_DATA_VALUE.
func (a attribute) value() []byte { return within(a.data, unix.NFTA_DATA_VALUE).data }

// nftResults maps expressions to the attribute with the register that they write.
var nftResults = map[string]uint16{
	"payload": unix.NFTA_PAYLOAD_DREG, "meta": unix.NFTA_META_DREG, "ct": unix.NFTA_CT_DREG,
	"bitwise": unix.NFTA_BITWISE_DREG, "byteorder": unix.NFTA_BYTEORDER_DREG,
	"numgen": unix.NFTA_NG_DREG, "hash": unix.NFTA_HASH_DREG, "fib": unix.NFTA_FIB_DREG, "rt": unix.NFTA_RT_DREG,
	"exthdr": unix.NFTA_EXTHDR_DREG,
	"socket": 2, "tunnel": 2, "osf": 1, "xfrm": 1, // NFTA_SOCKET_DREG, NFTA_TUNNEL_DREG, NFTA_OSF_DREG, NFTA_XFRM_DREG
}

// add adds an expression. An expression that is not supported and writes a register leaves its name
// in brackets there, so that the old content is not printed.
func (t *nftText) add(name string, data []byte) {
	a := byKind(data)
	result, writes := nftResults[name]
	writes = writes && a[result].data != nil
	switch name {
	case "payload", "meta", "ct":
		if !writes {
			t.settle()
			t.say("[%s set]", name)
			return
		}
		t.load(name, a)
		return
	case "bitwise": // only masks are supported
		l, known := t.take(a[unix.NFTA_BITWISE_SREG].bigUint32())
		if mask := a[unix.NFTA_BITWISE_MASK].value(); writes && known && len(l.mask) == 0 && len(mask) > 0 &&
			len(bytes.Trim(a[unix.NFTA_BITWISE_XOR].value(), "\x00")) == 0 {
			l.register, l.mask, l.used = a[result].bigUint32(), mask, false
			t.keep(l)
			return
		}
	case "byteorder": // to network byte order, in which numbers can be compared
		if l, known := t.take(a[unix.NFTA_BYTEORDER_SREG].bigUint32()); writes && known && len(l.mask) == 0 {
			l.register, l.format, l.used = a[result].bigUint32(), nftNumber, false
			t.keep(l)
			return
		}
	case "hash":
		t.take(a[unix.NFTA_HASH_SREG].bigUint32())
	case "numgen":
		text := fmt.Sprintf("numgen %s mod %d",
			map[bool]string{true: "random", false: "inc"}[a[unix.NFTA_NG_TYPE].bigUint32() == 1],
			a[unix.NFTA_NG_MODULUS].bigUint32())
		if offset := a[unix.NFTA_NG_OFFSET].bigUint32(); offset > 0 {
			text += fmt.Sprint(" offset ", offset)
		}
		t.keep(nftLoad{register: a[result].bigUint32(), name: text, format: nftNative})
		return
	case "cmp":
		t.compare(a)
		return
	case "range":
		t.settle()
		l, _ := t.take(a[unix.NFTA_RANGE_SREG].bigUint32())
		l = l.masked()
		not := map[bool]string{true: "!= "}[a[unix.NFTA_RANGE_OP].bigUint32() == 1]
		t.say("%s %s%s-%s", l.name, not, l.format(*t, a[unix.NFTA_RANGE_FROM_DATA].value()),
			l.format(*t, a[unix.NFTA_RANGE_TO_DATA].value()))
		return
	case "lookup":
		t.settle()
		var keys []string
		for _, l := range t.loads {
			if !l.used {
				keys = append(keys, l.name)
			}
		}
		t.loads = nil
		set, kind := nftName(a[unix.NFTA_LOOKUP_SET]), ""
		switch dreg := a[unix.NFTA_LOOKUP_DREG]; {
		case dreg.data != nil && dreg.bigUint32() == 0:
			kind, t.verdict = "vmap ", "vmap"
		case dreg.data != nil:
			kind = "map "
		case a[unix.NFTA_LOOKUP_FLAGS].bigUint32()&1 != 0:
			kind = "!= "
		}
		t.say("%s %s@%s", strings.Join(keys, " . "), kind, set)
		return
	}
	if writes {
		t.keep(nftLoad{register: a[result].bigUint32(), name: "[" + name + "]", format: nftHex})
		return
	}
	t.settle()
	t.act(name, a)
}

// act adds an expression that does something, or one that is printed by its name.
func (t *nftText) act(name string, a map[uint16]attribute) {
	switch name {
	case "immediate":
		verdict := byKind(within(a[unix.NFTA_IMMEDIATE_DATA].data, unix.NFTA_DATA_VERDICT).data)
		if verdict[unix.NFTA_VERDICT_CODE].data == nil {
			t.keep(nftLoad{register: a[unix.NFTA_IMMEDIATE_DREG].bigUint32(), name: "[immediate]", format: nftHex,
				used: true})
			t.say("[immediate]")
			return
		}
		code := int32(verdict[unix.NFTA_VERDICT_CODE].bigUint32())
		if code > 0 {
			code &= 0xff // NF_VERDICT_MASK: the number of a queue is in the higher bits
		}
		t.verdict = map[int32]string{0: "drop", 1: "accept", 3: "queue", -1: "continue", -2: "break", -3: "jump",
			-4: "goto", -5: "return"}[code]
		t.say("%s", strings.TrimSpace(cmp.Or(t.verdict, "[verdict]")+" "+nftName(verdict[unix.NFTA_VERDICT_CHAIN])))
	case "counter":
		t.say("counter")
	case "reject":
		t.verdict = "reject"
		t.say("%s", map[bool]string{true: "reject with tcp reset",
			false: "reject"}[a[unix.NFTA_REJECT_TYPE].bigUint32() == 1])
	case "limit":
		unit := map[uint64]string{1: "second", 60: "minute", 3600: "hour", 86400: "day",
			604800: "week"}[a[unix.NFTA_LIMIT_UNIT].bigUint64()]
		over := map[bool]string{true: "over "}[a[unix.NFTA_LIMIT_FLAGS].bigUint32()&1 != 0]
		bytes := map[bool]string{true: " bytes"}[a[unix.NFTA_LIMIT_TYPE].bigUint32() == 1]
		t.say("limit rate %s%d%s/%s", over, a[unix.NFTA_LIMIT_RATE].bigUint64(), bytes, cmp.Or(unit, "[unit]"))
	case "quota":
		t.say("quota %s%d bytes", map[bool]string{true: "over "}[a[unix.NFTA_QUOTA_FLAGS].bigUint32()&1 != 0],
			a[unix.NFTA_QUOTA_BYTES].bigUint64())
	case "connlimit":
		// NFTA_CONNLIMIT_FLAGS, _COUNT
		t.say("ct count %s%d", map[bool]string{true: "over "}[a[2].bigUint32()&1 != 0], a[1].bigUint32())
	case "log":
		t.say("log")
		if prefix := nftName(a[unix.NFTA_LOG_PREFIX]); prefix != "" {
			t.say("prefix %q", prefix)
		}
	case "objref":
		t.say("%s name %q", cmp.Or(map[uint32]string{1: "counter", 2: "quota", 3: "ct helper",
			4: "limit"}[a[unix.NFTA_OBJREF_IMM_TYPE].bigUint32()], "[object]"), nftName(a[unix.NFTA_OBJREF_IMM_NAME]))
	case "dynset":
		t.loads = nil
		t.say("add @%s", nftName(a[unix.NFTA_DYNSET_SET_NAME]))
	case "match", "target": // from iptables-nft
		module := nftName(a[unix.NFTA_TARGET_NAME]) // NFTA_MATCH_NAME has the same number
		if name == "target" {
			t.verdict = map[string]string{"REJECT": "reject", "DROP": "drop"}[module]
		}
		t.say("xt %s %s", name, module)
	default:
		t.loads = nil // it may write any register
		t.say("[%s]", cmp.Or(name, "?"))
	}
}

// masked returns the load with its mask in the name.
func (l nftLoad) masked() nftLoad {
	if len(l.mask) > 0 {
		l.name, l.format = fmt.Sprintf("%s & 0x%x", l.name, l.mask), nftHex
	}
	return l
}

// compare adds a comparison of a register with a value.
func (t *nftText) compare(a map[uint16]attribute) {
	l, _ := t.take(a[unix.NFTA_CMP_SREG].bigUint32())
	value, op := a[unix.NFTA_CMP_DATA].value(), a[unix.NFTA_CMP_OP].bigUint32()
	if len(l.mask) > 0 && op <= 1 {
		switch bits := nftPrefix(l.mask); {
		case l.name == "ct state" && op == 1 && len(bytes.Trim(value, "\x00")) == 0: // any of these bits
			t.settle()
			t.say("%s %s", l.name, l.format(*t, l.mask))
			return
		case bits >= 0 && nftAddressed(value):
			t.settle()
			t.say("%s %s%s/%d", l.name, map[uint32]string{1: "!= "}[op], l.format(*t, value), bits)
			return
		}
	}
	l = l.masked()
	text := ""
	if l.whole > len(value) { // a prefix of whole bytes
		text = l.format(*t, append(slices.Clone(value), make([]byte, l.whole-len(value))...)) +
			fmt.Sprintf("/%d", 8*len(value))
	} else {
		text = l.format(*t, value)
	}
	equal := op == 0
	phrase := fmt.Sprintf("%s %s%s", l.name, []string{"", "!= ", "< ", "<= ", "> ", ">= ", "[op] "}[min(op, 6)], text)
	switch {
	case equal && (l.name == "meta nfproto" || l.name == "meta protocol" || l.name == "ether type"):
		t.network = map[string]string{"ipv4": "ip", "ipv6": "ip6"}[text]
		t.network = cmp.Or(t.network, text)
		t.implied = append(t.implied, phrase)
	case equal && (l.name == "meta l4proto" || strings.HasSuffix(l.name, " protocol") || l.name == "ip6 nexthdr"):
		t.l4 = text
		t.implied = append(t.implied, phrase)
	default:
		t.settle()
		t.words = append(t.words, phrase)
	}
}

// nftPrefix returns the length of the prefix that a mask keeps. -1: it is no prefix.
func nftPrefix(mask []byte) int {
	ones, bits := net.IPMask(mask).Size()
	if bits == 0 {
		return -1
	}
	return ones
}

func nftAddressed(value []byte) bool { return len(value) == 4 || len(value) == 16 }

// nftNumber formats a number in network byte order, nftNative one in host byte order.
func nftNumber(_ nftText, b []byte) string {
	if len(b) > 8 {
		return fmt.Sprintf("0x%x", b)
	}
	var whole [8]byte
	copy(whole[8-len(b):], b)
	return fmt.Sprint(binary.BigEndian.Uint64(whole[:]))
}

func nftNative(t nftText, b []byte) string {
	if len(b) != 4 {
		return nftNumber(t, b)
	}
	return fmt.Sprint(native.Uint32(b))
}

func nftHex(_ nftText, b []byte) string  { return fmt.Sprintf("0x%x", b) }
func nftFlat(_ nftText, b []byte) string { return fmt.Sprintf("%q", cString(b)) }
func nftMAC(_ nftText, b []byte) string  { return net.HardwareAddr(b).String() }

func nftAddress(t nftText, b []byte) string {
	if a, ok := netip.AddrFromSlice(b); ok {
		return a.String()
	}
	return nftHex(t, b)
}

func nftProtocol(t nftText, b []byte) string {
	number := nftNumber(t, b)
	return cmp.Or(map[string]string{"1": "icmp", "6": "tcp", "17": "udp", "47": "gre", "50": "esp", "58": "ipv6-icmp",
		"132": "sctp"}[number], number)
}

func nftEtherType(t nftText, b []byte) string {
	return cmp.Or(map[string]string{"0x0800": "ip", "0x86dd": "ip6", "0x0806": "arp", "0x8100": "vlan"}[nftHex(t, b)],
		nftHex(t, b))
}

func nftNFProto(t nftText, b []byte) string {
	number := nftNumber(t, b)
	return cmp.Or(map[string]string{"2": "ipv4", "10": "ipv6"}[number], number)
}

// nftState formats the flags of ct state (linux/netfilter/nf_conntrack_common.h), in host byte
// order.
func nftState(t nftText, b []byte) string {
	if len(b) != 4 {
		return nftHex(t, b)
	}
	var names []string
	for _, s := range []struct {
		bit  uint32
		name string
	}{{2, "established"}, {4, "related"}, {8, "new"}, {1, "invalid"}, {64, "untracked"}} {
		if native.Uint32(b)&s.bit != 0 {
			names = append(names, s.name)
		}
	}
	return cmp.Or(strings.Join(names, ","), nftHex(t, b))
}

// nftMeta has the keys of meta that rules commonly match (NFT_META_*).
var nftMeta = map[uint32]nftLoad{
	0: {name: "meta length", format: nftNative}, 1: {name: "meta protocol", format: nftEtherType},
	3: {name: "meta mark", format: nftNative},
	4: {name: "iif", format: nftNative}, 5: {name: "oif", format: nftNative}, 6: {name: "iifname", format: nftFlat},
	7:  {name: "oifname", format: nftFlat},
	10: {name: "meta skuid", format: nftNative}, 11: {name: "meta skgid", format: nftNative},
	15: {name: "meta nfproto", format: nftNFProto}, 16: {name: "meta l4proto", format: nftProtocol},
	17: {name: "meta ibrname", format: nftFlat}, 18: {name: "meta obrname", format: nftFlat},
	19: {name: "meta pkttype", format: nftNumber},
}

// nftField is a field of a header: its position and its name.
type nftField struct {
	header         string
	offset, length uint32
	name           string
	format         func(nftText, []byte) string
}

// nftFields are the fields that rules commonly match.
var nftFields = []nftField{
	{"ether", 0, 6, "ether daddr", nftMAC}, {"ether", 6, 6, "ether saddr", nftMAC},
	{"ether", 12, 2, "ether type", nftEtherType},
	{"ip", 12, 4, "ip saddr", nftAddress}, {"ip", 16, 4, "ip daddr", nftAddress},
	{"ip", 9, 1, "ip protocol", nftProtocol}, {"ip", 8, 1, "ip ttl", nftNumber}, {"ip", 2, 2, "ip length", nftNumber},
	{"ip6", 8, 16, "ip6 saddr", nftAddress}, {"ip6", 24, 16, "ip6 daddr", nftAddress},
	{"ip6", 6, 1, "ip6 nexthdr", nftProtocol}, {"ip6", 7, 1, "ip6 hoplimit", nftNumber},
	{"l4", 0, 2, "sport", nftNumber}, {"l4", 2, 2, "dport", nftNumber}, {"icmp", 0, 1, "type", nftNumber},
	{"tcp", 13, 1, "flags", nftHex},
}

// load adds an expression that loads a register.
func (t *nftText) load(name string, a map[uint16]attribute) {
	switch name {
	case "meta":
		key := a[unix.NFTA_META_KEY].bigUint32()
		l, known := nftMeta[key]
		if !known {
			l = nftLoad{name: fmt.Sprintf("meta [%d]", key), format: nftHex}
		}
		l.register = a[unix.NFTA_META_DREG].bigUint32()
		t.keep(l)
	case "ct":
		l := nftLoad{register: a[unix.NFTA_CT_DREG].bigUint32(),
			name: fmt.Sprintf("ct [%d]", a[unix.NFTA_CT_KEY].bigUint32()), format: nftHex}
		switch a[unix.NFTA_CT_KEY].bigUint32() {
		case unix.NFT_CT_STATE:
			l.name, l.format = "ct state", nftState
		case unix.NFT_CT_MARK:
			l.name, l.format = "ct mark", nftNative
		}
		t.keep(l)
	case "payload":
		t.keep(t.field(a))
	}
}

// field returns the load of a part of a header.
func (t *nftText) field(a map[uint16]attribute) nftLoad {
	base, offset, length := a[unix.NFTA_PAYLOAD_BASE].bigUint32(), a[unix.NFTA_PAYLOAD_OFFSET].bigUint32(),
		a[unix.NFTA_PAYLOAD_LEN].bigUint32()
	l := nftLoad{register: a[unix.NFTA_PAYLOAD_DREG].bigUint32(), format: nftHex}
	headers := []string{"ether"}
	switch base {
	case unix.NFT_PAYLOAD_NETWORK_HEADER:
		headers = []string{cmp.Or(t.network, map[byte]string{2: "ip", 10: "ip6"}[t.family])}
	case unix.NFT_PAYLOAD_TRANSPORT_HEADER:
		headers = []string{t.l4, "l4"}
		if t.l4 == "icmp" || t.l4 == "ipv6-icmp" {
			headers = []string{"icmp"}
		}
	}
	for _, f := range nftFields {
		if !slices.Contains(headers, f.header) || f.offset != offset || length > f.length || length < f.length &&
			f.format == nil {
			continue
		}
		l.name, l.format = f.name, f.format
		if f.length != length {
			l.whole = int(f.length)
		}
		if base == unix.NFT_PAYLOAD_TRANSPORT_HEADER {
			l.name = cmp.Or(map[string]string{"ipv6-icmp": "icmpv6"}[t.l4], t.l4, "th") + " " + f.name
		}
		switch {
		case base == unix.NFT_PAYLOAD_NETWORK_HEADER:
			t.saidBy(f.header)
		case t.l4 == "icmp":
			t.saidBy("icmp", "ip")
		case t.l4 == "ipv6-icmp":
			t.saidBy("ipv6-icmp", "ip6")
		case base == unix.NFT_PAYLOAD_TRANSPORT_HEADER && t.l4 != "":
			t.saidBy(t.l4)
		}
		return l
	}
	l.name = fmt.Sprintf("@%s,%d,%d", cmp.Or(map[uint32]string{0: "ll", 1: "nh", 2: "th"}[base], "[base]"),
		8*offset, 8*length)
	return l
}
