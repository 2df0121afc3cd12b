//go:build linux && !portable

package ethtool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/model/setting"
)

// TestFlowSpecLayout: the structures are those of linux/ethtool.h.
func TestFlowSpecLayout(t *testing.T) {
	var s flowSpec
	var c rxClass
	for what, is := range map[string][2]uintptr{
		"flowSpec":          {unsafe.Sizeof(s), 168},
		"flowSpec.mask":     {unsafe.Offsetof(s.mask), 76},
		"flowSpec.cookie":   {unsafe.Offsetof(s.cookie), 152},
		"flowSpec.location": {unsafe.Offsetof(s.location), 160},
		"rxClass.data":      {unsafe.Offsetof(c.data), 8},
		"rxClass.spec":      {unsafe.Offsetof(c.spec), 16},
		"rxClass.count":     {unsafe.Offsetof(c.count), 184},
		"rxClass.locations": {unsafe.Offsetof(c.locations), 188},
		"flowParts.ext":     {unsafe.Offsetof(s.value.ext), 52},
	} {
		if is[0] != is[1] {
			t.Errorf("%s: %d, want %d", what, is[0], is[1])
		}
	}
}

// TestFlowRules: a rule of each type with all of its fields is the same rule after the kernel's
// form, and no two fields have the same place there.
func TestFlowRules(t *testing.T) {
	for _, flowType := range setting.FlowTypes() {
		names, lengths := setting.FlowFields(flowType)
		r := setting.FlowRule{Type: flowType, Queue: 3}
		for i, name := range names {
			f := setting.FlowField{Name: name, Value: make([]byte, lengths[i]), Mask: make([]byte, lengths[i])}
			for b := range f.Value {
				f.Value[b], f.Mask[b] = byte(i+1), 0xff
			}
			r.Fields = append(r.Fields, f)
		}
		back, err := decode(encode(r, 9))
		if err != nil || back.String() != r.String() {
			t.Errorf("%s came back as %s, %v", r, back, err)
		}
		r = setting.FlowRule{Type: flowType, Queue: setting.Discard}
		if back, err := decode(encode(r, 0)); err != nil || back.String() != r.String() {
			t.Errorf("%s came back as %s, %v", r, back, err)
		}
	}
}

// TestOtherRules: what setting.FlowRule cannot express is not taken for a rule that it can.
func TestOtherRules(t *testing.T) {
	r, err := setting.ParseFlowRule("ip4 dst-ip 192.0.2.1 action 1")
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*flowSpec){
		"AH":                   func(s *flowSpec) { s.flowType = 4 },
		"a context of RSS":     func(s *flowSpec) { s.flowType |= 1 << 29 },
		"a virtual function":   func(s *flowSpec) { s.cookie |= 1 << 32 },
		"wake":                 func(s *flowSpec) { s.cookie = discard - 1 },
		"the first four bytes": func(s *flowSpec) { s.mask.header[8] = 0xff },
		"user-def":             func(s *flowSpec) { s.flowType |= flowExt; s.mask.ext[19] = 1 },
	} {
		s := encode(r, 0)
		change(&s)
		if got, err := decode(s); !errors.Is(err, errOtherRule) {
			t.Errorf("%s: %s, %v", what, got, err)
		}
	}
	// Fields of an extension that the flags do not name are not compared.
	s := encode(r, 0)
	s.mask.ext[10] = 0xff
	if got, err := decode(s); err != nil || strings.Contains(got.String(), "vlan") {
		t.Errorf("%s, %v", got, err)
	}
	if text := fmt.Sprint(r); !strings.HasSuffix(text, "action 1") {
		t.Error(text)
	}
}

