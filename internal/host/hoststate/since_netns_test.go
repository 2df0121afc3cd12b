//go:build linux && !portable

package hoststate

import (
	"errors"
	"io/fs"
	"net"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
)

// TestSince: a snapshot since an earlier one counts from there, and a silent one sends nothing.
func TestSince(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		if err := writeParameter("net.ipv6.conf.default.disable_ipv6", "1"); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
		kerneltest.Do(t, "ip", "link", "add", "dev", "eth0", "type", "veth", "peer", "name", "far0")
		kerneltest.Do(t, "ip", "link", "set", "dev", "far0", "up")
		kerneltest.Do(t, "ip", "link", "set", "dev", "eth0", "up")
		kerneltest.Do(t, "ip", "address", "add", "10.0.0.1/24", "dev", "eth0")
		kerneltest.Do(t, "ip", "neigh", "add", "10.0.0.9", "lladdr", "02:00:00:00:00:09", "nud", "stale", "dev", "eth0")
		first, err := Read(t.Context(), Options{Silent: true})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("udp", "127.0.0.1:9")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const sent = 25
		for range sent {
			_, _ = conn.Write([]byte("x")) // refused
		}
		transmitted := func(s netstate.HostSnapshot) (packets uint64) {
			for _, c := range s.Reading.End.Interfaces {
				if c.Interface == "eth0" {
					packets = c.TxPackets
				}
			}
			return packets
		}
		second, err := Read(t.Context(), Options{Silent: true, Since: &first})
		if err != nil {
			t.Fatal(err)
		}
		if got := second.Reading.SNMPDelta("Udp.NoPorts"); second.OverS <= 0 || got <= 0 || got > sent {
			t.Errorf("%d datagrams without a listener in %g s, want at most %d", got, second.OverS, sent)
		}
		if len(second.Reading.Snapshot.Answers) > 0 {
			t.Errorf("%+v", second.Reading.Snapshot.Answers)
		}
		loud, err := Read(t.Context(), Options{Since: &second})
		if err != nil {
			t.Fatal(err)
		}
		last, err := Read(t.Context(), Options{Silent: true, Since: &loud})
		if err != nil {
			t.Fatal(err)
		}
		if transmitted(loud) != 0 || transmitted(last) == 0 {
			t.Errorf("eth0 sent %d packets by silent snapshots and %d by one that is not", transmitted(loud),
				transmitted(last)-transmitted(loud))
		}
	})
}
