package setting

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/source"
)

// Discard is the Queue of a rule that drops its packets (RX_CLS_FLOW_DISC).
const Discard = -1

// NoRule is the value of a location that has no rule.
const NoRule = "none"

// FlowRule is a rule of an interface that directs packets to a receive queue (ETHTOOL_SRXCLSRLINS
// in linux/ethtool.h; ethtool(8), -N flow-type).
type FlowRule struct {
	Type   string // one of FlowTypes
	Fields []FlowField
	Queue  int64 // or Discard
}

// FlowField is a field of a packet that a rule compares, in network byte order. Bits that are not
// set in Mask are ignored and are 0 in Value.
type FlowField struct {
	Name        string
	Value, Mask []byte
}

// fieldForm is the notation of a field, with its length in bytes.
type fieldForm struct {
	bytes int
	text  func([]byte) string
	parse func(string) []byte // returns nil if the text is invalid
}

var (
	macForm  = fieldForm{6, func(b []byte) string { return net.HardwareAddr(b).String() }, parseMAC}
	ipv4Form = fieldForm{4, addressText, parseIPv4}
	ipv6Form = fieldForm{16, addressText, parseIPv6}
	byteForm = fieldForm{1, func(b []byte) string { return strconv.Itoa(int(b[0])) }, func(s string) []byte {
		return parseUint(s, 1)
	}}
	wordForm = fieldForm{2, func(b []byte) string {
		return strconv.Itoa(int(binary.BigEndian.Uint16(b)))
	}, func(s string) []byte { return parseUint(s, 2) }}
	hexForm = fieldForm{2, func(b []byte) string { return "0x" + hex.EncodeToString(b) }, func(s string) []byte {
		return parseUint(s, 2)
	}}
)

// field is a field with its name.
type field struct {
	name string
	form fieldForm
}

// flowFields has the fields of each flow type, in the order in which rules contain them.
var flowFields = func() map[string][]field {
	tagged := []field{{"vlan-etype", hexForm}, {"vlan", wordForm}}
	above := append(tagged, field{"dst-mac", macForm})
	ip := func(form fieldForm, class string, more ...field) []field {
		return slices.Concat([]field{{"src-ip", form}, {"dst-ip", form}, {class, byteForm}}, more, above)
	}
	ports := []field{{"src-port", wordForm}, {"dst-port", wordForm}}
	all := map[string][]field{
		"ether": append([]field{{"src", macForm}, {"dst", macForm}, {"proto", hexForm}}, tagged...),
		"ip4":   ip(ipv4Form, "tos", field{"l4proto", byteForm}),
		"ip6":   ip(ipv6Form, "tclass", field{"l4proto", byteForm}),
	}
	for _, transport := range []string{"tcp", "udp", "sctp"} {
		all[transport+"4"], all[transport+"6"] = ip(ipv4Form, "tos", ports...), ip(ipv6Form, "tclass", ports...)
	}
	return all
}()

// FlowTypes returns the flow types that rules can have.
func FlowTypes() []string { return slices.Sorted(maps.Keys(flowFields)) }

// FlowFields returns the names of the fields that rules of a flow type can compare, and their
// lengths in bytes, in the order in which rules contain them.
func FlowFields(flowType string) (names []string, bytes []int) {
	for _, f := range flowFields[flowType] {
		names, bytes = append(names, f.name), append(bytes, f.form.bytes)
	}
	return names, bytes
}

