//go:build linux

package foreign

import (
	"net"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
)

// TestAcknowledgedThroughAFullQueue: what this host's own queue has not let out, TCP
// sends another time and counts as sent twice, but not as sent again.
func TestAcknowledgedThroughAFullQueue(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		server, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		client, err := net.Dial("tcp", server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		sockets, err := netlink.DialSocketDiag()
		if err != nil {
			t.Fatal(err)
		}
		defer sockets.Close()
		kerneltest.Do(t, "tc", "qdisc", "add", "dev", "lo", "root", "bfifo", "limit", "1")
		const said = 37
		if _, err := client.Write(make([]byte, said)); err != nil {
			t.Fatal(err)
		}
		kerneltest.Do(t, "tc", "qdisc", "del", "dev", "lo", "root")
		p := &process{}
		for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			list, err := sockets.TCP(false)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				if s.Local.String() != client.LocalAddr().String() || s.Info.BytesSent == 0 {
					continue
				}
				got := p.acknowledged(s)
				if got == said && s.Info.BytesSent-s.Info.BytesRetrans > said {
					return
				}
				if got > said || time.Now().After(deadline) {
					t.Fatalf("%d bytes acknowledged of %d; the kernel counts %d as sent, %d as sent again", got, said,
						s.Info.BytesSent, s.Info.BytesRetrans)
				}
			}
			if time.Now().After(deadline) {
				t.Fatal("the connection is not there")
			}
		}
	})
}
