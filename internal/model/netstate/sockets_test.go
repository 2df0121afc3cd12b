package netstate

import (
	"net/netip"
	"testing"
)

// TestCountTimeWait: what counts is how many share the ends that a local port is needed between.
func TestCountTimeWait(t *testing.T) {
	var s HostState
	between := map[[2]netip.AddrPort]int{}
	for _, ends := range [][2]string{
		// a server's
		{"192.0.2.1:443", "192.0.2.7:40000"}, {"192.0.2.1:443", "192.0.2.7:40001"},
		{"192.0.2.1:443", "192.0.2.7:40002"}, {"192.0.2.1:443", "192.0.2.7:40003"},
		{"192.0.2.1:50000", "192.0.2.8:80"}, {"[::ffff:192.0.2.1]:50001", "[::ffff:192.0.2.8]:80"},
		{"192.0.2.1:50002", "192.0.2.8:80"},
		{"192.0.2.1:50003", "192.0.2.8:81"}, {"192.0.2.2:50004", "192.0.2.8:80"},
	} {
		s.CountTimeWait(between, netip.MustParseAddrPort(ends[0]), netip.MustParseAddrPort(ends[1]))
	}
	if s.TimeWaitBetween != 3 {
		t.Errorf("%d between one address and one address and port, want 3", s.TimeWaitBetween)
	}
}
