//go:build !portable

package netlink

import (
	"testing"

	"linerate/internal/model/setting"
)

// TestQdiscKinds: each kind that a setting can make is spelled, and its options are read as
// they were given.
func TestQdiscKinds(t *testing.T) {
	for _, kind := range setting.QdiscKinds {
		if _, ok := qdiscKinds[kind.Name]; !ok {
			t.Errorf("%s has no options", kind.Name)
		}
	}
	for _, q := range []setting.Qdisc{
		{Kind: "codel", Limit: 900, Target: 7e6, Interval: 130e6, ECN: new(bool)},
		{Kind: "cake", Rate: 95e6},
		{Kind: "sfq", Limit: 300, Perturb: 10e9},
		{Kind: "red", Limit: 400_000, Min: 30_000, Max: 90_000, Probability: 0.5, ECN: new(bool)},
	} {
		options, err := QdiscSpec{Qdisc: q}.options()
		if err != nil {
			t.Fatal(err)
		}
		if got := (Qdisc{Kind: q.Kind, Options: options}).Spec().Qdisc.String(); got != q.String() {
			t.Errorf("gave %s, read %s", q, got)
		}
	}
	if _, err := redOptions(setting.Qdisc{Kind: "red", Limit: 600}); err == nil {
		t.Error("a red of less than a packet was made")
	}
}

// TestRestoredCodel: what is restored is what the kernel has, which rounds down both ways.
func TestRestoredCodel(t *testing.T) {
	for us := range uint32(5000) {
		has := us * 1000 >> 10
		reports := uint32(uint64(has) << 10 / 1000)
		for a := range attributes(restoredCodel(appendUint32(nil, codelTarget, reports), codelCEThreshold)) {
			if got := a.uint32() * 1000 >> 10; got != has {
				t.Fatalf("%d µs: has %d, restored %d", us, has, got)
			}
		}
	}
}
