//go:build !portable

package netlink

import (
	"fmt"
	"maps"
	"testing"

	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
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

// TestOptionTexts: what no setting makes is read as well, by its name.
func TestOptionTexts(t *testing.T) {
	priomap := make([]byte, 16)
	netem, err := QdiscSpec{Qdisc: setting.Qdisc{Kind: "netem", Limit: 1000}, Netem: topology.Impairment{Delay: 20e6,
		Loss: 0.01, Reorder: 0.25}}.options()
	if err != nil {
		t.Fatal(err)
	}
	htb := append(native.AppendUint32(native.AppendUint32(native.AppendUint32(nil, 3), 10), 0x30), make([]byte, 8)...)
	for kind, test := range map[string]struct {
		options []byte
		want    map[string]string
	}{
		"pfifo": {native.AppendUint32(nil, 1000), map[string]string{"limit": "1000"}},
		"prio": {append(native.AppendUint32(nil, 3), priomap...),
			map[string]string{"bands": "3", "priomap": fmt.Sprint(priomap)}},
		"fq": {appendUint32(appendUint32(nil, fqLimit, 10000), 2, 100), map[string]string{"limit": "10000",
			"flow_limit": "100"}},
		"fq_codel": {appendUint32(appendUint32(nil, codelTarget, 5000), 5, 1024), map[string]string{"target": "5ms",
			"flows": "1024"}},
		"htb": {appendUint32(appendAttribute(nil, htbGlobal, htb), 5, 1000),
			map[string]string{"r2q": "10", "default": "30", "direct_qlen": "1000"}},
		"netem": {netem, map[string]string{"limit": "1000", "delay": "20ms", "loss": "1%", "reorder": "25%",
			"gap": "1"}},
		"hfsc": {[]byte{1, 0}, map[string]string{}},
	} {
		if got := (Qdisc{Kind: kind, Options: test.options}).OptionTexts(); !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", kind, got, test.want)
		}
		for n := range test.options {
			(Qdisc{Kind: kind, Options: test.options[:n]}).OptionTexts() // of any length
		}
	}
}
