//go:build linux && !portable

package xdp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
)

// router makes a router between two hosts, as root of the machine.
func router(t *testing.T) *netlink.Conn {
	t.Helper()
	kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
	const noDAD = "net.ipv6.conf.default.accept_dad=0" // while it lasts, nothing is sent
	kerneltest.Do(t, "sysctl", "-qw", noDAD)
	for n, host := range []string{"left", "right"} {
		kerneltest.Do(t, "ip", "netns", "add", host)
		kerneltest.Do(t, "ip", "netns", "exec", host, "sysctl", "-qw", noDAD)
		kerneltest.Do(t, "ip", "link", "add", "name", host, "type", "veth", "peer", "name", "eth0", "netns", host)
		kerneltest.Do(t, "ip", "link", "set", "dev", host, "up")
		kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", "eth0", "up")
		for _, prefix := range []string{fmt.Sprintf("10.0.%d.", n), fmt.Sprintf("fd00:%d::", n)} {
			length := map[bool]string{true: "/64", false: "/24"}[strings.Contains(prefix, ":")]
			kerneltest.Do(t, "ip", "address", "add", prefix+"1"+length, "dev", host, "nodad")
			kerneltest.Do(t, "ip", "-n", host, "address", "add", prefix+"2"+length, "dev", "eth0", "nodad")
			kerneltest.Do(t, "ip", "-n", host, "route", "add", "default", "via", prefix+"1")
		}
		// veth takes redirected frames where its other end has NAPI (drivers/net/veth.c). A
		// sender leaves the checksum to its interface, and a veth to the receiver's stack, which
		// does not know of that behind a program.
		kerneltest.Do(t, "ip", "netns", "exec", host, "ethtool", "-K", "eth0", "gro", "on", "tx", "off")
	}
	kerneltest.Do(t, "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
	c, err := netlink.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func attach(t *testing.T, c *netlink.Conn, iface, name string) {
	t.Helper()
	if err := Attach(c, iface, name); err != nil {
		t.Fatal(err)
	}
	if is, err := Attached(c, iface); err != nil || is != name {
		t.Fatalf("%s has %q, %v", iface, is, err)
	}
}

// socket opens a socket in the namespace of a host.
func socket(t *testing.T, host string, open func() (net.PacketConn, error)) net.PacketConn {
	t.Helper()
	var c net.PacketConn
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		fd, err := unix.Open("/run/netns/"+host, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			if err = unix.Setns(fd, unix.CLONE_NEWNET); err == nil {
				c, err = open()
			}
			_ = unix.Close(fd)
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// sends sends datagrams from one host to an address of another, and returns how many arrive, and
// the time to live, or hop limit, of the last.
func sends(t *testing.T, from, to, address string, datagrams, bytes, ttl int) (arrived, left int) {
	t.Helper()
	six := strings.Contains(address, ":")
	network := map[bool]string{true: "udp6", false: "udp4"}[six]
	at := net.JoinHostPort(address, "7777")
	in := socket(t, to, func() (net.PacketConn, error) { return net.ListenPacket(network, at) })
	out := socket(t, from, func() (net.PacketConn, error) { return net.ListenPacket(network, ":0") })
	defer in.Close()
	defer out.Close()
	in4, in6 := ipv4.NewPacketConn(in), ipv6.NewPacketConn(in)
	var err error
	if six {
		err = errors.Join(in6.SetControlMessage(ipv6.FlagHopLimit, true), ipv6.NewPacketConn(out).SetHopLimit(ttl))
	} else {
		err = errors.Join(in4.SetControlMessage(ipv4.FlagTTL, true), ipv4.NewPacketConn(out).SetTTL(ttl))
	}
	if err != nil {
		t.Fatal(err)
	}
	destination := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(at))
	for range datagrams {
		// An error here is that an earlier datagram was answered by ICMP.
		_, _ = out.WriteTo(make([]byte, bytes), destination)
		time.Sleep(time.Millisecond)
	}
	buffer := make([]byte, 1<<16)
	for {
		_ = in.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		if six {
			var m *ipv6.ControlMessage
			if _, m, _, err = in6.ReadFrom(buffer); err == nil {
				left = m.HopLimit
			}
		} else {
			var m *ipv4.ControlMessage
			if _, m, _, err = in4.ReadFrom(buffer); err == nil {
				left = m.TTL
			}
		}
		if err != nil {
			return arrived, left
		}
		arrived++
	}
}

// passed is how many packets the stack of the router has forwarded.
func passed(t *testing.T) (n int) {
	t.Helper()
	for _, file := range []string{"/proc/net/snmp", "/proc/net/snmp6"} {
		out, err := exec.Command("awk", `/^Ip: [0-9]/ {print $7} /^Ip6OutForwDatagrams/ {print $2}`, file).Output()
		if err != nil {
			t.Fatal(err)
		}
		var one int
		if _, err := fmt.Sscan(string(out), &one); err != nil {
			t.Fatalf("%s: %q", file, out)
		}
		n += one
	}
	return n
}

// TestForward: packets go through the router with their time to live one lower, and its stack
// sees those only for which there is no neighbour yet.
func TestForward(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		c := router(t)
		attach(t, c, "left", setting.XDPForward)
		for _, to := range []string{"10.0.1.2", "fd00:1::2"} {
			if n, _ := sends(t, "left", "right", to, 3, 100, 64); n == 0 {
				t.Fatalf("%s: nothing arrives", to)
			}
			before := passed(t)
			if n, ttl := sends(t, "left", "right", to, 40, 1400, 64); n != 40 || ttl != 63 {
				t.Errorf("%s: %d of 40 arrive, with a time to live of %d", to, n, ttl)
			}
			if n := passed(t) - before; n > 4 {
				t.Errorf("%s: the stack forwarded %d of 40 packets", to, n)
			}
			if n, ttl := sends(t, "left", "right", to, 20, 100, 2); n != 20 || ttl != 1 {
				t.Errorf("%s with a time to live of 2: %d of 20 arrive, with %d", to, n, ttl)
			}
			if n, _ := sends(t, "left", "right", to, 20, 100, 1); n != 0 {
				t.Errorf("%s with a time to live of 1: %d arrive", to, n)
			}
		}
		if err := Attach(c, "left", setting.XDPDropFragments); err == nil {
			t.Error("a second program is attached")
		}
		if err := Detach(c, "left"); err != nil {
			t.Fatal(err)
		}
		if is, err := Attached(c, "left"); err != nil || is != None {
			t.Errorf("left has %q, %v", is, err)
		}
		before := passed(t)
		if n, ttl := sends(t, "left", "right", "10.0.1.2", 40, 100, 64); n != 40 || ttl != 63 || passed(t)-before < 40 {
			t.Errorf("without the program: %d of 40 arrive, with %d, and the stack forwards %d", n, ttl,
				passed(t)-before)
		}
	})
}

// TestDropFragments: whole packets arrive, those in fragments do not.
func TestDropFragments(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		c := router(t)
		for _, to := range []string{"10.0.1.2", "fd00:1::2"} {
			if n, _ := sends(t, "left", "right", to, 20, 3000, 64); n < 19 { // one may wait for the neighbour
				t.Fatalf("%s, in fragments: %d of 20 arrive", to, n)
			}
		}
		attach(t, c, "left", setting.XDPDropFragments)
		for _, to := range []string{"10.0.1.2", "fd00:1::2"} {
			if n, _ := sends(t, "left", "right", to, 20, 1400, 64); n != 20 {
				t.Errorf("%s, whole: %d of 20 arrive", to, n)
			}
			if n, _ := sends(t, "left", "right", to, 20, 3000, 64); n != 0 {
				t.Errorf("%s, in fragments: %d arrive", to, n)
			}
		}
	})
}