// simulated is a driver with 16 locations that takes rules of Ethernet and TCP over IPv4, as
// drivers do it: the rule of a location without one is an error (EINVAL), a second one replaces
// the first.
func simulated() (*Handle, map[uint32]flowSpec) {
	rules := map[uint32]flowSpec{}
	h := &Handle{fd: -1}
	h.driver = func(_ string, data unsafe.Pointer) error {
		switch *(*uint32)(data) {
		case grxClassCount:
			c := (*rxClass)(data)
			c.count, c.data = uint32(len(rules)), 0
		case grxClassAll:
			c := (*rxClass)(data)
			if int(c.count) < len(rules) {
				return unix.EMSGSIZE
			}
			c.count, c.data = 0, 16
			for at := range rules {
				c.locations[c.count] = at
				c.count++
			}
		case grxClassRule:
			c := (*rxClass)(data)
			s, ok := rules[c.spec.location]
			if !ok {
				return unix.EINVAL
			}
			c.spec = s
		case insertRule:
			c := (*rxClass)(data)
			if kind := c.spec.flowType &^ (flowExt | flowMACExt); kind != ruleTypes["ether"] &&
				kind != ruleTypes["tcp4"] {
				return unix.EOPNOTSUPP
			}
			rules[c.spec.location] = c.spec
		case deleteRule:
			c := (*rxClass)(data)
			if _, ok := rules[c.spec.location]; !ok {
				return unix.EINVAL
			}
			delete(rules, c.spec.location)
		default:
			return unix.EOPNOTSUPP
		}
		return nil
	}
	return h, rules
}

// TestSteering: rules are read, set, replaced, removed and listed by their locations; what could
// not be restored is refused.
func TestSteering(t *testing.T) {
	h, rules := simulated()
	set := func(key, value string) error {
		resolved, err := h.Resolve("eth0", setting.NICOption{Group: "steering",
			Option: setting.Option{Key: key, Value: value}})
		if err != nil {
			return err
		}
		before, err := h.Option("eth0", "steering", key)
		if err != nil {
			return err
		}
		if err := h.SetOption("eth0", resolved[0]); err != nil {
			return err
		}
		if is, err := h.Option("eth0", "steering", key); err != nil || is != resolved[0].Value {
			t.Errorf("%s: set to %q, read as %q, %v", key, resolved[0].Value, is, err)
		}
		// Undone and done again.
		if err := h.SetOption("eth0", setting.NICOption{Group: "steering",
			Option: setting.Option{Key: key, Value: before}}); err != nil {
			t.Errorf("%s: back to %q: %v", key, before, err)
		}
		if is, _ := h.Option("eth0", "steering", key); is != before {
			t.Errorf("%s: undone it is %q, was %q", key, is, before)
		}
		return h.SetOption("eth0", resolved[0])
	}
	for _, o := range []setting.Option{{Key: "5", Value: "tcp4 dst-port 80"},
		{Key: "5", Value: "flow-type tcp4 dst-port 443 action -1"}, {Key: "2", Value: "ether proto 0x88f7 action 1"},
		{Key: "9", Value: "none"}} {
		if err := set(o.Key, o.Value); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	want := []setting.Option{{Key: "2", Value: "ether proto 0x88f7 action 1"},
		{Key: "5", Value: "tcp4 dst-port 443 action -1"}}
	if got := h.Steering("eth0"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := set("2", "none"); err != nil || len(rules) != 1 {
		t.Errorf("%v, left %v", err, h.Steering("eth0"))
	}
	if err := set("16", "tcp4 dst-port 1"); err == nil || !strings.Contains(err.Error(), "its locations are 0 to 15") {
		t.Errorf("location 16: %v", err)
	}
	if err := set("3", "udp4 dst-port 1"); !errors.Is(err, unix.EOPNOTSUPP) {
		t.Errorf("a type that the driver does not take: %v", err)
	}
	rules[7] = flowSpec{flowType: ruleTypes["tcp4"] | 1<<29, location: 7} // of a context of RSS
	if err := set("7", "tcp4 dst-port 1"); err == nil || !strings.Contains(err.Error(), errOtherRule.Error()) {
		t.Errorf("over a rule that is not known here: %v", err)
	}
	if got := h.Steering("eth0"); len(got) != 2 || got[1].Value != errOtherRule.Error() {
		t.Errorf("%v", got)
	}
}
