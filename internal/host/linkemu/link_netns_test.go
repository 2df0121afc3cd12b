//go:build linux && !portable

package linkemu

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// ends are two namespaces with a link between their interfaces.
type ends struct {
	t    *testing.T
	both [2]*netlink.Namespace
}

// mechanisms are what applies delay and loss here: the emulator, and the kernel's netem
// where there is one. Both must pass the same tests.
func mechanisms(t *testing.T) []topology.Mechanism {
	t.Helper()
	conn, err := netlink.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	list := []topology.Mechanism{topology.Emulator}
	if conn.HasNetem() == nil {
		list = append(list, topology.Netem)
	}
	return list
}

// joined makes a link whose directions have these impairments.
func joined(t *testing.T, by topology.Mechanism, there, back topology.Impairment) ends {
	t.Helper()
	e := ends{t: t}
	namespace := func(name string) *netlink.Namespace {
		ns, err := netlink.NewNamespace(name)
		if err != nil {
			kerneltest.Skip(t, err.Error())
		}
		t.Cleanup(ns.Close)
		return ns
	}
	var link [2]netlink.LinkEnd
	for i, name := range []string{"a", "b"} {
		e.both[i] = namespace(name)
		link[i] = netlink.LinkEnd{Namespace: e.both[i], Interface: "eth0", MAC: "02:00:00:00:00:0" +
			string(rune('1'+i)), MTU: 1500}
	}
	parts, chosen, _, err := topology.SplitLink([2]topology.Impairment{there, back}, func(m topology.Mechanism) error {
		if m != by {
			return errors.New("not " + string(m))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	inFlight := [2]topology.Impairment{parts[0].InFlight, parts[1].InFlight}
	switch chosen {
	case topology.Emulator:
		e.emulate(link, inFlight)
	case topology.Netem:
		err = link[0].NewNetemLink(link[1], namespace("wire"), "wire", inFlight)
	default:
		err = link[0].NewVethPair(link[1])
	}
	if err != nil {
		kerneltest.Skip(t, err.Error())
	}
	for i, ns := range e.both {
		if err := ns.Shape("eth0", parts[i].TBF); err != nil {
			t.Fatal(err)
		}
		e.do(i, func() {
			other := string(rune('2' - i))
			kerneltest.Do(t, "ip", "addr", "add", "10.0.0."+string(rune('1'+i))+"/24", "dev", "eth0")
			kerneltest.Do(t, "ip", "addr", "add", "fd00::"+string(rune('1'+i))+"/64", "dev", "eth0", "nodad")
			for _, neighbour := range []string{"10.0.0." + other, "fd00::" + other} {
				kerneltest.Do(t, "ip", "neigh", "replace", neighbour, "lladdr", "02:00:00:00:00:0"+other, "dev", "eth0")
			}
		})
	}
	return e
}

// emulate makes taps and carries frames between them until the test ends.
func (e ends) emulate(link [2]netlink.LinkEnd, directions [2]topology.Impairment) {
	e.t.Helper()
	var taps []int
	for _, end := range link {
		tap, err := end.NewTap()
		if err != nil {
			kerneltest.Skip(e.t, err.Error())
		}
		e.t.Cleanup(func() { tap.Close() })
		taps = append(taps, descriptor(e.t, tap))
	}
	stop, done := make(chan struct{}), make(chan error)
	go func() { done <- Carry([][2]topology.Impairment{directions}, taps, stop) }()
	e.t.Cleanup(func() {
		close(stop)
		if err := <-done; err != nil {
			e.t.Error(err)
		}
	})
}

func descriptor(t *testing.T, f *os.File) (fd int) {
	t.Helper()
	raw, err := f.SyscallConn()
	if err == nil {
		err = raw.Control(func(d uintptr) { fd = int(d) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

func (e ends) do(i int, f func()) {
	e.t.Helper()
	if err := e.both[i].Do(func() error { f(); return nil }); err != nil {
		e.t.Fatal(err)
	}
}

// must is for what cannot fail in a scene that stands.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestCarrier: an end has a carrier while the other end is up, and the link then carries frames.
func TestCarrier(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		delay := topology.Impairment{Delay: 1e6}
		e := joined(t, topology.Emulator, delay, delay)
		for i := range 2 {
			for _, state := range []string{"down", "up"} {
				e.do(i, func() { kerneltest.Do(t, "ip", "link", "set", "dev", "eth0", state) })
				carrier := func() (is bool) {
					e.do(1-i, func() {
						is = strings.Contains(kerneltest.Do(t, "ip", "-o", "link", "show", "dev", "eth0"), "LOWER_UP")
					})
					return is
				}
				for end := time.Now().Add(20 * time.Second); carrier() != (state == "up"); time.Sleep(
					10 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("end %d is %s, and the other one has not noticed", i, state)
					}
				}
			}
			for k := range 2 { // the entry is gone with the interface
				e.do(k, func() {
					kerneltest.Do(t, "ip", "neigh", "replace", "10.0.0."+string(rune('2'-k)), "lladdr",
						"02:00:00:00:00:0"+string(rune('2'-k)), "dev", "eth0")
				})
			}
			e.transfer("10.0.0.2:0", 64<<10)
		}
	})
}

// TestMarks: of two senders that send as fast as they can, the one that understands
// marks gets some and loses nothing.
func TestMarks(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		for _, understands := range []bool{true, false} {
			link := topology.Impairment{Delay: 5e6, Rate: 40e6, Queue: unit.Depth{Size: 1 << 20},
				ECN: unit.Depth{Size: 20 << 10}}
			e := joined(t, topology.Emulator, link, topology.Impairment{Delay: 5e6})
			for i := range 2 {
				e.do(i, func() {
					kerneltest.Do(t, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno", "net.ipv4.tcp_ecn="+
						map[bool]string{true: "1", false: "0"}[understands])
				})
			}
			e.transfer("10.0.0.2:0", 4<<20)
			marked, resent := e.counter(1, "netstat", "IpExt", "InCEPkts"), e.counter(0, "snmp", "Tcp", "RetransSegs")
			t.Logf("understands %v: %s packets had marks, %s segments were sent again", understands, marked, resent)
			if (marked != "0") != understands {
				t.Errorf("understands %v: %s packets had marks", understands, marked)
			}
		}
	})
}

// transfer sends bytes over TCP to an address of the second end, and holds what
// came against them.
func (e ends) transfer(address string, size int) {
	e.t.Helper()
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	var l net.Listener
	e.do(1, func() { l = must(net.Listen("tcp", address)) })
	defer l.Close()
	var conn net.Conn
	e.do(0, func() { conn = must(net.Dial("tcp", l.Addr().String())) })
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, bytes.NewReader(data))
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	in := must(l.Accept())
	defer in.Close()
	_ = in.SetReadDeadline(time.Now().Add(60 * time.Second))
	got := sha256.New()
	n, err := io.Copy(got, in)
	if err != nil || n != int64(len(data)) || [32]byte(got.Sum(nil)) != sha256.Sum256(data) {
		e.t.Errorf("%s: %d of %d bytes came, %v, and they are not what was sent", address, n, len(data), err)
	}
}

// TestBytesSurvive: TCP gets through what was cut out of super-frames, and through
// frames that overtake and wait for different whiles, byte by byte, and the kernel
// finds no wrong checksum.
func TestBytesSurvive(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		lossy := topology.Impairment{Delay: 500e3, Loss: 0.01}
		mixed := topology.Impairment{Delay: 2e6, Jitter: 500e3, Reorder: 0.01}
		queued := topology.Impairment{Delay: 500e3, Rate: 200e6, Queue: unit.Depth{Size: 100_000},
			ECN: unit.Depth{Size: 50_000}}
		for _, link := range []topology.Impairment{lossy, mixed, queued} {
			e := joined(t, topology.Emulator, link, link)
			for _, address := range []string{"10.0.0.2:0", "[fd00::2]:0"} {
				e.transfer(address, 4<<20)
			}
			for i := range 2 {
				if value := e.counter(i, "snmp", "Tcp", "InCsumErrors"); value != "0" {
					t.Errorf("%+v: end %d: %s segments had a wrong checksum", link, i, value)
				}
			}
			resent := e.counter(0, "snmp", "Tcp", "RetransSegs")
			if resent == "0" && link.Loss > 0 {
				t.Error("nothing was lost: the test does not test")
			}
			t.Logf("%+v: %s segments were sent again", link, resent)
		}
	})
}

// counter finds a value in an end's /proc/net/snmp or netstat, whose lines come in
// pairs.
func (e ends) counter(i int, file, group, name string) (value string) {
	e.t.Helper()
	e.do(i, func() {
		var names []string
		for line := range strings.Lines(string(must(os.ReadFile("/proc/thread-self/net/" + file)))) {
			words := strings.Fields(line)
			switch {
			case len(words) == 0 || words[0] != group+":":
			case names == nil:
				names = words
			default:
				if i := slices.Index(names, name); i >= 0 && i < len(words) {
					value = words[i]
				}
			}
		}
	})
	if value == "" {
		e.t.Fatalf("/proc/net/%s has no %s.%s", file, group, name)
	}
	return value
}
