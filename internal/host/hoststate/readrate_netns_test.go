//go:build linux && !portable

package hoststate

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
)

// TestReadRate: of a connection with data unread it is known how fast its program reads, and only
// one that lies unread is found, not what a program has in its buffer that reads all the time.
func TestReadRate(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		for _, reads := range []bool{true, false} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			near, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			far, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			go func() { // until it is closed
				for block := make([]byte, 1<<20); ; {
					if _, err := near.Write(block); err != nil {
						return
					}
				}
			}()
			if reads { // what has arrived in 4 ms, then nothing for as long: some lies there at any time
				go func() {
					for block := make([]byte, 1<<20); ; time.Sleep(4 * time.Millisecond) {
						if _, err := io.ReadFull(far, block); err != nil {
							return
						}
					}
				}()
			}
			time.Sleep(200 * time.Millisecond)
			var s netstate.HostSnapshot
			i := -1
			for range 10 { // the reader may just have read all
				if s, err = Read(t.Context(), Options{Over: 500 * time.Millisecond, Silent: true}); err != nil {
					t.Fatal(err)
				}
				i = slices.IndexFunc(s.State.Notable, func(c netstate.Connection) bool {
					return c.ReceiveQueue >= 64<<10 && c.Local == far.LocalAddr().String() &&
						c.Remote == near.LocalAddr().String()
				})
				if i >= 0 {
					break
				}
			}
			if i < 0 {
				t.Fatalf("no connection with much unread: %+v", s.State.Notable)
			}
			c := s.State.Notable[i]
			found := slices.ContainsFunc(diagnose.Hosts([]netstate.HostSnapshot{s}).Findings,
				func(f record.Finding) bool { return f.ID == "unread-data" })
			if c.ReadBps == nil || (*c.ReadBps > 1e8) != reads || found == reads {
				t.Errorf("reads %t: %d bytes unread, found %t, read rate %v", reads, c.ReceiveQueue, found, c.ReadBps)
			}
			near.Close()
			far.Close()
			l.Close()
		}
	})
}
