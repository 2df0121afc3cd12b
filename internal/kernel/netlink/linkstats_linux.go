package netlink

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/model/record"
)

// Places of the counters in struct rtnl_link_stats64 (linux/if_link.h).
const (
	statRxPackets   = 0
	statTxPackets   = 1
	statRxBytes     = 2
	statTxBytes     = 3
	statRxErrors    = 4
	statTxErrors    = 5
	statRxDropped   = 6
	statTxDropped   = 7
	statRxMissed    = 15
	statRxOtherhost = 24 // since 5.19
)

// InterfaceCounters reads the counters of every device, lo included, in the kernel's
// order. names maps indices to names and is renewed when a device is not in it;
// pass the same map again. It asks RTM_GETSTATS, whose answer carries nothing
// but counters and so costs a fraction of a full link dump, and falls back to
// the latter on kernels before 4.7.
func (c *Conn) InterfaceCounters(names map[int]string) ([]record.InterfaceCounters, error) {
	list, indices, err := c.statsDump()
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EINVAL) {
		list, indices, err = c.statsOfLinks()
	}
	if err != nil {
		return nil, err
	}
	for _, index := range indices {
		if _, known := names[index]; known {
			continue
		}
		fresh, err := c.names()
		if err != nil {
			return nil, err
		}
		clear(names)
		for index, name := range fresh {
			names[index] = name
		}
		break
	}
	kept := list[:0]
	for i := range list {
		// A device that was removed since the dump has no name any more.
		if name, known := names[indices[i]]; known {
			list[i].Interface = name
			kept = append(kept, list[i])
		}
	}
	return kept, nil
}

// struct if_stats_msg: family, 3 bytes of padding, index, filter mask.
const ifStatsMsgLen = 12

func (c *Conn) statsDump() (list []record.InterfaceCounters, indices []int, err error) {
	body := make([]byte, 0, ifStatsMsgLen)
	body = append(body, unix.AF_UNSPEC, 0, 0, 0)
	body = native.AppendUint32(body, 0)
	body = native.AppendUint32(body, 1<<(unix.IFLA_STATS_LINK_64-1))
	err = c.dump("read interface counters", unix.RTM_GETSTATS, body, func() { list, indices = nil, nil },
		func(kind uint16, body []byte, atNs int64) error {
			if kind != unix.RTM_NEWSTATS || len(body) < ifStatsMsgLen {
				return nil
			}
			for a := range attributes(body[ifStatsMsgLen:]) {
				if a.kind == unix.IFLA_STATS_LINK_64 {
					list = append(list, linkStats64(a.data, atNs))
					indices = append(indices, int(int32(native.Uint32(body[4:]))))
				}
			}
			return nil
		})
	return list, indices, err
}

func (c *Conn) statsOfLinks() (list []record.InterfaceCounters, indices []int, err error) {
	err = c.dump("read interface counters", unix.RTM_GETLINK, ifinfomsg(unix.AF_UNSPEC, 0, 0, 0),
		func() { list, indices = nil, nil },
		func(kind uint16, body []byte, atNs int64) error {
			if kind != unix.RTM_NEWLINK || len(body) < ifinfomsgLen {
				return nil
			}
			for a := range attributes(body[ifinfomsgLen:]) {
				if a.kind == unix.IFLA_STATS64 {
					list = append(list, linkStats64(a.data, atNs))
					indices = append(indices, int(int32(native.Uint32(body[4:]))))
				}
			}
			return nil
		})
	return list, indices, err
}

func linkStats64(stats []byte, atNs int64) record.InterfaceCounters {
	return record.InterfaceCounters{
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
		AtNs:        atNs,
	}
}
