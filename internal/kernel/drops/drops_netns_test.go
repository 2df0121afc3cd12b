//go:build linux && !portable

package drops

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
)

// count is the sum of what fits; an empty field of want fits all.
func count(c Counts, want Count) (n int64) {
	for _, has := range c.List {
		if has.Reason == want.Reason && (want.Direction == "" || has.Direction == want.Direction) &&
			(want.Protocol == "" || has.Protocol == want.Protocol) {
			n += has.Packets
		}
	}
	return n
}

// reaches reads until so many are counted: softirqs may be served after the sender returns.
func reaches(t testing.TB, tracer *Tracer, want Count) Counts {
	t.Helper()
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c, err := tracer.Read()
		if err != nil {
			t.Fatal(err)
		}
		if count(c, want) >= want.Packets || time.Now().After(until) {
			return c
		}
	}
}

// TestReasons drops packets for one reason after the other: each is counted by its reason,
// direction and protocol as often as it was sent, by its interface, and in its namespace only.
func TestReasons(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		udp := Count{Direction: "rx", Protocol: "IPv4 UDP"}
		for _, test := range []struct {
			name string
			// act drops packets and returns what is to be counted.
			act func(p pair) Count
			// client: the drops are the client's; otherwise the server's.
			client bool
		}{
			{"NO_SOCKET", func(p pair) Count {
				p.datagrams("", "10.0.0.1:9", 0, 50)
				udp.Packets = 50
				return udp
			}, false},
			{"NO_SOCKET", func(p pair) Count { // IPv6
				if _, err := os.Stat("/proc/net/if_inet6"); errors.Is(err, fs.ErrNotExist) {
					kerneltest.Skip(t, "the kernel has no IPv6")
				}
				p.datagrams("", "[fd00::1]:9", 0, 20)
				return Count{Direction: "rx", Protocol: "IPv6 UDP", Packets: 20}
			}, false},
			{"NO_SOCKET", func(p pair) Count { // TCP
				p.in(p.client, func() error {
					if c, err := net.DialTimeout("tcp", "10.0.0.1:9", time.Second); err == nil {
						c.Close()
						return errors.New("something listens")
					}
					return nil
				})
				return Count{Direction: "rx", Protocol: "IPv4 TCP", Packets: 1}
			}, false},
			{"SOCKET_RCVBUFF", func(p pair) Count {
				var full *net.UDPConn
				p.in(p.server, func() (err error) {
					if full, err = net.ListenUDP("udp4", &net.UDPAddr{Port: 7}); err == nil {
						err = full.SetReadBuffer(1)
					}
					return err
				})
				defer full.Close()
				p.datagrams("", "10.0.0.1:7", 0, 80)
				udp.Packets = 80
				full.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
				for buf := make([]byte, 2000); ; udp.Packets-- {
					if _, err := full.Read(buf); err != nil {
						return udp
					}
				}
			}, false},
			{"IP_RPFILTER", func(p pair) Count {
				p.sh(p.server, "echo 1 > /proc/sys/net/ipv4/conf/all/rp_filter")
				p.sh(p.client, "ip address add 198.51.100.7/32 dev lo")
				p.datagrams("198.51.100.7:0", "10.0.0.1:9", 0, 30)
				udp.Packets = 30
				return udp
			}, false},
			{"IP_INHDR", func(p pair) Count { // time to live
				p.sh(p.server, "echo 1 > /proc/sys/net/ipv4/ip_forward; ip route add 203.0.113.0/24 via 10.0.0.2")
				p.sh(p.client, "ip route add 203.0.113.0/24 via 10.0.0.1")
				p.datagrams("", "203.0.113.9:9", 1, 25)
				udp.Packets = 25
				return udp
			}, false},
			{"UNHANDLED_PROTO", func(p pair) Count {
				p.frames(serverMAC, 40, func(int) uint16 { return 0x88b5 }, nil)
				return Count{Direction: "rx", Protocol: "0x88B5", Packets: 40}
			}, false},
			{"UNHANDLED_PROTO", func(p pair) Count {
				p.frames("01:80:c2:00:00:0e", 12, func(int) uint16 { return 0x88cc }, nil)
				return Count{Direction: "rx", Protocol: "LLDP", Packets: 12}
			}, false},
			{"OTHERHOST", func(p pair) Count {
				header := []byte{0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1}
				p.frames("02:99:00:00:00:09", 15, func(int) uint16 { return 0x0800 }, header)
				udp.Packets = 15
				return udp
			}, false},
			{"NETFILTER_DROP", func(p pair) Count {
				defer p.attach(ebpf.Netfilter, ebpf.AttachNetfilter, 0,
					func(drop *ebpf.Program, _ int) (link.Link, error) {
						return link.AttachNetfilter(link.NetfilterOptions{Program: drop,
							ProtocolFamily: unix.NFPROTO_IPV4,
							Hook:           link.NetfilterInetLocalIn, Priority: -128})
					}).Close()
				p.datagrams("", "10.0.0.1:9", 0, 33)
				udp.Packets = 33
				return udp
			}, false},
			{"TC_INGRESS", func(p pair) Count {
				const drop = 2 // TCX_DROP
				defer p.attach(ebpf.SchedCLS, ebpf.AttachTCXIngress, drop,
					func(drop *ebpf.Program, eth0 int) (link.Link, error) {
						return link.AttachTCX(link.TCXOptions{Program: drop, Interface: eth0,
							Attach: ebpf.AttachTCXIngress})
					}).Close()
				p.datagrams("", "10.0.0.1:9", 0, 34)
				udp.Packets = 34
				return udp
			}, false},
			{"QDISC_DROP", func(p pair) Count {
				p.sh(p.client, "tc qdisc add dev eth0 root tbf rate 8kbit burst 1600 limit 2000")
				p.datagrams("", "10.0.0.1:9", 0, 60)
				counted := p.sh(p.client, "tc -s qdisc show dev eth0")
				_, after, _ := strings.Cut(counted, "(dropped ")
				text, _, _ := strings.Cut(after, ",")
				n, err := strconv.ParseInt(text, 10, 64)
				if err != nil || n == 0 {
					p.t.Fatalf("the queue dropped nothing: %s", counted)
				}
				return Count{Direction: "tx", Protocol: "IPv4 UDP", Packets: n}
			}, true},
		} {
			t.Run(test.name, func(t *testing.T) {
				p := newPair(t)
				here, there := p.server, p.client
				if test.client {
					here, there = p.client, p.server
				}
				own, other, all := p.trace(here, 0), p.trace(there, 0), p.trace(nil, 0)
				want := test.act(p)
				want.Reason = test.name
				c := reaches(t, own, want)
				if n := count(c, want); n != want.Packets {
					t.Errorf("%d counted, want %d: %+v", n, want.Packets, c)
				}
				for _, has := range c.List {
					if has.Reason == want.Reason && has.Protocol == want.Protocol && has.Place == "" && kallsyms() {
						t.Errorf("no place: %+v", has)
					}
				}
				p.in(here, func() error {
					eth0, err := net.InterfaceByName("eth0")
					for _, has := range c.List {
						if has.Reason == want.Reason && err == nil && has.Index != eth0.Index {
							t.Errorf("interface %d, want %d: %+v", has.Index, eth0.Index, has)
						}
					}
					return err
				})
				if !test.client { // what the server drops was sent by the client, which drops nothing
					if c, err := other.Read(); err != nil || count(c, want) != 0 {
						t.Errorf("in the other namespace: %+v, %v", c, err)
					}
				}
				if n := count(reaches(t, all, want), want); n < want.Packets {
					t.Errorf("%d in all namespaces, want %d", n, want.Packets)
				}
			})
		}
	})
}

