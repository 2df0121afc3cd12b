//go:build !portable

package netlink

import (
	"errors"
	"maps"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/model/netstate"
)

// Indices of the counters in struct rtnl_link_stats64 (linux/if_link.h).
const (
	statRxPackets   = 0
	statTxPackets   = 1
	statRxBytes     = 2
	statTxBytes     = 3
	statRxErrors    = 4
	statTxErrors    = 5
	statRxDropped   = 6
	statTxDropped   = 7
	statCollisions  = 9
	statRxLength    = 10
	statRxCRC       = 12
	statRxMissed    = 15
	statTxCarrier   = 17
	statRxNoHandler = 23
	statRxOtherhost = 24 // since 5.19
)

// InterfaceCounters reads the counters of every interface, including lo, in the kernel's order.
// Names maps indices to names; it is updated when an interface is missing, so pass the same map
// again. The method uses RTM_GETSTATS, whose answer only has counters and takes a fraction of the
// time of a link dump, which it uses on kernels before 4.7.
func (c *Conn) InterfaceCounters(names map[int]string) ([]netstate.InterfaceCounters, error) {
	all, err := c.statsDump()
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EINVAL) {
		all, err = c.statsOfLinks()
	}
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(all, func(s indexedStats) bool { return names[s.index] == "" }) {
		fresh, err := c.names()
		if err != nil {
			return nil, err
		}
		clear(names)
		maps.Copy(names, fresh)
	}
	var counters []netstate.InterfaceCounters
	for _, s := range all {
		// An interface that was deleted after the dump has no name any more.
		if s.counters.Interface = names[s.index]; s.counters.Interface != "" {
			counters = append(counters, s.counters)
		}
	}
	return counters, nil
}

type indexedStats struct {
	index    int
	counters netstate.InterfaceCounters
}

// struct if_stats_msg: family, 3 bytes of padding, index, filter mask.
const ifStatsMsgLen = 12

func (c *Conn) statsDump() ([]indexedStats, error) {
	request := native.AppendUint32(make([]byte, 8, ifStatsMsgLen), 1<<(unix.IFLA_STATS_LINK_64-1))
	return c.stats(unix.RTM_GETSTATS, unix.RTM_NEWSTATS, request, unix.IFLA_STATS_LINK_64)
}

func (c *Conn) statsOfLinks() ([]indexedStats, error) {
	return c.stats(unix.RTM_GETLINK, unix.RTM_NEWLINK, ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_STATS64)
}

// stats dumps a table whose messages have the counters in the given attribute, after a header of
// the same length as the request's.
func (c *Conn) stats(kind, answer uint16, request []byte, attribute uint16) ([]indexedStats, error) {
	return list(c, "read interface counters", kind, answer, len(request), [][]byte{request},
		func(body []byte, atNs int64) (indexedStats, bool) {
			for a := range attributes(body[len(request):]) {
				if a.kind == attribute {
					return indexedStats{indexOf(body), linkStats64(a.data, atNs)}, true
				}
			}
			return indexedStats{}, false
		})
}

func linkStats64(stats []byte, atNs int64) netstate.InterfaceCounters {
	return netstate.InterfaceCounters{
		RxBytes:     counter(stats, statRxBytes),
		TxBytes:     counter(stats, statTxBytes),
		RxPackets:   counter(stats, statRxPackets),
		TxPackets:   counter(stats, statTxPackets),
		RxDropped:   counter(stats, statRxDropped),
		TxDropped:   counter(stats, statTxDropped),
		RxErrors:    counter(stats, statRxErrors),
		TxErrors:    counter(stats, statTxErrors),
		RxMissed:    counter(stats, statRxMissed),
		RxOtherhost: counter(stats, statRxOtherhost),
		RxCRC:       counter(stats, statRxCRC),
		RxLength:    counter(stats, statRxLength),
		TxCarrier:   counter(stats, statTxCarrier),
		Collisions:  counter(stats, statCollisions),
		RxNoHandler: counter(stats, statRxNoHandler),
		AtNs:        atNs,
	}
}
