//go:build !portable

package ethtool

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/setting"
)

// flowSpec is struct ethtool_rx_flow_spec (linux/ethtool.h).
type flowSpec struct {
	flowType uint32
	value    flowParts
	mask     flowParts // bits set here must match
	_        [4]byte
	cookie   uint64 // RX_CLS_FLOW_DISC, or the queue
	location uint32
	_        uint32
}

// flowParts is union ethtool_flow_union and struct ethtool_flow_ext.
type flowParts struct {
	header [52]byte
	ext    [20]byte
}

// rxClass is struct ethtool_rxnfc with space for a number of locations.
type rxClass struct {
	cmd, flowType uint32
	data          uint64
	spec          flowSpec
	count         uint32
	locations     [mostRules]uint32
}

// mostRules is how many rules of an interface are read.
const mostRules = 8192

const (
	grxClassCount, grxClassRule, grxClassAll = unix.ETHTOOL_GRXCLSRLCNT, unix.ETHTOOL_GRXCLSRULE,
		unix.ETHTOOL_GRXCLSRLALL
	insertRule, deleteRule = unix.ETHTOOL_SRXCLSRLINS, unix.ETHTOOL_SRXCLSRLDEL
	flowExt, flowMACExt    = 1 << 31, 1 << 30 // FLOW_EXT, FLOW_MAC_EXT
	discard                = 1<<64 - 1        // RX_CLS_FLOW_DISC
	specialLocations       = 1 << 31          // RX_CLS_LOC_SPECIAL
	userIPv4               = 1                // ETH_RX_NFC_IP4
)

// ruleTypes are the flow types of rules (linux/ethtool.h).
var ruleTypes = map[string]uint32{"tcp4": 1, "udp4": 2, "sctp4": 3, "tcp6": 5, "udp6": 6, "sctp6": 7, "ip4": 0x0d,
	"ip6": 0x0e, "ether": 0x12}

// part returns the bytes of a field of a rule: in the header of its type, or else in the extension.
func (p *flowParts) part(flowType, name string) []byte {
	six := flowType[len(flowType)-1] == '6'
	at := func(v4, v6, length int) []byte {
		if six {
			v4 = v6
		}
		return p.header[v4 : v4+length]
	}
	switch name {
	case "dst":
		return p.header[0:6]
	case "src":
		return p.header[6:12]
	case "proto":
		return p.header[12:14]
	case "src-ip", "dst-ip":
		length := 4
		if six {
			length = 16
		}
		if name == "dst-ip" {
			return p.header[length : 2*length]
		}
		return p.header[:length]
	case "src-port":
		return at(8, 32, 2)
	case "dst-port":
		return at(10, 34, 2)
	case "tos", "tclass":
		return at(12, 36, 1)
	case "l4proto":
		return at(14, 37, 1)
	case "dst-mac":
		return p.ext[2:8]
	case "vlan-etype":
		return p.ext[8:10]
	case "vlan":
		return p.ext[10:12]
	}
	return nil
}

// encode returns the kernel's form of a rule.
func encode(r setting.FlowRule, location uint32) flowSpec {
	s := flowSpec{flowType: ruleTypes[r.Type], cookie: uint64(r.Queue), location: location}
	if r.Type == "ip4" {
		s.value.header[13] = userIPv4
	}
	for _, f := range r.Fields {
		copy(s.value.part(r.Type, f.Name), f.Value)
		copy(s.mask.part(r.Type, f.Name), f.Mask)
		switch f.Name {
		case "dst-mac":
			s.flowType |= flowMACExt
		case "vlan", "vlan-etype":
			s.flowType |= flowExt
		}
	}
	return s
}

// errOtherRule means that setting.FlowRule cannot express a rule.
var errOtherRule = errors.New("linerate does not know the kind of its rule, and could not restore it")

// decode converts the kernel's rule; errOtherRule if it compares or does anything else.
func decode(s flowSpec) (setting.FlowRule, error) {
	var r setting.FlowRule
	for name, n := range ruleTypes {
		if n == s.flowType&^(flowExt|flowMACExt) {
			r.Type = name
		}
	}
	switch {
	case r.Type == "":
		return r, errOtherRule
	case s.cookie == discard:
		r.Queue = setting.Discard
	case s.cookie>>31 != 0: // for a virtual function, or to wake the machine
		return r, errOtherRule
	default:
		r.Queue = int64(s.cookie)
	}
	rest := s.mask // bits that no field accounts for
	names, _ := setting.FlowFields(r.Type)
	for _, name := range names {
		mask := rest.part(r.Type, name)
		ext := map[string]uint32{"dst-mac": flowMACExt, "vlan": flowExt, "vlan-etype": flowExt}[name]
		if slices.Max(mask) > 0 && (ext == 0 || s.flowType&ext != 0) {
			f := setting.FlowField{Name: name, Value: slices.Clone(s.value.part(r.Type, name)),
				Mask: slices.Clone(mask)}
			for i := range f.Value {
				f.Value[i] &= f.Mask[i]
			}
			r.Fields = append(r.Fields, f)
		}
		clear(mask)
	}
	if rest.header != [52]byte{} || s.flowType&flowExt != 0 && [8]byte(rest.ext[12:20]) != [8]byte{} {
		return r, errOtherRule
	}
	return r, nil
}

