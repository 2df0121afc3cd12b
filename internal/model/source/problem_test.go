package source

import (
	"fmt"
	"testing"
)

// TestDidYouMean: names that differ in their number alone are no slips for each other.
func TestDidYouMean(t *testing.T) {
	hosts := []string{"client1", "client10", "client2", "client3", "client4", "client5", "client6", "client7",
		"client8", "client9", "nas"}
	many := make([]string, 13)
	for i := range many {
		many[i] = fmt.Sprintf("%c%[1]c%[1]c%[1]c", 'a'+i)
	}
	for _, c := range []struct {
		name string
		of   []string
		want string
	}{
		{"client11", hosts, "; client1 to client10 exist"},
		{"eth2", []string{"eth0", "eth1"}, "; eth0 and eth1 exist"},
		{"eth2", []string{"eth0"}, `; did you mean "eth0"?`},
		{"eth2", []string{"eth0", "eth4"}, `; did you mean "eth0"?`},
		{"cleint2", hosts, `; did you mean "client2"?`},
		{"speed", many, "; expected aaaa, bbbb, cccc, dddd, eeee, ffff, gggg, hhhh, iiii, jjjj, kkkk, llll or mmmm"},
		{"strict-rp", []string{"strict-rp-filter", "arp-flux"}, `; did you mean "strict-rp-filter"?`},
		{"rp-filter", []string{"arp-filtered", "strict-rp-filter", "rp-filter-drop"},
			`; did you mean "strict-rp-filter" or "rp-filter-drop"?`},
		{"filter-rp", []string{"arp-filtered", "strict-rp-filter"}, `; did you mean "strict-rp-filter"?`},
		{"latency", []string{"latency_p50", "latency_p99"}, "; expected latency_p50 or latency_p99"},
		{"net", []string{"network-unreachable", "arp-flux"}, "; expected network-unreachable or arp-flux"},
		{"x", nil, ""},
	} {
		if got := DidYouMean(c.name, c.of); got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.name, c.of, got, c.want)
		}
	}
}
