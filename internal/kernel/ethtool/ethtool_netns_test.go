//go:build linux && !portable

package ethtool

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/netstate"
)

// TestLinkSpeedAndDriver: a veth's driver says 10 Gbit/s (drivers/net/veth.c), which is
// no truth about it but one about the reading.
func TestLinkSpeedAndDriver(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth1")
		kerneltest.Do(t, "ip", "link", "set", "dev", "eth0", "up")
		kerneltest.Do(t, "ip", "link", "set", "dev", "eth1", "up")
		h, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		for port, want := range map[string]int64{"eth0": 10_000, "lo": 0, "nosuch": 0,
			"a-name-that-is-too-long-for-a-port": 0} {
			if got := h.SpeedMbps(port); got != want {
				t.Errorf("%s: %d Mbit/s, want %d", port, got, want)
			}
			driver := ""
			if want > 0 {
				driver = "veth"
			}
			if got := h.Driver(port); got != driver {
				t.Errorf("%s: driver %q, want %q", port, got, driver)
			}
		}
	})
}

// TestNIC: offloads, channels and queues of a veth pair are read as ethtool(8) and sysfs have
// them, and follow changes.
func TestNIC(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "name", "eth0", "numrxqueues", "2", "numtxqueues", "2", "type", "veth",
			"peer", "name", "eth1")
		kerneltest.Do(t, "ip", "link", "set", "dev", "eth0", "up")
		h, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		conn, err := netlink.Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		read := func() netstate.NIC {
			t.Helper()
			l, err := conn.LinkByName("eth0")
			if err != nil {
				t.Fatal(err)
			}
			nic, err := h.NIC(l)
			if err != nil && !errors.Is(err, errOtherNamespace) {
				t.Fatal(err)
			}
			return nic
		}
		nic := read()
		if nic.Driver != "veth" || nic.Carrier || nic.Peer == 0 || !nic.Features["tx-tcp-segmentation"] ||
			nic.Channels == nil || nic.Channels.MostRx != 2 || nic.NUMA != nil {
			t.Errorf("%+v", nic)
		}
		kerneltest.Do(t, "ip", "link", "set", "dev", "eth1", "up")
		if err := h.SetFeature("eth0", "tx-tcp-segmentation", false); err != nil {
			t.Fatal(err)
		}
		if nic = read(); nic.Features["tx-tcp-segmentation"] || !nic.Carrier || nic.CarrierChanges == 0 {
			t.Errorf("%+v", nic)
		}
		if _, err := h.NIC(netlink.Link{Name: "nosuch"}); err == nil {
			t.Error("no error for an interface that is not there")
		}
	})
}

// TestModes: the speeds of link modes are those in their names.
func TestModes(t *testing.T) {
	s := linkSettings{words: 3}
	set := func(mask, bit int) { s.masks[mask*3+bit/32] |= 1 << (bit % 32) }
	set(0, unix.ETHTOOL_LINK_MODE_1000baseT_Full_BIT)
	set(0, unix.ETHTOOL_LINK_MODE_Autoneg_BIT)
	set(0, unix.ETHTOOL_LINK_MODE_25000baseSR_Full_BIT)
	set(1, unix.ETHTOOL_LINK_MODE_1000baseT_Full_BIT)
	if s.supported() != 25_000 || s.advertised() != 1000 {
		t.Errorf("supports %d, advertises %d", s.supported(), s.advertised())
	}
}

// TestGrowingStack: what is read is whole wherever the goroutine's stack has to grow, which
// moves it. A structure of which the kernel has an earlier address would be read as zeros.
func TestGrowingStack(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "name", "eth0", "numrxqueues", "2", "numtxqueues", "2", "type", "veth",
			"peer", "name", "eth1")
		h, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		for depth := range 512 {
			read := make(chan string)
			go func() { // with a stack of its own, as small as they come
				read <- deeper(depth, func() string {
					text, err := h.Option("eth0", "channels", "tx")
					if err != nil {
						return err.Error()
					}
					return text
				})
			}()
			if got := <-read; got != "2" {
				t.Errorf("%d calls deep: tx is %s, want 2", depth, got)
			}
		}
	})
}

//go:noinline
func deeper(calls int, read func() string) string {
	if calls == 0 {
		return read()
	}
	return deeper(calls-1, read)
}
