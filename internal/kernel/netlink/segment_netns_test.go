//go:build linux && !portable

package netlink

import (
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
)

// TestSegment: a packet of segmentation offload with segments beyond the MTU of the far end passes
// a veth pair as a whole; after Segment the far end drops each segment.
func TestSegment(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		ends := make([]LinkEnd, 2)
		for i := range ends {
			ns, err := NewNamespace("end")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(ns.Close)
			ends[i] = LinkEnd{Namespace: ns, Interface: "eth0", MAC: "02:00:00:00:09:0" + string("12"[i]),
				MTU: []int{9000, 1500}[i]}
		}
		if err := ends[0].NewVethPair(ends[1]); err != nil {
			t.Fatal(err)
		}
		inside := func(i int, f func() error) {
			t.Helper()
			if err := ends[i].Namespace.Do(f); err != nil {
				t.Fatal(err)
			}
		}
		inside(0, func() error {
			kerneltest.Do(t, "ip", strings.Fields("addr add 10.9.0.1/24 dev eth0")...)
			kerneltest.Do(t, "ip", strings.Fields("neigh add 10.9.0.2 lladdr "+ends[1].MAC+" dev eth0")...)
			return nil
		})
		// received sends two datagrams of 8000 bytes at once, and returns whether they arrived.
		received := func() (arrived bool) {
			read := func() (octets int) {
				inside(1, func() error {
					text, err := os.ReadFile("/proc/thread-self/net/dev")
					if err != nil {
						return err
					}
					_, line, _ := strings.Cut(string(text), "eth0:")
					octets, err = strconv.Atoi(strings.Fields(line)[0])
					return err
				})
				return octets
			}
			before := read()
			inside(0, func() error {
				fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
				if err != nil {
					return err
				}
				defer unix.Close(fd)
				if err := unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, 8000); err != nil {
					return err
				}
				return unix.Sendto(fd, make([]byte, 16000), 0,
					&unix.SockaddrInet4{Port: 9, Addr: netip.MustParseAddr("10.9.0.2").As4()})
			})
			return read()-before > 8000
		}
		if !received() {
			t.Log("this kernel drops such packets itself")
		}
		if err := ends[0].Namespace.Segment("eth0"); err != nil {
			t.Fatal(err)
		}
		if received() {
			t.Error("frames of 8000 bytes passed an interface with an MTU of 1500")
		}
	})
}
