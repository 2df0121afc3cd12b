//go:build !portable

package netlink

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
)

// LookupRoute returns q with the kernel's answer (RTM_GETROUTE): how it would route a packet that
// this host sends, or that arrives on the interface In and is forwarded. It sets Interface,
// Gateway, ChosenSource and, with a protocol, Nexthops (Linux 4.18). Of several next hops the
// answer is the one that the kernel's hash of the packet selects. Names maps interface indices to
// names; nil: they are read.
func (c *Conn) LookupRoute(q netstate.RouteLookup, names map[int]string) (netstate.RouteLookup, error) {
	q.Interface, q.Gateway, q.ChosenSource, q.Nexthops, q.Unsure, q.Error = "", "", "", 0, "", ""
	request, err := c.lookupRequest(q)
	if err != nil {
		return q, err
	}
	if protocols[q.Protocol] != 0 {
		if q.Nexthops, err = c.countNexthops(request, q); err != nil {
			return q, err
		}
	}
	index := 0
	err = c.request("look up route", lookupText(q), unix.RTM_GETROUTE, 0, request,
		func(kind uint16, body []byte, _ int64) {
			if kind != unix.RTM_NEWROUTE || len(body) < rtmsgLen {
				return
			}
			for a := range attributes(body[rtmsgLen:]) {
				switch a.kind {
				case unix.RTA_OIF:
					index = int(a.uint32())
				case unix.RTA_GATEWAY, unix.RTA_VIA:
					q.Gateway = a.gateway().String()
				case unix.RTA_PREFSRC:
					if q.Source == "" {
						q.ChosenSource = a.addr().String()
					}
				}
			}
		})
	if err != nil || index == 0 {
		return q, err
	}
	if names[index] == "" {
		if names, err = c.names(); err != nil {
			return q, err
		}
	}
	q.Interface = names[index]
	return q, nil
}

// protocols has the IP protocol numbers (RFC 5237) of the protocols of a lookup.
var protocols = map[string]uint8{flow.TCP: unix.IPPROTO_TCP, flow.UDP: unix.IPPROTO_UDP}

func (c *Conn) lookupRequest(q netstate.RouteLookup) ([]byte, error) {
	to, err := netip.ParseAddr(q.Destination)
	if err != nil {
		return nil, err
	}
	request := make([]byte, rtmsgLen, 96)
	request[0], request[1] = family(to), byte(to.BitLen())
	request = appendAttribute(request, unix.RTA_DST, to.AsSlice())
	if q.Source != "" {
		from, err := netip.ParseAddr(q.Source)
		if err != nil {
			return nil, err
		}
		request[2] = byte(from.BitLen())
		request = appendAttribute(request, unix.RTA_SRC, from.AsSlice())
	}
	if q.In != "" {
		in, err := c.index(q.In)
		if err != nil {
			return nil, err
		}
		request = appendUint32(request, unix.RTA_IIF, uint32(in))
	}
	if number := protocols[q.Protocol]; number != 0 {
		request = appendAttribute(request, unix.RTA_IP_PROTO, []byte{number})
		// Both ports or neither: with only one, the hash would be that of a different packet.
		if q.SourcePort != 0 || q.DestinationPort != 0 {
			request = appendAttribute(request, unix.RTA_SPORT, binary.BigEndian.AppendUint16(nil, q.SourcePort))
			request = appendAttribute(request, unix.RTA_DPORT, binary.BigEndian.AppendUint16(nil, q.DestinationPort))
		}
	}
	return request, nil
}

func lookupText(q netstate.RouteLookup) string {
	text := "to " + q.Destination
	if q.Source != "" {
		text += " from " + q.Source
	}
	if q.In != "" {
		text += " iif " + q.In
	}
	if q.Protocol != "" {
		text += fmt.Sprintf(" ipproto %s sport %d dport %d", q.Protocol, q.SourcePort, q.DestinationPort)
	}
	return text
}

// rtmFibMatch requests the route itself instead of the result of the lookup (RTM_F_FIB_MATCH, Linux
// 4.13).
const rtmFibMatch = 0x2000

// countNexthops counts the next hops of the route that a lookup finds.
func (c *Conn) countNexthops(request []byte, q netstate.RouteLookup) (count int, err error) {
	request = slices.Clone(request)
	native.PutUint32(request[8:], rtmFibMatch)
	err = c.request("find route", lookupText(q), unix.RTM_GETROUTE, 0, request,
		func(kind uint16, body []byte, _ int64) {
			if kind == unix.RTM_NEWROUTE && len(body) >= rtmsgLen {
				count = max(1, len(parseRoute(body, nil).Entry.Nexthops))
			}
		})
	return count, err
}
