//go:build linux && !portable

package attack

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	frame "linerate/internal/kernel/packet"
	"linerate/internal/model/attacks"
	"linerate/internal/model/message"
)

const key = "0123456789abcdef0123456789abcdef"

// member is an engine of a host whose network namespace is that of the test.
func member(t *testing.T) *Engine {
	t.Helper()
	ns, err := netlink.CurrentNetNS()
	if err != nil {
		t.Fatal(err)
	}
	e := New(message.Membership{Key: key, Inode: ns.Inode, Cookie: ns.Cookie})
	t.Cleanup(e.Close)
	return e
}

// cable makes a veth pair of which one end has the attacker's addresses, and the other is
// where frames to the target arrive.
func cable(t *testing.T) {
	t.Helper()
	kerneltest.Do(t, "ip", "link", "add", "near", "address", "02:00:00:00:00:01", "type", "veth", "peer", "name", "far",
		"address", "02:00:00:00:00:02")
	for _, name := range []string{"near", "far"} {
		kerneltest.Do(t, "sysctl", "-w", "net.ipv6.conf."+name+".accept_dad=0", "net.ipv6.conf."+name+
			".router_solicitations=0")
		kerneltest.Do(t, "ip", "link", "set", name, "up")
	}
	kerneltest.Do(t, "ip", "address", "add", "10.0.0.1/24", "dev", "near")
	kerneltest.Do(t, "ip", "address", "add", "2001:db8::1/64", "dev", "near", "nodad")
	kerneltest.Do(t, "ip", "route", "add", "2001:db8:1::/64", "via", "2001:db8::2")
	for _, address := range []string{"10.0.0.2", "2001:db8::2"} {
		kerneltest.Do(t, "ip", "neighbour", "replace", address, "lladdr", "02:00:00:00:00:02", "dev", "near")
	}
}

// soon is a window of so long that begins after a warm-up.
func soon(warmup, length time.Duration) message.WindowRequest {
	start := now() + int64(10*time.Millisecond)
	begin := start + int64(warmup)
	end := begin + int64(length)
	return message.WindowRequest{StartNs: start, BeginNs: begin, EndNs: end, StopNs: end + int64(20*time.Millisecond)}
}

// TestFloods: of each kind of frames so many arrive as were asked for, and are counted as sent.
func TestFloods(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		cable(t)
		e := member(t)
		const perSecond, length = 2000, 150 * time.Millisecond
		for _, k := range attacks.Kinds {
			for _, six := range families(k) {
				name := fmt.Sprintf("%s, IPv6 %t", k.Name, six)
				r, _ := requestOf(k, six)
				r.PerSecond = perSecond
				if err := e.Prepare(t.Context(), message.AttacksRequest{Key: key, Attacks: []message.AttackRequest{
					r}}); err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				receiver, err := frame.OpenReceiver("far", frame.Match{})
				if err != nil {
					t.Fatal(err)
				}
				w := soon(20*time.Millisecond, length)
				e.Start(w)
				e.Start(w) // only the first call counts
				arrived := 0
				for now() < w.StopNs+int64(10*time.Millisecond) {
					n, err := receiver.Receive(10 * time.Millisecond)
					if err != nil {
						t.Fatal(err)
					}
					for i := range n {
						if m := receiver.Frame(i); m.AtNs >= w.BeginNs && m.AtNs < w.EndNs && isOf(m.Data, k, six) {
							arrived++
						}
					}
				}
				receiver.Close()
				counts := e.Results(t.Context())
				if len(counts) != 1 || counts[0].Error != "" || counts[0].Mode == "" || counts[0].Lateness == nil {
					t.Errorf("%s: %+v", name, counts)
					continue
				}
				// The sender may be held up, never ahead; what it has sent has to arrive, but for the edges.
				due := int64(perSecond * length.Seconds())
				if c := counts[0]; c.Sent > due+25 || c.Sent < due/10 || arrived < int(c.Sent)-25 ||
					arrived > int(c.Sent)+25 {
					t.Errorf("%s: %d due, %d sent and %d given up, %d arrived", name, due, c.Sent, c.Skipped, arrived)
				}
			}
		}
	})
}

// isOf reports whether a frame is one of an attack, and not of the kernel's own.
func isOf(b []byte, k attacks.Kind, six bool) bool {
	switch kind := binary.BigEndian.Uint16(b[12:]); {
	case k.Family == 4:
		return kind == typeARP
	case six:
		return kind == typeIPv6 &&
			netip.MustParsePrefix("2001:2::/48").Contains(netip.AddrFrom16([16]byte(b[ethernet+8:])))
	default:
		return kind == typeIPv4 &&
			netip.MustParsePrefix("198.18.0.0/15").Contains(netip.AddrFrom4([4]byte(b[ethernet+12:])))
	}
}

