package netlink

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// LookupRoute has the kernel decide about a packet as if it were sent, or came in
// by an interface and were to be forwarded (RTM_GETROUTE). Where a route has several
// next hops the answer is the one that its hash of the packet chooses.
func (c *Conn) LookupRoute(q RouteQuery) (Lookup, error) {
	answer := c.LookupRoutes([]RouteQuery{q})[0]
	return answer.Lookup, answer.Err
}

// LookupRoutes is LookupRoute of many packets, for which the devices are listed
// once. An answer that could not be had says so; the others stand.
func (c *Conn) LookupRoutes(questions []RouteQuery) []RouteResult {
	b := routeBatch{conn: c, indices: map[string]int{}}
	answers := make([]RouteResult, len(questions))
	for i, q := range questions {
		answers[i].Lookup, answers[i].Err = b.lookup(q)
	}
	return answers
}

// routeBatch is what several questions need to know alike.
type routeBatch struct {
	conn    *Conn
	names   map[int]string // nil: not asked yet
	indices map[string]int
}

func (b *routeBatch) index(name string) (int, error) {
	if index, known := b.indices[name]; known {
		return index, nil
	}
	index, err := b.conn.index(name)
	if err == nil {
		b.indices[name] = index
	}
	return index, err
}

func (b *routeBatch) name(index int) (name string, err error) {
	if b.names == nil {
		if b.names, err = b.conn.names(); err != nil {
			return "", err
		}
	}
	return b.names[index], nil
}

func (b *routeBatch) lookup(q RouteQuery) (Lookup, error) {
	c := b.conn
	ask := make([]byte, rtmsgLen, 96)
	ask[0], ask[1] = family(q.Destination), byte(q.Destination.BitLen())
	ask = appendAttribute(ask, unix.RTA_DST, q.Destination.AsSlice())
	if q.Source.IsValid() {
		ask[2] = byte(q.Source.BitLen())
		ask = appendAttribute(ask, unix.RTA_SRC, q.Source.AsSlice())
	}
	if q.In != "" {
		in, err := b.index(q.In)
		if err != nil {
			return Lookup{}, err
		}
		ask = appendUint32(ask, unix.RTA_IIF, uint32(in))
	}
	if q.Protocol != 0 {
		ask = appendAttribute(ask, unix.RTA_IP_PROTO, []byte{q.Protocol})
		// Both ports or none: a hash of one would be that of another packet.
		if q.SourcePort != 0 || q.DestinationPort != 0 {
			ask = appendAttribute(ask, unix.RTA_SPORT, binary.BigEndian.AppendUint16(nil, q.SourcePort))
			ask = appendAttribute(ask, unix.RTA_DPORT, binary.BigEndian.AppendUint16(nil, q.DestinationPort))
		}
	}
	ways := 0
	if q.Protocol != 0 {
		var err error
		if ways, err = c.countNexthops(ask, q); err != nil {
			return Lookup{}, err
		}
	}
	found := Lookup{Source: q.Source, Nexthops: ways} // the answer names it only where the kernel chose
	index := 0
	err := c.request("look up route", q.String(), unix.RTM_GETROUTE, 0, ask,
		func(kind uint16, body []byte, _ int64) error {
			if kind != unix.RTM_NEWROUTE || len(body) < rtmsgLen {
				return nil
			}
			for a := range attributes(body[rtmsgLen:]) {
				switch a.kind {
				case unix.RTA_OIF:
					index = int(a.uint32())
				case unix.RTA_GATEWAY:
					found.Gateway = a.addr()
				case unix.RTA_VIA:
					if len(a.data) > 2 {
						found.Gateway, _ = netip.AddrFromSlice(a.data[2:])
					}
				case unix.RTA_PREFSRC:
					found.Source = a.addr()
				}
			}
			return nil
		})
	if err != nil || index == 0 {
		return found, err
	}
	found.Interface, err = b.name(index)
	return found, err
}

// rtmFibMatch asks for the route itself instead of what becomes of it
// (RTM_F_FIB_MATCH, 4.13).
const rtmFibMatch = 0x2000

// countNexthops counts the next hops of the route that a question finds.
func (c *Conn) countNexthops(ask []byte, q RouteQuery) (ways int, err error) {
	ask = append([]byte(nil), ask...)
	native.PutUint32(ask[8:], rtmFibMatch)
	err = c.request("find route", q.String(), unix.RTM_GETROUTE, 0, ask,
		func(kind uint16, body []byte, _ int64) error {
			if kind != unix.RTM_NEWROUTE || len(body) < rtmsgLen {
				return nil
			}
			ways = 1
			for a := range attributes(body[rtmsgLen:]) {
				if a.kind != unix.RTA_MULTIPATH {
					continue
				}
				ways = 0
				for range nexthops(a.data) {
					ways++
				}
			}
			return nil
		})
	return ways, err
}
