package setting

import (
	"strings"
	"testing"
)

func TestFlowRule(t *testing.T) {
	for text, want := range map[string]string{
		"tcp4 dst-port 80 action 2":                       "tcp4 dst-port 80 action 2",
		"flow-type udp4 dst-port 0x35 action -1":          "udp4 dst-port 53 action -1",
		"tcp4 dst-port 80 src-ip 192.0.2.7 m 0.0.0.255":   "tcp4 src-ip 192.0.2.0 m 0.0.0.255 dst-port 80 action 0",
		"tcp4 src-port 1024 m 0x03ff action 1":            "tcp4 src-port 1024 m 0x03ff action 1",
		"tcp4 src-port 9 m 0xffff action 1":               "tcp4 action 1", // which compares nothing
		"ip6 dst-ip 2001:DB8::1 l4proto 6 action 3":       "ip6 dst-ip 2001:db8::1 l4proto 6 action 3",
		"ether proto 0x88F7 dst 02:00:00:00:00:01":        "ether dst 02:00:00:00:00:01 proto 0x88f7 action 0",
		"sctp6 tclass 8 vlan 5 dst-mac 02:00:00:00:00:01": "sctp6 tclass 8 vlan 5 dst-mac 02:00:00:00:00:01 action 0",
		"ip4 tos 16 vlan 0x2000 m 0x1fff":                 "ip4 tos 16 vlan 8192 m 0x1fff action 0",
		"tcp4 dst-prt 80":                                 `did you mean "dst-port"?`,
		"tcp4 l4proto 6":                                  "a rule of tcp4 has no",
		"tcp dst-port 80":                                 "no type of flow",
		"tcp4 dst-port 65536":                             "cannot be read",
		"tcp4 dst-port":                                   "has no value",
		"tcp4 dst-port 80 m 0x10000":                      "the mask",
		"tcp4 src-ip 2001:db8::1":                         "cannot be read",
		"tcp6 src-ip 192.0.2.1":                           "cannot be read",
		"ether src 02:00:00:00:00:01:02:03":               "cannot be read",
		"tcp4 action -2":                                  "neither a queue nor -1",
		"tcp4 action 2147483648":                          "neither a queue nor -1",
		"tcp4 dst-port 80 loc 5":                          "has no \"loc\"",
		"":                                                "no rule",
	} {
		r, err := ParseFlowRule(text)
		got := r.String
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", text, err, want)
			}
			continue
		}
		if got() != want {
			t.Errorf("%q is %q, want %q", text, got(), want)
		}
	}
}

// FuzzFlowRule: what is read is written so that it is read as the same.
func FuzzFlowRule(f *testing.F) {
	for _, text := range []string{"tcp4 src-ip 192.0.2.7 m 0.0.0.255 dst-port 80 action 2",
		"ether proto 0x88f7 vlan 5 action -1", "ip6 dst-ip ::ffff:192.0.2.1 l4proto 6"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseFlowRule(text)
		if err != nil {
			return
		}
		again, err := ParseFlowRule(r.String())
		if err != nil || again.String() != r.String() {
			t.Errorf("%q is %q, and then %q, %v", text, r, again, err)
		}
	})
}
