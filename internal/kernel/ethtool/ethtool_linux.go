//go:build !portable

package ethtool

import (
	"errors"
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
)

// Handle reads and changes interfaces of the network namespace in which it was opened. A nil Handle reports no
// driver and no speed.
type Handle struct {
	fd    int
	sys   sysfs
	mount int // of sys if this handle mounted it; or -1
	// driver answers commands instead of the kernel, for tests of what no emulated NIC has.
	driver func(name string, data unsafe.Pointer) error
}

// Open opens a handle. It needs no privilege.
func Open() (*Handle, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, &kernel.Error{Op: "open", Object: "ethtool", Err: err}
	}
	h := &Handle{fd: fd, sys: sysfs{"/sys", "/proc"}, mount: -1}
	if root, mount, err := ownSysfs(); err == nil {
		h.sys.sys, h.mount = root, mount
	}
	return h, nil
}

// Close closes the handle.
func (h *Handle) Close() {
	if h == nil {
		return
	}
	_ = unix.Close(h.fd)
	if h.mount >= 0 {
		_ = unix.Close(h.mount)
	}
}

// Driver returns the name of the interface's driver; empty if it reports none.
func (h *Handle) Driver(name string) string {
	if h == nil {
		return ""
	}
	info, err := unix.IoctlGetEthtoolDrvinfo(h.fd, name)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(info.Driver[:])
}

// SpeedMbps returns the negotiated speed in Mbit/s; 0 if unknown or the link is down. Virtual interfaces report
// an arbitrary value.
func (h *Handle) SpeedMbps(name string) int64 {
	if h == nil {
		return 0
	}
	link, ok := h.settingsOf(name)
	if !ok {
		return 0
	}
	return speed(link.speed)
}

// speed converts a speed in Mbit/s; SPEED_UNKNOWN, in either width, becomes 0.
func speed(mbps uint32) int64 {
	if mbps == 1<<32-1 || mbps == 1<<16-1 {
		return 0
	}
	return int64(mbps)
}

// NIC reads an interface. Parts that it does not support are absent. It fails if the driver's name, which every
// interface has, or the device model cannot be read.
func (h *Handle) NIC(l netlink.Link) (netstate.NIC, error) {
	nic := netstate.NIC{Interface: l.Name, OperState: l.OperState, Carrier: l.Carrier,
		CarrierChanges: int64(l.CarrierChanges),
		Promiscuous:    l.Promiscuous, TxQueueLen: l.TxQueueLen, Peer: l.Peer, VLAN: l.VLAN}
	info, err := unix.IoctlGetEthtoolDrvinfo(h.fd, l.Name)
	if err != nil {
		err = &kernel.Error{Op: "read the driver of", Object: l.Name, Err: err}
	} else {
		nic.Driver, nic.Version = unix.ByteSliceToString(info.Driver[:]), unix.ByteSliceToString(info.Version[:])
		nic.Firmware, nic.Bus = known(info.Fw_version[:]), known(info.Bus_info[:])
	}
	h.link(&nic)
	h.settings(&nic)
	nic.FEC, nic.RSS = h.fec(l.Name), h.spreading(l.Name)
	for _, r := range h.Steering(l.Name) {
		nic.Steering = append(nic.Steering, netstate.FlowRule{Location: r.Key, Rule: r.Value})
	}
	h.offloads(&nic)
	nic.Counters = h.Counters(nic.Interface, nic.Driver)
	nic.Meanings = netstate.MeaningsOf(nic.Driver, nic.Counters)
	nic.Unknown = netstate.UnknownCounters(nic.Driver, nic.Counters)
	return nic, errors.Join(err, h.sys.add(&nic, l))
}

// known returns a driver's text, or empty if it means "none".
func known(text []byte) string {
	if s := unix.ByteSliceToString(text); s != "N/A" {
		return s
	}
	return ""
}

func (h *Handle) link(nic *netstate.NIC) {
	link, ok := h.settingsOf(nic.Interface)
	if !ok {
		return
	}
	nic.SpeedMbps = speed(link.speed)
	switch link.duplex {
	case 0:
		nic.Duplex = "half"
	case 1:
		nic.Duplex = "full"
	}
	nic.BestMbps, nic.OfferedMbps = link.supported(), link.advertised()
	if link.has(unix.ETHTOOL_LINK_MODE_Autoneg_BIT) { // virtual devices and optical modules do not negotiate
		on := link.autoneg == 1
		nic.Autoneg = &on
	}
}

func (h *Handle) settings(nic *netstate.NIC) {
	name := nic.Interface
	if r, err := h.numbers(name, "rings"); err == nil {
		nic.Rings = &netstate.Rings{Rx: r.of("rx"), MostRx: r.most("rx"), Tx: r.of("tx"), MostTx: r.most("tx")}
	}
	if c, err := h.numbers(name, "channels"); err == nil {
		nic.Channels = &netstate.Channels{Rx: c.of("rx"), MostRx: c.most("rx"), Tx: c.of("tx"), MostTx: c.most("tx"),
			Combined: c.of("combined"), MostCombined: c.most("combined")}
	}
	if c, err := h.numbers(name, "coalesce"); err == nil {
		nic.Coalesce = &netstate.Coalesce{RxUs: c.of("rx-usecs"), RxFrames: c.of("rx-frames"), TxUs: c.of("tx-usecs"),
			TxFrames: c.of("tx-frames"),
			AdaptRx:  c.on("adaptive-rx"), AdaptTx: c.on("adaptive-tx")}
	}
	if p, err := h.numbers(name, "pause"); err == nil {
		nic.Pause = &netstate.Pause{Autoneg: p.on("autoneg"), Rx: p.on("rx"), Tx: p.on("tx")}
	}
}

func (h *Handle) offloads(nic *netstate.NIC) {
	all, err := h.features(nic.Interface)
	if err != nil {
		return
	}
	nic.Features = map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		if f.fixed && !f.active {
			continue // unsupported by the interface
		}
		nic.Features[name] = f.active
		if f.fixed {
			nic.Fixed = append(nic.Fixed, name)
		} else if f.requested && !f.active {
			nic.Unmet = append(nic.Unmet, name)
		}
	}
}

// mostCounters limits the counters of one driver: some have tens of thousands.
const mostCounters = 4096

// Counters returns the non-zero driver counters of an interface (ethtool -S); nil if there are none. Beyond
// mostCounters, those with a known meaning come first, in a stable order.
func (h *Handle) Counters(name, driver string) map[string]int64 {
	all, err := h.statistics(name)
	if err != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(all))
	if len(names) > mostCounters {
		slices.SortStableFunc(names, func(a, b string) int {
			meant := func(name string) int { return min(len(netstate.MeaningOf(driver, name)), 1) }
			return meant(b) - meant(a)
		})
		names = names[:mostCounters]
	}
	var counters map[string]int64
	for _, name := range names {
		if value := all[name]; value != 0 && value < 1<<63 {
			lists.Put(&counters, name, int64(value))
		}
	}
	return counters
}
