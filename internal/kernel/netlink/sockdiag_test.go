//go:build linux && !portable

package netlink

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestSockets: the counters and queues of another program's sockets are those of the
// data that arrived, was read, and is in flight.
func TestSockets(t *testing.T) {
	s, err := DialSocketDiag()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // a machine without IPv6
			continue
		}
		near, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		far, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		const sent, read = 40_000, 10_000
		if _, err := near.Write(make([]byte, sent)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(far, make([]byte, read)); err != nil {
			t.Fatal(err)
		}
		find := func(listening bool, local net.Addr) (found Socket, n int) {
			list, err := s.TCP(listening)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range list {
				if one.Local.String() == local.String() && one.Listening == listening &&
					(listening || one.Remote.String() == near.LocalAddr().String() ||
						one.Remote.String() == far.LocalAddr().String()) {
					found = one
					n++
				}
			}
			return found, n
		}
		receiver, n := find(false, far.LocalAddr())
		for deadline := time.Now().Add(10 * time.Second); n == 1 && receiver.Info != nil &&
			receiver.Info.BytesReceived < sent && time.Now().Before(deadline); {
			receiver, n = find(false, far.LocalAddr())
		}
		if n != 1 || receiver.Info == nil || !receiver.Established {
			t.Fatalf("%s: %d sockets, %+v", address, n, receiver)
		}
		if receiver.Info.BytesReceived != sent || receiver.ReceiveQueue != sent-read {
			t.Errorf("%s: received %d with %d unread, want %d and %d", address, receiver.Info.BytesReceived,
				receiver.ReceiveQueue, sent, sent-read)
		}
		sender, _ := find(false, near.LocalAddr())
		// The kernel counts the opener's SYN as acknowledged.
		if sender.Info == nil || int64(sender.Info.BytesAcked)+sender.SendQueue != sent+1 ||
			sender.CongestionControl == "" {
			t.Errorf("%s: sender %+v with %+v", address, sender, sender.Info)
		}
		if _, n := find(true, listener.Addr()); n != 1 {
			t.Errorf("%s: %d sockets listen", address, n)
		}
		near.Close()
		far.Close()
		listener.Close()
	}
	packet, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer packet.Close()
	list, err := s.UDP()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, one := range list {
		found = found || one.Local.String() == packet.LocalAddr().String() && one.ReceiveBuffer > 0
	}
	if !found {
		t.Errorf("%s is not among %d UDP sockets with their receive buffers", packet.LocalAddr(), len(list))
	}
}
