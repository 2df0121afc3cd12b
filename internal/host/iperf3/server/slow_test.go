package server

import (
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/iperf3"
)

// TestStraysAreBounded: a client that sends without pause does not keep the server at its socket.
func TestStraysAreBounded(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client, err := net.Dial("udp", conn.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const sent = 3 * mostStrays
	for range sent {
		if _, err := client.Write(iperf3.Hello[:]); err != nil {
			t.Fatal(err)
		}
	}
	if list := strays(conn, netip.AddrPort{}); len(list) > mostStrays {
		t.Errorf("%d questions are taken", len(list))
	}
	left := 0
	for buffer := make([]byte, 8); conn.SetReadDeadline(time.Now().Add(100*time.Millisecond)) == nil; left++ {
		if _, err := conn.Read(buffer); err != nil {
			break
		}
	}
	if left < sent-mostStrays {
		t.Errorf("%d of %d datagrams are left, want at least %d", left, sent, sent-mostStrays)
	}
}

// TestSlowStreams: the time in which a client opens its streams does not begin again with
// each of them.
func TestSlowStreams(t *testing.T) {
	if os.Getenv("LINERATE_SOAK") == "" {
		t.Skip("takes as long as a client may take: make soak")
	}
	for name, udp := range map[string]bool{"TCP": false, "UDP": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port, visits := open(t, "127.0.0.1", unchanged)
			r := dial(t, port)
			p := simple()
			p.TCP, p.UDP, p.Parallel = !udp, udp, 15 // with 100 ms more for each
			r.asks(p)
			r.hears(iperf3.CreateStreams)
			for range p.Parallel {
				if udp {
					conn, err := net.Dial("udp", r.at)
					if err != nil {
						t.Fatal(err)
					}
					defer conn.Close()
					r.write(conn, iperf3.Hello[:])
				} else {
					r.stream()
				}
				select {
				case v := <-visits:
					if v.Err == nil || !strings.Contains(v.Err.Error(), "of 15 streams came") {
						t.Errorf("reported: %v", v.Err)
					}
					return
				case <-time.After(patience / 10):
				}
			}
			t.Error("a client that opens a stream each second is waited for")
		})
	}
}
