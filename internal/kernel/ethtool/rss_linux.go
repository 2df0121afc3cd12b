//go:build !portable

package ethtool

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/setting"
)

// mostEntries is the size of the largest indirection table that is read.
const mostEntries = 8192

// indirection is struct ethtool_rxfh_indir (linux/ethtool.h).
type indirection struct {
	cmd, size uint32
	queues    [mostEntries]uint32
}

// flowHash is struct ethtool_rxnfc (linux/ethtool.h) up to data, which is all that a request for the hashed
// fields uses, with space for the rest.
type flowHash struct {
	cmd, flowType uint32
	data          uint64
	_             [184]byte
}

// flowTypes are the flow types by name (linux/ethtool.h).
var flowTypes = map[string]uint32{"tcp4": unix.TCP_V4_FLOW, "udp4": unix.UDP_V4_FLOW, "sctp4": 3,
	"tcp6": unix.TCP_V6_FLOW, "udp6": unix.UDP_V6_FLOW, "sctp6": 7}

// hashBits are the bits for setting.HashLetters: RXH_L2DA to RXH_L4_B_2_3, and RXH_DISCARD.
var hashBits = [len(setting.HashLetters)]uint64{1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 31}

// table reads the indirection table; the first command returns its size.
func (h *Handle) table(iface string) ([]uint32, error) {
	var t indirection
	t.cmd = unix.ETHTOOL_GRXFHINDIR
	err := h.call(iface, unsafe.Pointer(&t))
	if err == nil && t.size > mostEntries {
		err = fmt.Errorf("a table of %d entries", t.size)
	}
	if err == nil && t.size > 0 {
		t.cmd = unix.ETHTOOL_GRXFHINDIR
		err = h.call(iface, unsafe.Pointer(&t))
	}
	if err == nil && (t.size == 0 || t.size > mostEntries) {
		err = unix.EOPNOTSUPP
	}
	if err != nil {
		return nil, err
	}
	return t.queues[:t.size], nil
}

func (h *Handle) rss(iface, key string) (string, error) {
	read := func(err error) error {
		if errors.Is(err, unix.EOPNOTSUPP) {
			return h.unsupported(iface, setting.Option{Key: key}, "rss", "the driver has no such option")
		}
		return &kernel.Error{Op: "read", Object: "rss " + key + " of " + iface, Err: err}
	}
	if key == "table" {
		table, err := h.table(iface)
		if err != nil {
			return "", read(err)
		}
		return setting.RSSText(table), nil
	}
	f := flowHash{cmd: unix.ETHTOOL_GRXFH, flowType: flowTypes[key]}
	if err := h.call(iface, unsafe.Pointer(&f)); err != nil {
		return "", read(err)
	}
	return hashText(f.data), nil
}

// hashText formats hashed fields; "none" if there are none.
func hashText(bits uint64) string {
	text := ""
	for i, bit := range hashBits {
		if bits&bit != 0 {
			text += setting.HashLetters[i : i+1]
		}
	}
	return cmp.Or(text, "none")
}

func hashOf(text string) (bits uint64) {
	for i, bit := range hashBits {
		if text != "none" && strings.Contains(text, setting.HashLetters[i:i+1]) {
			bits |= bit
		}
	}
	return bits
}

func (h *Handle) resolveRSS(iface string, o setting.Option) ([]setting.Option, error) {
	is, err := h.rss(iface, o.Key)
	if err != nil {
		return nil, err
	}
	if o.Key != "table" {
		return []setting.Option{{Key: o.Key, Value: hashText(hashOf(o.Value))}}, nil
	}
	table, err := h.table(iface)
	if err == nil {
		table, err = setting.RSSTable(o.Value, len(table))
	}
	if err != nil {
		return nil, h.unsupported(iface, o, "rss", err.Error()+"; it is "+is)
	}
	return []setting.Option{{Key: o.Key, Value: setting.RSSText(table)}}, nil
}

// defaultTable lets the kernel generate the indirection table for all queues. With a table that was set (even
// the driver's, restored by an undo), the kernel refuses fewer channels than the table names
// (ethtool_set_channels). A change of channels records the table, and its undo restores it.
func (h *Handle) defaultTable(iface string) error {
	return h.call(iface, unsafe.Pointer(&indirection{cmd: unix.ETHTOOL_SRXFHINDIR}))
}

func (h *Handle) setRSS(iface string, o setting.Option) error {
	if o.Key != "table" {
		f := flowHash{cmd: unix.ETHTOOL_SRXFH, flowType: flowTypes[o.Key], data: hashOf(o.Value)}
		return h.call(iface, unsafe.Pointer(&f))
	}
	table, err := h.table(iface)
	if err == nil {
		table, err = setting.RSSTable(o.Value, len(table))
	}
	if err != nil {
		return err
	}
	t := indirection{cmd: unix.ETHTOOL_SRXFHINDIR, size: uint32(len(table))}
	copy(t.queues[:], table)
	return h.call(iface, unsafe.Pointer(&t))
}
