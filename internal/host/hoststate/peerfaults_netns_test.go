//go:build linux && !portable

package hoststate

import (
	"io"
	"net"
	"net/netip"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
)

// peerFaults are faults between two hosts, those that a probe finds, and a busy CPU.
var peerFaults = []fault{
	{id: "return-route-missing", on: "server", plant: func(b *bench) {
		b.listen("server", "10.0.0.1:7200")
		b.sh("client", "ip address add 172.20.0.2/32 dev lo && ip route replace 10.0.0.0/24 dev eth0 src 172.20.0.2")
		b.connect("client", "10.0.0.1:7200", 2)
		time.Sleep(1200 * time.Millisecond) // for the second SYN
	}, beside: []string{"syn-unanswered", "no-route", "tcp-retransmissions", "connect-fails"}},
	{id: "rule-without-routes", on: "client", plant: shell("client", "ip rule add from 10.0.0.2 table 100")},
	{id: "fin-wait-many", on: "client", plant: func(b *bench) {
		b.listen("server", "10.0.0.1:7210")
		for range 25 {
			_ = b.dial("client", "10.0.0.1:7210").CloseWrite()
		}
		time.Sleep(200 * time.Millisecond)
	}, beside: []string{"close-wait"}},
	{id: "peer-window-closed", on: "client", plant: func(b *bench) {
		b.fill("10.0.0.1:7220")
		time.Sleep(1200 * time.Millisecond) // for the second question after the window
	}, hosts: []string{"client"}, beside: []string{"window-limited"}},
	{id: "mss-small", on: "client", plant: func(b *bench) {
		b.sh("server", "ip route replace 10.0.0.0/24 dev eth0 advmss 500")
		b.fill("10.0.0.1:7230")
	}, hosts: []string{"client"}, beside: []string{"peer-window-closed", "window-limited"}},
	{id: "window-limited", on: "client", plant: func(b *bench) {
		l := b.listen("server", "10.0.0.1:7240")
		b.smallReceiveBuffer(l)
		b.trickle(l)
	}, beside: []string{"unread-data", "peer-window-closed"}},

	{id: "connection-stalled", on: "client", plant: func(b *bench) {
		b.listen("server", "10.0.0.1:7250")
		c := b.dial("client", "10.0.0.1:7250")
		b.paced(c, 100)
		for range 20 { // TCP does not pace the first ten segments
			_, _ = c.Write(make([]byte, 1000))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(3500 * time.Millisecond)
	}, hosts: []string{"client"}},

	{id: "time-exceeded-received", on: "client", plant: func(b *bench) {
		for _, router := range []string{"other", "server"} {
			b.in(router, func() error { return writeParameter("net.ipv4.ip_forward", "1") })
			b.in(router, func() error { return writeParameter("net.ipv4.icmp_ratelimit", "0") })
		}
		b.sh("other", "ip route add 172.16.6.0/24 via 10.0.0.1")
		b.sh("server", "ip route add 172.16.6.0/24 via 10.0.0.3")
		b.sh("client", "ip route add 172.16.6.0/24 via 10.0.0.3")
	}, act: func(b *bench) {
		send(b.udp("client", "", "172.16.6.1:9"), 40, 100)
	}, beside: []string{"ttl-exceeded", "redirects-sent", "redirects-received"}},
	{id: "protocol-unknown", on: "server", act: func(b *bench) {
		b.in("client", func() error {
			for range 20 {
				packet := make([]byte, 60)
				packet[0], packet[8], packet[9] = 0x45, 64, 253 // for experiments (RFC 3692)
				packet[3] = byte(len(packet))
				copy(packet[12:], []byte{10, 0, 0, 2, 10, 0, 0, 1})
				if err := rawSend(netip.MustParseAddr("10.0.0.1"), packet); err != nil {
					return err
				}
			}
			return nil
		})
	}},
	{id: "broadcasts-many", on: "server", act: func(b *bench) {
		c := b.udp("client", "", "10.0.0.255:7999")
		for range 400 { // within the backlog of a CPU
			send(c, 20, 20)
			time.Sleep(time.Millisecond)
		}
	}},
	{id: "cpu-saturated", plant: func(b *bench) {
		// A process of its own: Go's scheduler takes a goroutine's thread away from it.
		busy := exec.Command("sh", "-c", "while :; do :; done")
		if err := kerneltest.Start(busy); err != nil {
			b.t.Fatal(err)
		}
		b.ends = append(b.ends, func() { _ = busy.Process.Kill(); _ = busy.Wait() })
		_ = unix.Setpriority(unix.PRIO_PROCESS, busy.Process.Pid, 0) // niced programs do not count
		var one unix.CPUSet
		one.Set(firstCPU())
		if err := unix.SchedSetaffinity(busy.Process.Pid, &one); err != nil {
			b.t.Fatal(err)
		}
	}, hosts: []string{"client"}},

	{id: "resolver-dead", on: "client", plant: func(b *bench) {
		b.nameServer("other", "10.0.0.3:53")
		b.probes("10.0.0.1", 0, "10.0.0.99", "10.0.0.3")
	}},
	// The machine was not read: what it answers tells.
	{id: "arp-flux", on: "10.0.0.1", plant: func(b *bench) {
		b.link("server", "eth1", 9)
		b.sh("server", "ip address add 10.0.0.9/24 dev eth1 && ip link set dev eth1 up")
		b.probes("10.0.0.1", 0)
	}, hosts: []string{"client"}},
	{id: "duplicate-address", on: "client", plant: func(b *bench) {
		b.sh("other", "ip address add 10.0.0.1/24 dev eth0")
		b.probes("10.0.0.1", 0)
	}, hosts: []string{"client"}},
	{id: "mtu-blackhole", on: "client", plant: func(b *bench) {
		b.sh("switch", "ip link set dev server-eth0 mtu 1400")
		b.probes("10.0.0.1", 0)
	}},
	{id: "probe-unanswered", on: "client", plant: func(b *bench) { b.probes("10.0.0.77", 0) }},
	{id: "probe-unanswered", as: "its answers go to another MAC address", on: "client", plant: func(b *bench) {
		b.sh("server", "ip neighbour replace 10.0.0.2 lladdr 02:de:ad:be:ef:01 dev eth0 nud permanent")
		b.probes("10.0.0.1", 0)
	}, hosts: []string{"client"}},
	{id: "connect-unanswered", on: "client", plant: func(b *bench) {
		b.opened("server", func() (io.Closer, error) { return listenOf(addr("10.0.0.1:7250"), 1) })
		b.connect("client", "10.0.0.1:7250", 2)
		time.Sleep(200 * time.Millisecond)
		b.probes("10.0.0.1", 7250)
	}, hosts: []string{"client"}, beside: []string{"syn-unanswered", "tcp-retransmissions"}},
}

// fill sends to a program on the server that does not read.
func (b *bench) fill(address string) {
	b.listen("server", address)
	c := b.dial("client", address)
	_ = c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
	_, _ = c.Write(make([]byte, 16<<20))
}

// trickle has the client send to a program on the server that reads slowly.
func (b *bench) trickle(l *net.TCPListener) {
	c := b.dial("client", l.Addr().String())
	go func() {
		if r, err := l.Accept(); err == nil {
			for buffer := make([]byte, 2048); ; time.Sleep(2 * time.Millisecond) {
				if _, err := r.Read(buffer); err != nil {
					return
				}
			}
		}
	}()
	go func() { _, _ = io.Copy(c, zeros{}) }()
}

// smallReceiveBuffer is that of connections that l accepts.
func (b *bench) smallReceiveBuffer(l *net.TCPListener) {
	raw, err := l.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 8<<10) })
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// paced bounds the rate at which a connection sends, in byte/s.
func (b *bench) paced(c *net.TCPConn, rate int) {
	raw, err := c.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, rate)
		})
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// firstCPU is the first that this process may use.
func firstCPU() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0
	}
	for n := range 1024 {
		if set.IsSet(n) {
			return n
		}
	}
	return 0
}

// zeros is an endless source.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// readSteadily reads with pauses. Without them the CPUs limit a connection with a small
// window: on some machines, or beside other labs.
func readSteadily(r io.Reader) {
	var err error
	for data := make([]byte, 1024); err == nil; time.Sleep(200 * time.Microsecond) {
		_, err = r.Read(data)
	}
}
