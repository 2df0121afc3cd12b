//go:build !portable

package netlink

import (
	"testing"

	"linerate/internal/model/netstate"
)

// TestLinkStats64: each counter is read from its own place of struct
// rtnl_link_stats64, and one that an older kernel's shorter struct lacks is 0.
func TestLinkStats64(t *testing.T) {
	var stats []byte
	for place := range 25 {
		stats = native.AppendUint64(stats, uint64(100+place))
	}
	want := netstate.InterfaceCounters{RxPackets: 100, TxPackets: 101, RxBytes: 102, TxBytes: 103, RxErrors: 104,
		TxErrors:  105,
		RxDropped: 106, TxDropped: 107, RxMissed: 115, RxOtherhost: 124, AtNs: 7,
		Collisions: 109, RxLength: 110, RxCRC: 112, TxCarrier: 117, RxNoHandler: 123}
	if got := linkStats64(stats, 7); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	want.RxOtherhost = 0
	if got := linkStats64(stats[:24*8], 7); got != want {
		t.Errorf("before Linux 5.19: %+v, want %+v", got, want)
	}
}
