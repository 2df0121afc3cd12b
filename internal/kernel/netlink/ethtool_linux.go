//go:build !portable

package netlink

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ethtoolCmd is struct ethtool_cmd (linux/ethtool.h).
type ethtoolCmd struct {
	cmd, supported, advertising uint32
	speed                       uint16
	_                           [6]byte // duplex, port, phy_address, transceiver, autoneg, mdio_support
	_, _                        uint32  // maxtxpkt, maxrxpkt
	speedHi                     uint16
	_                           [2]byte   // eth_tp_mdix, eth_tp_mdix_ctrl
	_                           [3]uint32 // lp_advertising, reserved
}

// ifreqData is struct ifreq with ifr_data (netdevice(7)).
type ifreqData struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// ethtool executes an ethtool command for the link; data begins with the command's number.
func (l Link) ethtool(data unsafe.Pointer) bool {
	if len(l.Name) >= unix.IFNAMSIZ {
		return false
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	request := ifreqData{data: data}
	copy(request.name[:], l.Name)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	return errno == 0
}

// Driver is the name of the link's driver (ETHTOOL_GDRVINFO); empty: it says none.
func (l Link) Driver() string {
	info := unix.EthtoolDrvinfo{Cmd: unix.ETHTOOL_GDRVINFO}
	ok := l.ethtool(unsafe.Pointer(&info))
	runtime.KeepAlive(&info)
	if !ok {
		return ""
	}
	return unix.ByteSliceToString(info.Driver[:])
}

// Speed reads the negotiated speed of the link in bit/s (ETHTOOL_GSET, which every
// kernel has); 0: unknown, or the link is down. Virtual interfaces report an arbitrary
// value.
func (l Link) Speed() float64 {
	settings := ethtoolCmd{cmd: unix.ETHTOOL_GSET}
	ok := l.ethtool(unsafe.Pointer(&settings))
	runtime.KeepAlive(&settings)
	const unknown = 1<<32 - 1 // SPEED_UNKNOWN
	mbit := uint32(settings.speedHi)<<16 | uint32(settings.speed)
	if !ok || mbit == unknown || mbit == 1<<16-1 {
		return 0
	}
	return float64(mbit) * 1e6
}
