//go:build !portable

package ethtool

import (
	"errors"
	"maps"
	"slices"

	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/record"
)

// Handle reads and changes interfaces of the network namespace in which it was opened. A nil one knows no
// driver and no speed.
type Handle struct {
	ioctl *ethtool.Ethtool
	fd    int
	sys   sysfs
	mount int // of sys, if that is a mount of this handle; or -1
}

// Open opens a handle. It needs no privilege.
func Open() (*Handle, error) {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return nil, &kernel.Error{Op: "open", Object: "ethtool", Err: err}
	}
	// The library's GetLinkSettings does not ask for the length of the masks first, and prints
	// a warning on standard output: the link is read here.
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		e.Close()
		return nil, &kernel.Error{Op: "open", Object: "ethtool", Err: err}
	}
	h := &Handle{ioctl: e, fd: fd, sys: sysfs{"/sys", "/proc"}, mount: -1}
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
	h.ioctl.Close()
	_ = unix.Close(h.fd)
	if h.mount >= 0 {
		_ = unix.Close(h.mount)
	}
}

// Driver is the name of the interface's driver; empty: it says none.
func (h *Handle) Driver(name string) string {
	if h == nil {
		return ""
	}
	driver, err := h.ioctl.DriverName(name)
	if err != nil {
		return ""
	}
	return driver
}

// SpeedMbps is the negotiated speed in Mbit/s; 0: not known, or the link is down. Virtual
// interfaces report an arbitrary value.
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

// speed is a speed in Mbit/s, 0 for SPEED_UNKNOWN in its two lengths.
func speed(mbps uint32) int64 {
	if mbps == 1<<32-1 || mbps == 1<<16-1 {
		return 0
	}
	return int64(mbps)
}

// NIC reads an interface. Parts that it does not support are absent. The error is that of the
// driver's name, which every interface has, or says that the device model cannot be read.
func (h *Handle) NIC(l netlink.Link) (record.NIC, error) {
	nic := record.NIC{Interface: l.Name, OperState: l.OperState, Carrier: l.Carrier, CarrierChanges: int64(l.CarrierChanges),
		Promiscuous: l.Promiscuous, TxQueueLen: l.TxQueueLen, Peer: l.Peer, VLAN: l.VLAN}
	info, err := h.ioctl.DriverInfo(l.Name)
	if err != nil {
		err = &kernel.Error{Op: "read the driver of", Object: l.Name, Err: err}
	} else {
		nic.Driver, nic.Version, nic.Firmware, nic.Bus = info.Driver, info.Version, known(info.FwVersion), known(info.BusInfo)
	}
	h.link(&nic)
	h.settings(&nic)
	nic.FEC, nic.RSS = h.fec(l.Name), h.spreading(l.Name)
	h.features(&nic)
	nic.Counters = h.Counters(nic.Interface, nic.Driver)
	nic.Meanings = record.MeaningsOf(nic.Driver, nic.Counters)
	return nic, errors.Join(err, h.sys.add(&nic, l))
}

// known is a text of a driver, empty where the driver says that it has none.
func known(text string) string {
	if text == "N/A" {
		return ""
	}
	return text
}

func (h *Handle) link(nic *record.NIC) {
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
	if nic.BestMbps > 0 { // a device without modes does not negotiate
		on := link.autoneg == 1
		nic.Autoneg = &on
	}
}

func (h *Handle) settings(nic *record.NIC) {
	name := nic.Interface
	if r, err := h.ioctl.GetRing(name); err == nil {
		nic.Rings = &record.Rings{Rx: int(r.RxPending), MostRx: int(r.RxMaxPending), Tx: int(r.TxPending), MostTx: int(r.TxMaxPending)}
	}
	if c, err := h.ioctl.GetChannels(name); err == nil {
		nic.Channels = &record.Channels{Rx: int(c.RxCount), MostRx: int(c.MaxRx), Tx: int(c.TxCount), MostTx: int(c.MaxTx), Combined: int(c.CombinedCount), MostCombined: int(c.MaxCombined)}
	}
	if c, err := h.ioctl.GetCoalesce(name); err == nil {
		nic.Coalesce = &record.Coalesce{RxUs: int(c.RxCoalesceUsecs), RxFrames: int(c.RxMaxCoalescedFrames), TxUs: int(c.TxCoalesceUsecs),
			TxFrames: int(c.TxMaxCoalescedFrames), AdaptRx: c.UseAdaptiveRxCoalesce != 0, AdaptTx: c.UseAdaptiveTxCoalesce != 0}
	}
	if p, err := h.ioctl.GetPause(name); err == nil {
		nic.Pause = &record.Pause{Autoneg: p.Autoneg != 0, Rx: p.RxPause != 0, Tx: p.TxPause != 0}
	}
}

func (h *Handle) features(nic *record.NIC) {
	all, err := h.ioctl.FeaturesWithState(nic.Interface)
	if err != nil {
		return
	}
	nic.Features = map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		state := all[name]
		fixed := !state.Available || state.NeverChanged
		if fixed && !state.Active {
			continue // the interface does not have it
		}
		nic.Features[name] = state.Active
		if fixed {
			nic.Fixed = append(nic.Fixed, name)
		}
	}
}

// mostCounters bounds the counters of one driver: some have tens of thousands.
const mostCounters = 4096

// Counters are a driver's counters of an interface that are not 0 (ethtool -S); nil: there are
// none. Of more than mostCounters names there are those with a meaning first, always the same.
func (h *Handle) Counters(name, driver string) map[string]int64 {
	all, err := h.ioctl.Stats(name)
	if err != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(all))
	if len(names) > mostCounters {
		slices.SortStableFunc(names, func(a, b string) int {
			meant := func(name string) int { return min(len(record.MeaningOf(driver, name)), 1) }
			return meant(b) - meant(a)
		})
		names = names[:mostCounters]
	}
	var counters map[string]int64
	for _, name := range names {
		if value := all[name]; value != 0 && value < 1<<63 {
			if counters == nil {
				counters = map[string]int64{}
			}
			counters[name] = int64(value)
		}
	}
	return counters
}
