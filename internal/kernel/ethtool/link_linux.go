//go:build !portable

package ethtool

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// linkSettings is struct ethtool_link_settings (linux/ethtool.h) with room for the three masks
// of link modes: supported, advertised, and advertised by the other end.
type linkSettings struct {
	cmd, speed                    uint32
	duplex, port, phy, autoneg    uint8
	mdio, mdix, mdixControl       uint8
	words                         int8 // of each mask
	transceiver, role, roleNow, _ uint8
	_                             [7]uint32
	masks                         [3 * mostWords]uint32
}

// mostWords is the maximum number of 32-bit words of a mask: linux/ethtool.h has 121 modes.
const mostWords = 127

// settingsOf reads the settings of a link (ETHTOOL_GLINKSETTINGS, Linux 4.6); false if the interface has none.
// The first call returns the length of the masks.
func (h *Handle) settingsOf(name string) (s linkSettings, ok bool) {
	if s.cmd = unix.ETHTOOL_GLINKSETTINGS; h.call(name, unsafe.Pointer(&s)) != nil || s.words >= 0 ||
		-int(s.words) > mostWords {
		return s, false
	}
	words := -s.words
	s = linkSettings{cmd: unix.ETHTOOL_GLINKSETTINGS, words: words}
	ok = h.call(name, unsafe.Pointer(&s)) == nil && s.words == words
	return s, ok
}

// supported and advertised return the speed of the fastest mode, in Mbit/s.
func (s *linkSettings) supported() int64  { return s.fastest(0) }
func (s *linkSettings) advertised() int64 { return s.fastest(1) }

// has reports whether the link supports the mode with this bit.
func (s *linkSettings) has(bit int) bool { return s.in(0, bit) }

func (s *linkSettings) in(mask, bit int) bool {
	words := s.masks[mask*int(s.words) : (mask+1)*int(s.words)]
	return bit/32 < len(words) && words[bit/32]&(1<<(bit%32)) != 0
}

func (s *linkSettings) fastest(mask int) (mbps int64) {
	for _, m := range modes {
		for bit := m.first; bit <= m.last; bit++ {
			if s.in(mask, bit) {
				mbps = max(mbps, m.mbps)
			}
		}
	}
	return mbps
}

// modes are the link modes (enum ethtool_link_mode_bit_indices) with their speeds.
var modes = []struct {
	first, last int
	mbps        int64
}{
	{unix.ETHTOOL_LINK_MODE_10baseT_Half_BIT, unix.ETHTOOL_LINK_MODE_10baseT_Full_BIT, 10},
	{unix.ETHTOOL_LINK_MODE_100baseT_Half_BIT, unix.ETHTOOL_LINK_MODE_100baseT_Full_BIT, 100},
	{unix.ETHTOOL_LINK_MODE_1000baseT_Half_BIT, unix.ETHTOOL_LINK_MODE_1000baseT_Full_BIT, 1000},
	{unix.ETHTOOL_LINK_MODE_10000baseT_Full_BIT, unix.ETHTOOL_LINK_MODE_10000baseT_Full_BIT, 10_000},
	{unix.ETHTOOL_LINK_MODE_2500baseX_Full_BIT, unix.ETHTOOL_LINK_MODE_2500baseX_Full_BIT, 2500},
	{unix.ETHTOOL_LINK_MODE_1000baseKX_Full_BIT, unix.ETHTOOL_LINK_MODE_1000baseKX_Full_BIT, 1000},
	{unix.ETHTOOL_LINK_MODE_10000baseKX4_Full_BIT, unix.ETHTOOL_LINK_MODE_10000baseR_FEC_BIT, 10_000},
	{unix.ETHTOOL_LINK_MODE_20000baseMLD2_Full_BIT, unix.ETHTOOL_LINK_MODE_20000baseKR2_Full_BIT, 20_000},
	{unix.ETHTOOL_LINK_MODE_40000baseKR4_Full_BIT, unix.ETHTOOL_LINK_MODE_40000baseLR4_Full_BIT, 40_000},
	{unix.ETHTOOL_LINK_MODE_56000baseKR4_Full_BIT, unix.ETHTOOL_LINK_MODE_56000baseLR4_Full_BIT, 56_000},
	{unix.ETHTOOL_LINK_MODE_25000baseCR_Full_BIT, unix.ETHTOOL_LINK_MODE_25000baseSR_Full_BIT, 25_000},
	{unix.ETHTOOL_LINK_MODE_50000baseCR2_Full_BIT, unix.ETHTOOL_LINK_MODE_50000baseKR2_Full_BIT, 50_000},
	{unix.ETHTOOL_LINK_MODE_100000baseKR4_Full_BIT, unix.ETHTOOL_LINK_MODE_100000baseLR4_ER4_Full_BIT, 100_000},
	{unix.ETHTOOL_LINK_MODE_50000baseSR2_Full_BIT, unix.ETHTOOL_LINK_MODE_50000baseSR2_Full_BIT, 50_000},
	{unix.ETHTOOL_LINK_MODE_1000baseX_Full_BIT, unix.ETHTOOL_LINK_MODE_1000baseX_Full_BIT, 1000},
	{unix.ETHTOOL_LINK_MODE_10000baseCR_Full_BIT, unix.ETHTOOL_LINK_MODE_10000baseER_Full_BIT, 10_000},
	{unix.ETHTOOL_LINK_MODE_2500baseT_Full_BIT, unix.ETHTOOL_LINK_MODE_2500baseT_Full_BIT, 2500},
	{unix.ETHTOOL_LINK_MODE_5000baseT_Full_BIT, unix.ETHTOOL_LINK_MODE_5000baseT_Full_BIT, 5000},
	{unix.ETHTOOL_LINK_MODE_50000baseKR_Full_BIT, unix.ETHTOOL_LINK_MODE_50000baseDR_Full_BIT, 50_000},
	{unix.ETHTOOL_LINK_MODE_100000baseKR2_Full_BIT, unix.ETHTOOL_LINK_MODE_100000baseDR2_Full_BIT, 100_000},
	{unix.ETHTOOL_LINK_MODE_200000baseKR4_Full_BIT, unix.ETHTOOL_LINK_MODE_200000baseCR4_Full_BIT, 200_000},
	{unix.ETHTOOL_LINK_MODE_100baseT1_Full_BIT, unix.ETHTOOL_LINK_MODE_100baseT1_Full_BIT, 100},
	{unix.ETHTOOL_LINK_MODE_1000baseT1_Full_BIT, unix.ETHTOOL_LINK_MODE_1000baseT1_Full_BIT, 1000},
	{unix.ETHTOOL_LINK_MODE_400000baseKR8_Full_BIT, unix.ETHTOOL_LINK_MODE_400000baseCR8_Full_BIT, 400_000},
	{unix.ETHTOOL_LINK_MODE_100000baseKR_Full_BIT, unix.ETHTOOL_LINK_MODE_100000baseDR_Full_BIT, 100_000},
	{unix.ETHTOOL_LINK_MODE_200000baseKR2_Full_BIT, unix.ETHTOOL_LINK_MODE_200000baseCR2_Full_BIT, 200_000},
	{unix.ETHTOOL_LINK_MODE_400000baseKR4_Full_BIT, unix.ETHTOOL_LINK_MODE_400000baseCR4_Full_BIT, 400_000},
	{unix.ETHTOOL_LINK_MODE_100baseFX_Half_BIT, unix.ETHTOOL_LINK_MODE_100baseFX_Full_BIT, 100},
}
