// Package path has the rules about what lies between hosts: switches, the path MTU, peers that were
// probed, and flows that did not connect.
package path

import (
	"cmp"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// MTURules are about packets that are too large for a path.
var MTURules = []rule.Rule{{ID: cause.PathMTU.Code, Find: pathMTU}}

const (
	// ipTCP and ipUDP are the lengths of IPv4 and TCP or UDP headers without options; ipv6More is added
	// for IPv6 (RFC 8200), timestamps for TCP timestamps (RFC 7323).
	ipTCP, ipUDP, ipv6More, timestamps = 20 + 20, 20 + 8, 20, 12
	// leastPath is the packet size that nearly every path takes (RFC 1122, section 3.3.3).
	leastPath = 576
	// mtuProbing is the parameter that lets TCP try smaller packets: 1 after losses, 2 always.
	mtuProbing = "net.ipv4.tcp_mtu_probing"
)

// pathMTU finds senders that get nothing through because their packets are larger than a link of
// their path takes, and the message about it (RFC 1191) did not arrive. If the path is not known,
// the finding is possible: a connection opened, but no packet of full size was ever received.
func pathMTU(f facts.Trial) (findings []record.Finding) {
	for _, fl := range f.Trial.Flows {
		packet, seen := stuck(fl)
		if packet == 0 {
			continue
		}
		finding := record.Finding{ID: cause.PathMTU.Code, Host: fl.From, Confidence: record.Likely}
		large := fact.TooLarge{Flow: fl.ID, Bytes: packet}
		at, mtu := narrow(f, fl, packet)
		switch {
		case mtu > 0:
			large.At, large.MTU = at.String(), mtu
			args := cause.Narrow{At: large.At, MTU: mtu}
			if len(fl.Path) == 2 { // no router is known between the two
				args.From = fl.Path[0]
			} else if fl.Datagrams == nil {
				args.MSS = mtu - ipTCP - ipMore(fl)
			}
			finding.Args = args
		case packet > leastPath && blind(f, fl) && !arrived(f, fl, packet):
			finding.Confidence, finding.Args = record.Possible, cause.Narrow{To: fl.DestinationAddr()}
		default:
			continue
		}
		finding.With("", large, seen)
		if from := f.Host(fl.From); fl.SenderInfo != nil && (from == nil || from.Number(mtuProbing, 0) <= 0) {
			finding.Fixed(record.Settings(fix.Parameters(fl.From, mtuProbing, "1")...)...)
		}
		findings = append(findings, finding)
	}
	return findings
}

// stuck returns the size of the packets of a flow that gets nothing through, or of datagrams at
// most half, and the evidence; 0: the flow gets more through.
func stuck(fl record.Flow) (packet int, seen fact.Stuck) {
	info, d := fl.SenderInfo, fl.Datagrams
	seen.Flow = fl.ID
	switch {
	case !fl.Connected:
	case d != nil:
		if lost, _ := d.LostShare(); d.Sent > 0 && lost >= 0.5 && d.Bytes > 0 {
			packet = d.Bytes + ipUDP + ipMore(fl)
			if mtu := cmp.Or(d.MTU, packet); packet > mtu {
				packet = mtu // each of its fragments
			}
			seen.Lost = &lost
		}
	case info != nil && flow.Of(fl.Protocol).Transport == flow.TCP && fl.GoodputBps <= 0 && (info.Backoff > 0 ||
		info.Retransmits > 0):
		if packet = int(info.SndMSS) + ipTCP + ipMore(fl); info.Options&1 != 0 {
			packet += timestamps
		}
		seen.Doubled = info.Backoff
	}
	return packet, seen
}

// ipMore returns by how much the IP header of a flow is longer than that of IPv4.
func ipMore(fl record.Flow) int {
	if fl.DestinationAddr().Is6() {
		return ipv6More
	}
	return 0
}

// narrow returns the first interface on a flow's path whose link or host takes only smaller
// packets, and its MTU; 0: none is known. Routers divide IPv4 fragments further, because the sender
// sets DF only on packets that it does not fragment.
func narrow(f facts.Trial, fl record.Flow, packet int) (at topology.End, mtu int) {
	d := fl.Datagrams
	fragments := d != nil && d.MTU > 0 && d.Bytes+ipUDP > d.MTU && !fl.DestinationAddr().Is6()
	ends := fl.Ends()
	for i := 0; i+1 < len(ends); i += 2 {
		most := 0
		if link, ok := f.Topology.LinkAt(ends[i]); ok {
			most = link.Towards(ends[i]).MTU
		}
		out, port := interfaceAt(f, ends[i])
		if _, host := f.Topology.Host(ends[i].Node); fragments && host && !port && i > 0 {
			packet = min(packet, cmp.Or(most, packet), cmp.Or(out, packet))
		}
		if in, _ := interfaceAt(f, ends[i+1]); in > 0 && packet > in {
			return ends[i+1], in
		}
		if most > 0 && packet > most {
			return ends[i], most
		}
	}
	return topology.End{}, 0
}

// interfaceAt returns the MTU of an interface, 0 if it was not read, and whether it is a port of a
// bridge.
func interfaceAt(f facts.Trial, e topology.End) (mtu int, port bool) {
	h, _ := f.Trial.Reading(e.Node)
	for _, i := range h.Snapshot.Interfaces {
		if i.Interface == e.Interface {
			return i.MTU, slices.ContainsFunc(h.Snapshot.Interfaces, func(m netstate.InterfaceSnapshot) bool {
				return m.Interface == i.Master && m.Kind == "bridge"
			})
		}
	}
	return 0, false
}

// arrived reports whether packets of a flow's full size reached its receiver, even if they were
// dropped there. This is so if the mean size of received packets is above half of it, or if more
// than two fragments arrived for each datagram sent: a narrow path lets only the last fragment of
// each through.
func arrived(f facts.Trial, fl record.Flow, packet int) bool {
	h, _ := f.Trial.Reading(fl.To)
	if d := fl.Datagrams; d != nil && h.SNMPDelta("Ip.ReasmReqds")+h.SNMPDelta("Ip6.ReasmReqds") > 2*d.Sent {
		return true
	}
	ends := fl.Ends()
	return slices.ContainsFunc(h.Deltas(), func(d netstate.InterfaceDelta) bool {
		return (len(ends) == 0 || d.Interface == ends[len(ends)-1].Interface) &&
			d.RxBytes > float64(packet)/2*d.RxPackets
	})
}

// blind reports whether no packet of full size of a flow was ever received although nothing
// happened to its path, and the path is not fully known.
func blind(f facts.Trial, fl record.Flow) bool {
	if d := fl.Datagrams; d != nil && d.Received > 0 || d == nil &&
		fl.SenderInfo.BytesAcked > uint64(fl.SenderInfo.SndMSS) {
		return false
	}
	return f.UnknownPath() && len(fl.Outages) == 0 && len(f.Trial.Events) == 0 && len(f.Trial.Faults) == 0
}
