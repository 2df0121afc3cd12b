package known

import "testing"

func TestKnown(t *testing.T) {
	if _, why, now, gone := Removed("net.ipv4.ip_conntrack_max"); !gone || why != "" ||
		now != "net.netfilter.nf_conntrack_max" {
		t.Errorf("%q, now %q, %t", why, now, gone)
	}
	for key, want := range map[string]bool{"net.ipv4.tcp_mem": true, "net.ipv4.tcp_rmem": false,
		"net.ipv4.conf.eth0.arp_ignore": false, "net.unheard.of": false} {
		if got := MachineWide(key); got != want {
			t.Errorf("%s exists once for the machine: %t", key, got)
		}
	}
}
