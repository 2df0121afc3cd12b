package facts_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"

	"linerate/internal/science/diagnose/counter"
	"linerate/internal/science/diagnose/facts"
)

// TestReasonTable: the table has each reason of Linux 6.18 (testdata/dropreasons.txt, its enum
// skb_drop_reason) and no other; each has a verdict, and counters that are listed.
func TestReasonTable(t *testing.T) {
	text, err := os.ReadFile("testdata/dropreasons.txt")
	if err != nil {
		t.Fatal(err)
	}
	kernel := strings.Fields(string(text))
	listed := []string{"rx_dropped", "tx_dropped", "rx_otherhost_dropped", "rx_nohandler", "qdisc", facts.FilterDropped,
		facts.SoftnetDropped, facts.NftDropped, "TcpExt.IPReversePathFilter"}
	for _, d := range counter.Drops() {
		listed = append(listed, d.Counters...)
	}
	for _, name := range kernel {
		if _, is := facts.Reasons()[name]; !is {
			t.Errorf("%s is not in the table", name)
		}
	}
	for name, r := range facts.Reasons() {
		if !slices.Contains(kernel, name) && !strings.HasPrefix(name, "OVS_DROP_") {
			t.Errorf("the kernel has no %s", name)
		}
		if !slices.Contains([]string{facts.Harmful, facts.Harmless, facts.Unknown}, r.Verdict) {
			t.Errorf("%s: %+v", name, r)
		}
		for _, counter := range r.Counters {
			if !slices.Contains(listed, counter) {
				t.Errorf("%s: the table of drops has no counter %s", name, counter)
			}
		}
	}
	if r := facts.ReasonOf(netstate.KernelDrop{Reason: "OF_TOMORROW"}); r.Verdict != facts.Unknown {
		t.Errorf("%+v", r)
	}
}
