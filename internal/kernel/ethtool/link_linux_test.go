//go:build linux && !portable

package ethtool

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/model/netstate"
)

// TestAutonegUnsupported: a port that does not support autonegotiation has none that is off.
func TestAutonegUnsupported(t *testing.T) {
	for name, test := range map[string]struct {
		bits []int
		want bool
	}{
		"copper": {[]int{unix.ETHTOOL_LINK_MODE_Autoneg_BIT, unix.ETHTOOL_LINK_MODE_1000baseT_Full_BIT}, true},
		"optical": {[]int{unix.ETHTOOL_LINK_MODE_10000baseT_Full_BIT, unix.ETHTOOL_LINK_MODE_10000baseSR_Full_BIT},
			false},
	} {
		h := &Handle{driver: func(_ string, data unsafe.Pointer) error {
			s := (*linkSettings)(data)
			if s.words == 0 {
				s.words = -3
				return nil
			}
			for _, bit := range test.bits {
				s.masks[bit/32] |= 1 << (bit % 32)
			}
			return nil
		}}
		nic := netstate.NIC{Interface: "eth0"}
		h.link(&nic)
		if nic.BestMbps == 0 || (nic.Autoneg != nil) != test.want || test.want && *nic.Autoneg {
			t.Errorf("%s: %+v", name, nic)
		}
	}
}
