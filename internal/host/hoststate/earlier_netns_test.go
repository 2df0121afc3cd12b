//go:build linux && !portable

package hoststate

import (
	"slices"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
)

// TestDriverCounters: with two readings, or since an earlier snapshot, a NIC has what its driver
// had counted before; with one reading it has not.
func TestDriverCounters(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "add", "name", "drv0", "type", "veth", "peer", "name", "drv1")
		const over = 50 * time.Millisecond
		nic := func(o Options) (netstate.NIC, netstate.HostSnapshot) {
			o.Silent = true
			s, err := Read(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(s.State.NICs, func(n netstate.NIC) bool { return n.Interface == "drv0" })
			if i < 0 {
				t.Fatalf("no drv0 in %+v", s.State.NICs)
			}
			return s.State.NICs[i], s
		}
		const counter = "peer_ifindex" // a counter of veth that is not 0 without traffic
		once, first := nic(Options{})
		if once.Counters[counter] == 0 || once.CountedS != 0 || once.Before != nil {
			t.Errorf("one reading: %+v", once)
		}
		twice, _ := nic(Options{Over: over})
		since, _ := nic(Options{Since: &first})
		kept, _ := nic(Options{Since: Earlier(first)})
		for _, n := range []netstate.NIC{twice, since, kept} {
			if n.Before[counter] != once.Counters[counter] || n.CountedS <= 0 {
				t.Errorf("two readings: %+v", n)
			}
		}
		if twice.CountedS < over.Seconds() {
			t.Errorf("counted over %g s", twice.CountedS)
		}
	})
}
