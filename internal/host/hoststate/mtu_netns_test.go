//go:build linux && !portable

package hoststate

import (
	"slices"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/cause"
	"linerate/internal/model/record"
)

// TestLargerThanMTU: frames that a veth drops because they are larger than its MTU are counted by
// rx_dropped without a reason, and are not taken for what does no harm.
func TestLargerThanMTU(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		b := newBench(t)
		b.sh("server", "ip link set dev eth0 mtu 1400")
		e := b.diagnosed(func(b *bench) {
			c := b.udp("client", "10.0.0.2:0", "10.0.0.1:9")
			send(c, 200, 1472)
			c.Close()
		}, "server")
		i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == "rx-dropped" && !f.Boot })
		if i < 0 {
			t.Fatal(summary(e))
		}
		if a, _ := e.Findings[i].Args.(cause.Unreceived); a.MTU != 1400 {
			t.Errorf("%+v", e.Findings[i])
		}
	})
}