// kallsyms reports whether addresses of functions are there to be read.
func kallsyms() bool {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if address, _, _ := strings.Cut(lines.Text(), " "); strings.Trim(address, "0") != "" {
			return true
		}
	}
	return false
}

// TestFull: drops that find no room are counted as lost, those of others on the machine included.
func TestFull(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		p := newPair(t)
		tracer := p.trace(p.server, 4)
		p.frames(serverMAC, 50, func(i int) uint16 { return 0x9100 + uint16(i) }, nil)
		var c Counts
		var n int64
		for until := time.Now().Add(5 * time.Second); n < 50 &&
			time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			var err error
			if c, err = tracer.Read(); err != nil {
				t.Fatal(err)
			}
			n = c.Lost + count(c, Count{Reason: "UNHANDLED_PROTO"})
		}
		if n < 50 || len(c.List) == 0 || c.Lost == 0 {
			t.Errorf("%d counted of 50: %+v", n, c)
		}
	})
}

// TestNothingIsLeft: the kernel has no program of ours when the tracer is closed, or when its
// process is killed.
func TestNothingIsLeft(t *testing.T) {
	const child = "LINERATE_TEST_DROPS_CHILD"
	if os.Getenv(child) != "" {
		tracer, err := Start(Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("program", id(t, tracer))
		time.Sleep(time.Minute) // until it is killed
		t.Fatal(tracer.Close())
	}
	tracer, err := Start(Options{})
	if errors.Is(err, ErrUnavailable) {
		kerneltest.Skip(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	closed := id(t, tracer)
	if err := tracer.Close(); err != nil {
		t.Fatal(err)
	}
	gone(t, closed)

	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNothingIsLeft$")
	command.Env = append(os.Environ(), child+"=1")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var program ebpf.ProgramID
	if _, err := fmt.Fscanf(out, "program %d\n", &program); err != nil {
		t.Error(err)
	}
	if p, err := ebpf.NewProgramFromID(program); err != nil {
		t.Errorf("program %d of the living process: %v", program, err)
	} else {
		p.Close()
	}
	command.Process.Kill()
	command.Wait()
	gone(t, program)
}

func id(t *testing.T, tracer *Tracer) ebpf.ProgramID {
	t.Helper()
	info, err := tracer.prog.Info()
	if err != nil {
		t.Fatal(err)
	}
	number, _ := info.ID()
	return number
}

// gone waits until the kernel has freed a program, which it does after a grace period of RCU.
func gone(t *testing.T, program ebpf.ProgramID) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		p, err := ebpf.NewProgramFromID(program)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err == nil {
			p.Close()
		}
		if time.Now().After(until) {
			t.Fatalf("program %d is still there: %v", program, err)
		}
	}
}

// TestRefused: without privileges over the machine, the error says what is missing.
func TestRefused(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		_, err := Start(Options{})
		if err == nil || !errors.Is(err, ErrUnavailable) {
			t.Fatalf("got %v", err)
		}
		if _, missing := os.Stat("/sys/kernel/btf/vmlinux"); missing == nil &&
			!strings.Contains(err.Error(), "CAP_BPF and CAP_PERFMON") {
			t.Errorf("got %v", err)
		}
	})
}

// BenchmarkDrop drops a frame with and without the tracer, and reports what the program takes
// of it.
func BenchmarkDrop(b *testing.B) {
	for _, traced := range []bool{false, true} {
		b.Run(fmt.Sprintf("traced=%v", traced), func(b *testing.B) {
			p := newPair(b)
			if traced {
				stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
				if err != nil {
					kerneltest.Skip(b, err.Error())
				}
				defer stats.Close()
				tracer := p.trace(p.server, 0)
				defer func() {
					if s, err := tracer.prog.Stats(); err == nil && s.RunCount > 0 {
						b.ReportMetric(float64(s.Runtime)/float64(s.RunCount), "ns/program")
					}
				}()
			}
			b.ResetTimer()
			p.frames(serverMAC, b.N, func(int) uint16 { return 0x88b5 }, nil)
		})
	}
}
