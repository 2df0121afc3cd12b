//go:build linux && !portable

package apply

import (
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/xdp"
	"linerate/internal/model/setting"
)

func xdpOf(name string) []setting.Setting {
	return []setting.Setting{{Host: "nas", Link: &setting.Link{Interface: "eth0", XDP: name}}}
}

// TestXDP: a program is attached and detached again; an interface that has one is refused, since
// it could not be given back.
func TestXDP(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth1")
		m := open(t, "")
		shown := func() string { return kerneltest.Do(t, "ip", "-details", "link", "show", "dev", "eth0") }
		for _, name := range []string{"forward", "drop-fragments"} {
			if _, _, err := applySettings(m, t.Context(), xdpOf(name), false); err != nil {
				t.Fatal(err)
			}
			if text := shown(); !strings.Contains(text, "prog/xdp") {
				t.Errorf("%s: %s", name, text)
			}
			if err := m.RevertTo(0); err != nil {
				t.Fatal(err)
			}
			if text := shown(); strings.Contains(text, "xdp") {
				t.Errorf("%s is left: %s", name, text)
			}
		}
		c, err := netlink.Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := xdp.Attach(c, "eth0", setting.XDPForward); err != nil {
			t.Fatal(err)
		}
		if _, _, err := applySettings(m, t.Context(), xdpOf("drop-fragments"), false); err == nil ||
			!strings.Contains(err.Error(), "has an XDP program already, forward") {
			t.Errorf("beside another program: %v", err)
		}
		if text := shown(); !strings.Contains(text, "prog/xdp") {
			t.Errorf("the other program is gone: %s", text)
		}
		if _, _, err := applySettings(m, t.Context(), xdpOf("reverse"), false); err == nil ||
			!strings.Contains(err.Error(), "forward or drop-fragments") {
			t.Errorf("a program that there is not: %v", err)
		}
	})
}

// TestXDPRefused: root of a user namespace may attach none, and the error says why.
func TestXDPRefused(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth1")
		if _, _, err := applySettings(open(t, ""), t.Context(), xdpOf("forward"), false); err == nil ||
			!strings.Contains(err.Error(), "CAP_BPF and CAP_NET_ADMIN over the machine") {
			t.Errorf("%v", err)
		}
	})
}
