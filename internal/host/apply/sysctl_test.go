package apply

import "testing"

// TestRemoved: the error of setting a parameter that kernels no longer have says since when and why, or
// its name now.
func TestRemoved(t *testing.T) {
	for key, want := range map[string]string{
		"net.ipv4.ip_conntrack_max": "Linux has no such parameter any more: its name is " +
			"net.netfilter.nf_conntrack_max now",
		"net.ipv4.tcp_bic": "Linux has no such parameter since 2.6.13: congestion control is chosen by " +
			"name, and setting this has no effect",
		"net.ipv4.tcp_abc":         "Linux has no such parameter since 3.9: bytes are counted always",
		"net.ipv4.tcp_low_latency": "", // it is there
		"net.ipv4.tcp_sack":        "",
	} {
		if got := removed(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}
