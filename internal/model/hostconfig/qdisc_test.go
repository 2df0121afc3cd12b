package hostconfig

import (
	"strings"
	"testing"

	"linerate/internal/model/setting"
	units "linerate/internal/model/unit"
)

// TestQdiscSpellings: each kind has a spelling; networkd has none of what it has no key for,
// so that the script has it.
func TestQdiscSpellings(t *testing.T) {
	for _, kind := range setting.QdiscKinds {
		if _, ok := qdiscSpellings[kind.Name]; !ok {
			t.Errorf("%s has no spelling", kind.Name)
		}
	}
	yes, no := true, false
	for _, test := range []struct {
		q              setting.Qdisc
		command, files string
	}{
		{setting.Qdisc{Kind: "cake", Rate: 95e6}, "cake bandwidth 95000000bit",
			"[CAKE]\nParent=root\nBandwidth=95000000\n"},
		{setting.Qdisc{Kind: "codel", Target: 7e6, ECN: &yes}, "codel target 7000us ecn",
			"[ControlledDelay]\nParent=root\nTargetSec=7000us\nECN=yes\n"},
		{setting.Qdisc{Kind: "fq_codel", ECN: &no}, "fq_codel noecn",
			"[FairQueueingControlledDelay]\nParent=root\nECN=no\n"},
		{setting.Qdisc{Kind: "sfq", Perturb: 10e9}, "sfq perturb 10",
			"[StochasticFairnessQueueing]\nParent=root\nPerturbPeriodSec=10\n"},
		{setting.Qdisc{Kind: "sfq", Limit: 99}, "sfq limit 99", ""},
		{setting.Qdisc{Kind: "red", Limit: 99000, Probability: 0.1, ECN: &no},
			"red avpkt 1000 limit 99000 probability 0.1", ""},
		{setting.Qdisc{Kind: "ets", Bands: 3, Strict: 1, Quanta: []units.Bytes{3000, 1514}},
			"ets bands 3 strict 1 quanta 3000 1514",
			"[EnhancedTransmissionSelection]\nParent=root\nBands=3\nStrictBands=1\nQuantumBytes=3000 1514\n"},
	} {
		test.q.Interface = "eth0"
		if got := qdiscLine(test.q).String(); got != "tc qdisc replace dev eth0 root "+test.command {
			t.Errorf("got %q, want %q", got, test.command)
		}
		n := newNetworkd(&Host{}).(*networkd)
		if n.qdisc("eth0", test.q) != (test.files != "") || strings.Join(n.sections["eth0"], "") != test.files {
			t.Errorf("%s: networkd has %q, want %q", test.command, n.sections["eth0"], test.files)
		}
	}
}
