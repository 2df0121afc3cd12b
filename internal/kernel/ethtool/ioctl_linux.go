//go:build !portable

package ethtool

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ifreqData is struct ifreq with ifr_data (netdevice(7)).
type ifreqData struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// call executes an ethtool command. data points to its structure (linux/ethtool.h), which begins with the
// command's number; it stays a pointer until the system call, since the stack can move.
func (h *Handle) call(name string, data unsafe.Pointer) error {
	if h.driver != nil {
		return h.driver(name, data)
	}
	if len(name) >= unix.IFNAMSIZ {
		return unix.ENODEV
	}
	request := ifreqData{data: data}
	copy(request.name[:], name)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(h.fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	runtime.KeepAlive(data)
	if errno != 0 {
		return errno
	}
	return nil
}

// group is a structure of 32-bit words that one command reads and another writes. The first
// word is the command's number.
type group struct {
	get, set uint32
	words    int
	fields   map[string]field
}

// field is the offset of a number or a flag in its structure, in words.
type field struct {
	at   int
	most int // offset of its maximum; 0: none
	flag bool
}

// groups are the groups of package setting by name.
var groups = map[string]group{
	"rings": {unix.ETHTOOL_GRINGPARAM, unix.ETHTOOL_SRINGPARAM, 9, map[string]field{
		"rx": {at: 5, most: 1}, "rx-mini": {at: 6, most: 2}, "rx-jumbo": {at: 7, most: 3}, "tx": {at: 8, most: 4}}},
	"channels": {unix.ETHTOOL_GCHANNELS, unix.ETHTOOL_SCHANNELS, 9, map[string]field{
		"rx": {at: 5, most: 1}, "tx": {at: 6, most: 2}, "combined": {at: 8, most: 4}}},
	"coalesce": {unix.ETHTOOL_GCOALESCE, unix.ETHTOOL_SCOALESCE, 23, map[string]field{
		"rx-usecs": {at: 1}, "rx-frames": {at: 2}, "tx-usecs": {at: 5}, "tx-frames": {at: 6},
		"adaptive-rx": {at: 10, flag: true}, "adaptive-tx": {at: 11, flag: true}}},
	"pause": {unix.ETHTOOL_GPAUSEPARAM, unix.ETHTOOL_SPAUSEPARAM, 4, map[string]field{
		"autoneg": {at: 1, flag: true}, "rx": {at: 2, flag: true}, "tx": {at: 3, flag: true}}},
}

// numbers are the words of a group as read.
type numbers struct {
	group
	word []uint32
}

// numbers reads a group. The error is the system call's.
func (h *Handle) numbers(iface, name string) (numbers, error) {
	g, ok := groups[name]
	if !ok {
		return numbers{}, unix.EOPNOTSUPP
	}
	n := numbers{g, make([]uint32, g.words)}
	n.word[0] = g.get
	return n, h.call(iface, unsafe.Pointer(&n.word[0]))
}

// write writes the group with one number changed.
func (n numbers) write(h *Handle, iface, key, text string) error {
	value, err := n.parse(key, text)
	if err != nil {
		return err
	}
	words := slices.Clone(n.word)
	words[0], words[n.fields[key].at] = n.set, value
	return h.call(iface, unsafe.Pointer(&words[0]))
}

func (n numbers) of(key string) int   { return int(n.word[n.fields[key].at]) }
func (n numbers) most(key string) int { return int(n.word[n.fields[key].most]) }
func (n numbers) on(key string) bool  { return n.of(key) != 0 }

func (n numbers) text(key string) string {
	if n.fields[key].flag {
		return onOff(n.on(key))
	}
	return strconv.Itoa(n.of(key))
}

func (n numbers) parse(key, text string) (uint32, error) {
	if n.fields[key].flag && (text == "on" || text == "off") {
		return map[string]uint32{"on": 1}[text], nil
	}
	value, err := strconv.ParseUint(text, 10, 32)
	return uint32(value), err
}

func onOff(on bool) string {
	return map[bool]string{true: "on", false: "off"}[on]
}

// Sets of strings (enum ethtool_stringset).
const (
	statistics   = 1
	featureNames = 4
)

const (
	stringLength = 32      // ETH_GSTRING_LEN
	mostStrings  = 1 << 15 // of one set; some drivers have tens of thousands
)

// room returns how many entries to allocate for a list of n. The kernel writes as many as the driver has by
// then, whatever the request says; the driver may have got more queues since.
func room(n int) int { return 2*n + 1024 }

// strings reads a set of strings by index. Some may be empty.
func (h *Handle) strings(iface string, set uint32) ([]string, error) {
	info := struct {
		cmd, _ uint32
		mask   uint64
		length [2]uint32
	}{cmd: unix.ETHTOOL_GSSET_INFO, mask: 1 << set}
	if err := h.call(iface, unsafe.Pointer(&info)); err != nil {
		return nil, err
	}
	n := int(info.length[0])
	if info.mask == 0 || n == 0 {
		return nil, unix.EOPNOTSUPP
	}
	if n > mostStrings {
		return nil, fmt.Errorf("%d names, of at most %d", n, mostStrings)
	}
	const header, words = 3, stringLength / 4 // cmd, string_set, len
	data := make([]uint32, header+room(n)*words)
	data[0], data[1], data[2] = unix.ETHTOOL_GSTRINGS, set, uint32(n)
	if err := h.call(iface, unsafe.Pointer(&data[0])); err != nil {
		return nil, err
	}
	if int(data[2]) != n {
		return nil, unix.EAGAIN
	}
	text := unsafe.Slice((*byte)(unsafe.Pointer(&data[header])), n*stringLength)
	list := make([]string, n)
	for i := range list {
		list[i] = unix.ByteSliceToString(text[i*stringLength : (i+1)*stringLength])
	}
	return list, nil
}

// statistics reads the counters of a driver by their names (ethtool -S).
func (h *Handle) statistics(iface string) (map[string]uint64, error) {
	names, err := h.strings(iface, statistics)
	if err != nil {
		return nil, err
	}
	data := make([]uint64, 1+room(len(names)))
	header := (*[2]uint32)(unsafe.Pointer(&data[0])) // cmd, n_stats
	*header = [2]uint32{unix.ETHTOOL_GSTATS, uint32(len(names))}
	if err := h.call(iface, unsafe.Pointer(&data[0])); err != nil {
		return nil, err
	}
	if int(header[1]) != len(names) {
		return nil, unix.EAGAIN
	}
	counters := make(map[string]uint64, len(names))
	for i, name := range names {
		if name != "" {
			counters[name] += data[1+i] // vmxnet3 has the same names for each queue
		}
	}
	return counters, nil
}

// mostBlocks is the maximum number of blocks of 32 features that are read.
const mostBlocks = 8

// feature is the state of a feature of an interface (netdev-features.rst).
type feature struct {
	active    bool
	requested bool
	fixed     bool // it cannot be changed
}

// features reads the kernel's features by name.
func (h *Handle) features(iface string) (map[string]feature, error) {
	names, err := h.strings(iface, featureNames)
	if err != nil {
		return nil, err
	}
	data := struct {
		cmd, size uint32
		blocks    [mostBlocks]struct{ available, requested, active, never uint32 }
	}{cmd: unix.ETHTOOL_GFEATURES, size: mostBlocks}
	if err := h.call(iface, unsafe.Pointer(&data)); err != nil {
		return nil, err
	}
	list := make(map[string]feature, len(names))
	for i, name := range names[:min(len(names), 32*mostBlocks)] {
		b, bit := data.blocks[i/32], uint32(1)<<(i%32)
		if name != "" {
			list[name] = feature{active: b.active&bit != 0, requested: b.requested&bit != 0,
				fixed: b.available&bit == 0 || b.never&bit != 0}
		}
	}
	return list, nil
}

// SetFeature requests a feature on or off. The kernel may keep another value active without returning an error.
func (h *Handle) SetFeature(iface, name string, on bool) error {
	names, err := h.strings(iface, featureNames)
	if err != nil {
		return err
	}
	i := slices.Index(names, name)
	if i < 0 || i >= 32*mostBlocks {
		return unix.EOPNOTSUPP
	}
	type block struct{ valid, requested uint32 }
	data := struct {
		cmd, size uint32
		blocks    [mostBlocks]block
	}{cmd: unix.ETHTOOL_SFEATURES, size: uint32(len(names)+31) / 32}
	bit := uint32(1) << (i % 32)
	data.blocks[i/32] = block{valid: bit}
	if on {
		data.blocks[i/32].requested = bit
	}
	return h.call(iface, unsafe.Pointer(&data))
}

// mostMemory limits the memory of a module in bytes: ETH_MODULE_SFF_8436_MAX_LEN and the others are at most
// 640.
const mostMemory = 1024

// memory reads the memory of a pluggable module (ethtool -m).
func (h *Handle) memory(iface string) ([]byte, error) {
	info := struct {
		cmd, kind, length uint32
		_                 [8]uint32
	}{cmd: unix.ETHTOOL_GMODULEINFO}
	if err := h.call(iface, unsafe.Pointer(&info)); err != nil {
		return nil, err
	}
	if info.length > mostMemory {
		return nil, fmt.Errorf("%d bytes, of at most %d", info.length, mostMemory)
	}
	data := struct {
		cmd, magic, offset, length uint32
		memory                     [mostMemory]byte
	}{cmd: unix.ETHTOOL_GMODULEEEPROM, length: info.length}
	if err := h.call(iface, unsafe.Pointer(&data)); err != nil {
		return nil, err
	}
	return data.memory[:info.length], nil
}