// TestRefused: a host that is not of the conductor's own lab sends nothing.
func TestRefused(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		cable(t)
		ns, err := netlink.CurrentNetNS()
		if err != nil {
			t.Fatal(err)
		}
		receiver, err := frame.OpenReceiver("far", frame.Match{})
		if err != nil {
			t.Fatal(err)
		}
		defer receiver.Close()
		for want, m := range map[string]message.Membership{
			"not one of the conductor's lab": {},
			"conductor's lab":                {Key: key + "0", Inode: ns.Inode, Cookie: ns.Cookie},
			"did not make the network":       {Key: key},
			"init process did not make":      {Key: key, Inode: ns.Inode + 1, Cookie: ns.Cookie + 1},
		} {
			for _, k := range attacks.Kinds {
				e := New(m)
				six := k.Family == 6
				r, _ := requestOf(k, six)
				r.Connections = 1
				err := e.Prepare(t.Context(), message.AttacksRequest{Key: key, Attacks: []message.AttackRequest{r}})
				if err == nil || !errors.Is(err, message.NotPermitted) || !strings.Contains(err.Error(), want) {
					t.Errorf("%+v, %s: %v, want %q", m, k.Name, err, want)
				}
				e.Start(soon(0, time.Millisecond))
				if got := e.Results(t.Context()); len(got) > 0 {
					t.Errorf("%s: %+v", k.Name, got)
				}
				e.Close()
			}
		}
		for n := 1; n > 0; {
			if n, err = receiver.Receive(100 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for _, k := range attacks.Kinds {
					if data := receiver.Frame(i).Data; isOf(data, k, k.Family == 6) {
						t.Errorf("a frame arrived: % x", data)
					}
				}
			}
		}
	})
}

// TestHardwareRefuses: an interface that is up and is not a virtual one of a lab.
func TestHardwareRefuses(t *testing.T) {
	lab := []netlink.Link{{Name: "lo", Loopback: true, Up: true}, {Name: "eth0", Kind: "veth", Up: true},
		{Name: "sit0", Kind: "sit"}}
	if err := virtual(lab); err != nil {
		t.Error(err)
	}
	for _, l := range []netlink.Link{{Name: "eno1", Up: true}, {Name: "wg0", Kind: "wireguard", Up: true}} {
		if err := virtual(append(lab, l)); err == nil || !strings.Contains(err.Error(), l.Name) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// TestConnections: connections are opened at the rate up to their number and held, those that
// the other end closes are replaced, and nothing is left of them.
func TestConnections(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		cable(t)
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		e := member(t)
		for _, name := range []string{attacks.Slowloris, attacks.IdleConnections, attacks.ZeroWindow} {
			for _, closes := range []bool{false, true} {
				l, err := net.Listen("tcp", "10.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				ctx, end := context.WithCancel(t.Context())
				go serveSome(ctx, l, closes)
				r := message.AttackRequest{Kind: name, Target: netip.MustParseAddrPort(l.Addr().String()),
					PerSecond: 1000, Connections: 50, Path: "/", Seed: [2]uint64{1, 2}}
				if err := e.Prepare(t.Context(), message.AttacksRequest{Key: key, Attacks: []message.AttackRequest{
					r}}); err != nil {
					t.Fatal(err)
				}
				e.Start(soon(250*time.Millisecond, 150*time.Millisecond))
				counts := e.Results(t.Context())
				end()
				l.Close()
				if len(counts) != 1 {
					t.Fatalf("%+v", counts)
				}
				switch c := counts[0]; {
				case c.Error != "":
					t.Errorf("%s: %+v", name, c)
				case !closes && (c.Open != 50 || c.Sent > 5 || c.Closed > 0):
					t.Errorf("%s, held: %+v", name, c)
				case closes && (c.Closed == 0 || c.Sent == 0 || c.Sent > 300):
					t.Errorf("%s, closed by the server: %+v", name, c)
				}
			}
		}
	})
}

// serveSome accepts connections and reads what comes; it closes each after 50 ms if so said, and
// answers nothing.
func serveSome(ctx context.Context, l net.Listener, closes bool) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			if closes {
				_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			}
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			buffer := make([]byte, 1024)
			for {
				if _, err := conn.Read(buffer); err != nil {
					if closes {
						_ = conn.(*net.TCPConn).SetLinger(0)
					}
					return
				}
			}
		}()
	}
}
