package nic_test

import (
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
)

// TestOffloads: an offload that a command switches on is a likely finding; one that is kept off
// without scatter-gather is possible, and one that is requested has no command.
func TestOffloads(t *testing.T) {
	const tso, gso, gro = "tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro"
	for _, test := range []struct {
		name       string
		off, unmet []string
		want, fix  string
	}{
		{"all are on", nil, nil, "", ""},
		{"off by a command", []string{tso, gso}, nil, "offload-off nas likely", "ethtool -K eth0 tso on"},
		{"a stock r8169", []string{"tx-scatter-gather", tso, gso}, []string{gso}, "offload-off nas possible",
			"ethtool -K eth0 sg on, then"},
		{"with GRO off as well", []string{"tx-scatter-gather", tso, gso, gro}, []string{gso}, "offload-off nas likely",
			"ethtool -K eth0 gro on"},
		{"transmit checksums are off", []string{"tx-scatter-gather", tso, gso}, []string{"tx-scatter-gather", tso, gso},
			"offload-off nas possible", "transmit checksums"},
		{"kept off by the driver", []string{tso}, []string{tso}, "", ""},
		{"kept off beside one that is off", []string{tso, gro}, []string{tso}, "offload-off nas likely",
			"ethtool -K eth0 gro on"},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		n := &s.State.NICs[0]
		n.Features, n.Unmet = map[string]bool{"tx-scatter-gather": true, tso: true, gso: true, gro: true}, test.unmet
		for _, name := range test.off {
			n.Features[name] = false
		}
		list := diagnose.Hosts([]record.HostSnapshot{s}).Findings
		if got := diagnosetest.Names(list); got != test.want {
			t.Errorf("%s: found %q, want %q", test.name, got, test.want)
			continue
		}
		if len(list) == 0 {
			continue
		}
		fix := strings.Join(list[0].Fix, "\n")
		if !strings.Contains(fix, test.fix) ||
			strings.HasSuffix(test.want, "possible") != (len(list[0].Settings) == 0) ||
			strings.Contains(test.name, "GRO") && strings.Contains(fix, "tso") {
			t.Errorf("%s: %q, %+v", test.name, list[0].Fix, list[0].Settings)
		}
	}
}
