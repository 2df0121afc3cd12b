//go:build linux && !portable

package drops

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
)

// pair are two hosts on one link: client, 10.0.0.2 and fd00::2, and server, 10.0.0.1 and fd00::1.
type pair struct {
	t              testing.TB
	client, server *netlink.Namespace
}

const clientMAC, serverMAC = "02:00:00:00:00:02", "02:00:00:00:00:01"

func newPair(t testing.TB) pair {
	t.Helper()
	p := pair{t: t}
	for _, ns := range []struct {
		into *(*netlink.Namespace)
		name string
	}{{&p.client, "client"}, {&p.server, "server"}} {
		made, err := netlink.NewNamespace(ns.name)
		if err != nil {
			kerneltest.Skip(t, err.Error())
		}
		t.Cleanup(made.Close)
		*ns.into = made
	}
	end := netlink.LinkEnd{Namespace: p.client, Interface: "eth0", MAC: clientMAC, MTU: 1500}
	if err := end.NewVethPair(netlink.LinkEnd{Namespace: p.server, Interface: "eth0", MAC: serverMAC,
		MTU: 1500}); err != nil {
		kerneltest.Skip(t, err.Error())
	}
	// No neighbour discovery: each packet that is dropped is one that the test sent.
	const up = "ip link set dev lo up; ip address add 10.0.0.%[1]d/24 dev eth0; ip link set dev eth0 addrgenmode " +
		"none; ip link set dev eth0 arp off up; ip -6 address add fd00::%[1]d/64 dev eth0 nodad || true"
	p.sh(p.client, fmt.Sprintf(up, 2)+"; ip neighbour add 10.0.0.1 lladdr "+serverMAC+
		" dev eth0; ip -6 neighbour add fd00::1 lladdr "+serverMAC+" dev eth0 || true")
	p.sh(p.server, fmt.Sprintf(up, 1)+"; ip neighbour add 10.0.0.2 lladdr "+clientMAC+
		" dev eth0; ip -6 neighbour add fd00::2 lladdr "+clientMAC+" dev eth0 || true")
	return p
}

func (p pair) in(ns *netlink.Namespace, f func() error) {
	p.t.Helper()
	if err := ns.DoAsHost(f); err != nil {
		p.t.Fatalf("%s: %v", ns.Name(), err)
	}
}

func (p pair) sh(ns *netlink.Namespace, script string) (output string) {
	p.t.Helper()
	p.in(ns, func() error {
		out, err := exec.Command("sh", "-ec", script).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", script, err, out)
		}
		output = string(out)
		return nil
	})
	return output
}

// trace counts the drops of a namespace; nil: of all.
func (p pair) trace(of *netlink.Namespace, entries int) *Tracer {
	p.t.Helper()
	o := Options{Entries: entries}
	if of != nil {
		p.in(of, func() error {
			own, err := netlink.CurrentNetNS()
			o.Namespace = own.Inode
			return err
		})
	}
	tracer, err := Start(o)
	if errors.Is(err, ErrUnavailable) {
		kerneltest.Skip(p.t, err.Error())
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { tracer.Close() })
	return tracer
}

// datagrams sends n from the client.
func (p pair) datagrams(from, to string, ttl, n int) {
	p.t.Helper()
	p.in(p.client, func() error {
		var local *net.UDPAddr
		if from != "" {
			local = net.UDPAddrFromAddrPort(netip.MustParseAddrPort(from))
		}
		c, err := net.ListenUDP("udp", local)
		if err != nil {
			return err
		}
		defer c.Close()
		if ttl > 0 {
			raw, err := c.SyscallConn()
			if err != nil {
				return err
			}
			if err := raw.Control(func(fd uintptr) {
				err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TTL, ttl)
			}); err != nil {
				return err
			}
		}
		for range n {
			if _, err := c.WriteToUDPAddrPort(make([]byte, 1000), netip.MustParseAddrPort(to)); err != nil &&
				!errors.Is(err, unix.ENOBUFS) {
				return err
			}
		}
		return nil
	})
}

// frames sends n Ethernet frames from the client; of returns the type of each.
func (p pair) frames(to string, n int, of func(int) uint16, payload []byte) {
	p.t.Helper()
	destination, err := net.ParseMAC(to)
	if err != nil {
		p.t.Fatal(err)
	}
	source, _ := net.ParseMAC(clientMAC)
	p.in(p.client, func() error {
		eth0, err := net.InterfaceByName("eth0")
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for i := range n {
			frame := append(append(destination[:6:6], source...), byte(of(i)>>8), byte(of(i)))
			frame = append(frame, payload...)
			frame = append(frame, make([]byte, max(0, 60-len(frame)))...)
			if err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: eth0.Index}); err != nil {
				return err
			}
		}
		return nil
	})
}

// attach has a program drop what the server receives: it returns the verdict only.
func (p pair) attach(kind ebpf.ProgramType, at ebpf.AttachType, verdict int32, to func(*ebpf.Program, int) (link.Link,
	error)) (attached link.Link) {
	p.t.Helper()
	if err := features.HaveProgramType(kind); err != nil {
		kerneltest.Skip(p.t, fmt.Sprintf("%v: %v", kind, err))
	}
	p.in(p.server, func() error {
		eth0, err := net.InterfaceByName("eth0")
		if err != nil {
			return err
		}
		drop, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: kind, AttachType: at, License: "GPL",
			Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, verdict), asm.Return()}})
		if err != nil {
			return err
		}
		defer drop.Close()
		attached, err = to(drop, eth0.Index)
		if errors.Is(err, ebpf.ErrNotSupported) {
			err = nil
		}
		return err
	})
	if attached == nil {
		kerneltest.Skip(p.t, fmt.Sprintf("%v cannot be attached to %v", kind, at))
	}
	return attached
}
