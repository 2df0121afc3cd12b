//go:build !portable

package netlink

import (
	"bytes"
	"testing"

	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
)

// TestNetemOptions: the bytes are those that tc(8) of iproute2 6.1 sends for
// "netem delay 25ms 2ms loss 1% reorder 5% limit 2000 rate 32gbit" (which has no
// 64-bit delays: they are checked by themselves).
func TestNetemOptions(t *testing.T) {
	want := []byte{
		0xe1, 0xf5, 0x05, 0x00, 0xd0, 0x07, 0x00, 0x00, 0x29, 0x5c, 0x8f, 0x02, // latency, limit, loss
		0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x12, 0x7a, 0x00, 0x00, // gap, duplicate, jitter
		0x0c, 0x00, 0x03, 0x00, 0xcd, 0xcc, 0xcc, 0x0c, 0x00, 0x00, 0x00, 0x00, // reorder
		0x14, 0x00, 0x06, 0x00, 0x00, 0x28, 0x6b, 0xee, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // rate
	}
	s := QdiscSpec{Qdisc: setting.Qdisc{Kind: "netem", Limit: 2000}, Netem: topology.Impairment{Delay: 25e6,
		Jitter: 2e6, Loss: 0.01, Reorder: 0.05}}
	got, err := s.options()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) < len(want) {
		t.Fatalf("%d bytes, want %d at least", len(got), len(want))
	}
	// tc rounds ticks and probabilities differently.
	for _, at := range []int{0, 8, 20, 28} {
		is, should := native.Uint32(got[at:]), native.Uint32(want[at:])
		if is > should+1 || is+1 < should {
			t.Errorf("at byte %d: %d, want %d", at, is, should)
		}
		native.PutUint32(got[at:], should)
	}
	if !bytes.Equal(got[:len(want)], want) {
		t.Errorf("got  %x\nwant %x", got[:len(want)], want)
	}
	exact := map[uint16]uint64{}
	for a := range attributes(got[len(want):]) {
		exact[a.kind] = a.uint64()
	}
	if exact[netemLatency64] != 25e6 || exact[netemJitter64] != 2e6 {
		t.Errorf("delay and jitter are %v", exact)
	}
	// A link without jitter keeps its order without a rate, as it always did.
	plain, _ := QdiscSpec{Qdisc: setting.Qdisc{Kind: "netem", Limit: 1000},
		Netem: topology.Impairment{Delay: 1e6}}.options()
	if len(plain) != 24+4+8 {
		t.Errorf("a delay alone takes %d bytes", len(plain))
	}
}