// locations returns the locations of the interface's rules, and the maximum number of rules; 0 if unknown.
func (h *Handle) locations(iface string) (list []uint32, size int, err error) {
	c := rxClass{cmd: grxClassCount}
	if err := h.call(iface, unsafe.Pointer(&c)); err != nil {
		return nil, 0, err
	}
	size = int(c.data &^ specialLocations & (1<<31 - 1))
	if c.count > mostRules {
		return nil, size, fmt.Errorf("%d rules, of at most %d", c.count, mostRules)
	}
	c = rxClass{cmd: grxClassAll, count: mostRules}
	if err := h.call(iface, unsafe.Pointer(&c)); err != nil {
		return nil, size, err
	}
	list = slices.Clone(c.locations[:min(c.count, mostRules)])
	slices.Sort(list)
	return list, max(size, int(c.data&(1<<31-1))), nil
}

// rule reads the rule at a location.
func (h *Handle) rule(iface string, location uint32) (string, error) {
	c := rxClass{cmd: grxClassRule, spec: flowSpec{location: location}}
	if err := h.call(iface, unsafe.Pointer(&c)); err != nil {
		return "", err
	}
	r, err := decode(c.spec)
	if err != nil {
		return "", err
	}
	return r.String(), nil
}

func (h *Handle) steering(iface, key string) (string, error) {
	location, err := strconv.ParseUint(key, 10, 31)
	if err != nil {
		return "", err
	}
	text := setting.NoRule
	list, _, err := h.locations(iface)
	if slices.Contains(list, uint32(location)) {
		text, err = h.rule(iface, uint32(location))
	}
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return "", h.unsupported(iface, setting.Option{Key: key}, "steering",
			"the driver has no rules that direct packets to queues")
	case err != nil:
		return "", &kernel.Error{Op: "read", Object: "steering " + key + " of " + iface, Err: err}
	}
	return text, nil
}

func (h *Handle) resolveSteering(iface string, o setting.Option) ([]setting.Option, error) {
	if _, err := h.steering(iface, o.Key); err != nil {
		return nil, err
	}
	_, size, err := h.locations(iface)
	location, err2 := strconv.ParseUint(o.Key, 10, 31)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	if size > 0 && int(location) >= size {
		return nil, h.unsupported(iface, o, "steering", fmt.Sprintf("its locations are 0 to %d", size-1))
	}
	if o.Value != setting.NoRule {
		r, err := setting.ParseFlowRule(o.Value)
		if err != nil {
			return nil, err
		}
		o.Value = r.String()
	}
	return []setting.Option{o}, nil
}

func (h *Handle) setSteering(iface string, o setting.Option) error {
	location, err := strconv.ParseUint(o.Key, 10, 31)
	if err != nil {
		return err
	}
	c := rxClass{cmd: deleteRule, spec: flowSpec{location: uint32(location)}}
	if o.Value == setting.NoRule {
		if is, err := h.steering(iface, o.Key); err == nil && is == setting.NoRule {
			return nil
		}
		return h.call(iface, unsafe.Pointer(&c))
	}
	r, err := setting.ParseFlowRule(o.Value)
	if err != nil {
		return err
	}
	c.cmd, c.spec = insertRule, encode(r, uint32(location))
	err = h.call(iface, unsafe.Pointer(&c))
	if err != nil {
		if on, err2 := h.feature(iface, short["ntuple"]); err2 == nil && !requested(on) {
			err = fmt.Errorf("%w (the feature ntuple is off)", err)
		}
	}
	return err
}

// Steering returns the rules of an interface by location; an unsupported rule is listed with the reason. It is
// empty if the driver supports no rules.
func (h *Handle) Steering(iface string) (list []setting.Option) {
	if h == nil {
		return nil
	}
	locations, _, _ := h.locations(iface)
	for _, at := range locations {
		text, err := h.rule(iface, at)
		if err != nil {
			text = err.Error()
		}
		list = append(list, setting.Option{Key: strconv.FormatUint(uint64(at), 10), Value: text})
	}
	return list
}
