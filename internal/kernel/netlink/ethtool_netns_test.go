//go:build linux && !portable

package netlink_test

import (
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
)

// TestLinkSpeedAndDriver: a veth's driver says 10 Gbit/s (drivers/net/veth.c), which is
// no truth about it but one about the reading.
func TestLinkSpeedAndDriver(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth1")
		kerneltest.Do(t, "ip", "link", "set", "dev", "eth0", "up")
		kerneltest.Do(t, "ip", "link", "set", "dev", "eth1", "up")
		for port, want := range map[string]float64{"eth0": 10e9, "lo": 0, "nosuch": 0, "a-name-that-is-too-long-for-a-port": 0} {
			link := netlink.Link{Name: port}
			if got := link.Speed(); got != want {
				t.Errorf("%s: %g bit/s, want %g", port, got, want)
			}
			driver := ""
			if want > 0 {
				driver = "veth"
			}
			if got := link.Driver(); got != driver {
				t.Errorf("%s: driver %q, want %q", port, got, driver)
			}
		}
	})
}