// ParseFlowRule parses a rule in the syntax of ethtool(8) after flow-type: "tcp4 src-ip 192.0.2.0 m
// 0.0.0.255 dst-port 80 action 2". Bits that are set after m are ignored. Action -1 drops the
// packets; without an action they go to queue 0.
func ParseFlowRule(text string) (FlowRule, error) {
	words := strings.Fields(text)
	if len(words) > 0 && words[0] == "flow-type" {
		words = words[1:]
	}
	if len(words) == 0 {
		return FlowRule{}, fmt.Errorf("no rule: expected one such as tcp4 dst-port 80 action 2")
	}
	known, ok := flowFields[words[0]]
	if !ok {
		return FlowRule{}, fmt.Errorf("%.40q is no type of flow: expected %s%s", words[0], source.Or(FlowTypes()),
			source.DidYouMean(words[0], FlowTypes()))
	}
	r, given := FlowRule{Type: words[0]}, map[string]FlowField{}
	for words = words[1:]; len(words) > 0; words = words[2:] {
		name := words[0]
		if len(words) < 2 {
			return r, fmt.Errorf("%.40q has no value", name)
		}
		if name == "action" {
			queue, err := strconv.ParseInt(words[1], 0, 32)
			if err != nil || queue < Discard {
				return r, fmt.Errorf("action %.40q is neither a queue nor -1, which drops packets", words[1])
			}
			r.Queue = queue
			continue
		}
		at := slices.IndexFunc(known, func(f field) bool { return f.name == name })
		if at < 0 {
			names, _ := FlowFields(r.Type)
			names = append(names, "action")
			return r, fmt.Errorf("a rule of %s has no %.40q: expected %s%s", r.Type, name, source.Or(names),
				source.DidYouMean(name, names))
		}
		form := known[at].form
		f := FlowField{Name: name, Value: form.parse(words[1]), Mask: bytes.Repeat([]byte{0xff}, form.bytes)}
		if f.Value == nil {
			return r, fmt.Errorf("%s %.40q cannot be read", name, words[1])
		}
		if len(words) > 3 && words[2] == "m" {
			ignored := form.parse(words[3])
			if ignored == nil {
				return r, fmt.Errorf("the mask %.40q of %s cannot be read", words[3], name)
			}
			for i, b := range ignored {
				f.Mask[i] = ^b
				f.Value[i] &^= b
			}
			words = words[2:]
		}
		given[name] = f
	}
	for _, f := range known {
		if is, ok := given[f.name]; ok && slices.Max(is.Mask) > 0 {
			r.Fields = append(r.Fields, is)
		}
	}
	return r, nil
}

// String formats the rule in the syntax of ethtool(8) after flow-type.
func (r FlowRule) String() string {
	words := []string{r.Type}
	for _, f := range r.Fields {
		at := slices.IndexFunc(flowFields[r.Type], func(k field) bool { return k.name == f.Name })
		form := flowFields[r.Type][at].form
		words = append(words, f.Name, form.text(f.Value))
		ignored := make([]byte, len(f.Mask))
		for i, b := range f.Mask {
			ignored[i] = ^b
		}
		if slices.Max(ignored) > 0 {
			if form.bytes <= 2 {
				words = append(words, "m", "0x"+hex.EncodeToString(ignored))
			} else {
				words = append(words, "m", form.text(ignored))
			}
		}
	}
	return strings.Join(append(words, "action", strconv.FormatInt(r.Queue, 10)), " ")
}

func addressText(b []byte) string {
	a, _ := netip.AddrFromSlice(b)
	return a.String()
}

func parseIPv4(s string) []byte {
	if a, err := netip.ParseAddr(s); err == nil && a.Is4() {
		return a.AsSlice()
	}
	return nil
}

func parseIPv6(s string) []byte {
	if a, err := netip.ParseAddr(s); err == nil && a.Is6() && a.Zone() == "" {
		return a.AsSlice()
	}
	return nil
}

func parseMAC(s string) []byte {
	if a, err := net.ParseMAC(s); err == nil && len(a) == 6 {
		return a
	}
	return nil
}

// parseUint parses a number, decimal or with 0x, into length bytes.
func parseUint(s string, length int) []byte {
	n, err := strconv.ParseUint(s, 0, 8*length)
	if err != nil {
		return nil
	}
	return binary.BigEndian.AppendUint16(nil, uint16(n))[2-length:]
}

// wrongFlowRule returns what is wrong with the value of a location. Empty: nothing.
func wrongFlowRule(text string) string {
	if text == NoRule {
		return ""
	}
	if _, err := ParseFlowRule(text); err != nil {
		return err.Error()
	}
	return ""
}
