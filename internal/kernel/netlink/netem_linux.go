//go:build !portable

package netlink

import (
	"math"

	"golang.org/x/sys/unix"

	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// netemLimit is the number of frames that netem can hold: half a second of 4 Gbit/s in single
// frames. It does not restrict what sockets and queues hold anyway.
const netemLimit = 200_000

// NewNetemLink joins the interface with that of another end by netem. Each is one end of a veth
// pair, both up, and the other ends, in the namespace wire, are the two ports of a bridge with the
// given name. netem delays what leaves the bridge. On the interfaces themselves, packets in flight
// would appear in the interface's queue, and would count towards that queue's length in packets,
// where a super-frame counts as one.
//
// If frames can be treated differently from each other, the sending interface segments them,
// because netem treats what it receives as one frame.
func (a LinkEnd) NewNetemLink(b LinkEnd, wire *Namespace, bridge string, inFlight [2]topology.Impairment) error {
	if err := wire.addWire(bridge); err != nil {
		return err
	}
	for i, end := range []LinkEnd{a, b} {
		port := LinkEnd{Namespace: wire, Interface: bridge + string("ab"[i]), MTU: math.MaxUint16}
		if err := end.NewVethPair(port); err != nil {
			return err
		}
		if err := wire.addWirePort(port.Interface, bridge); err != nil {
			return err
		}
		// What leaves by this port came from the other end.
		if back := inFlight[1-i]; back != (topology.Impairment{}) {
			spec := QdiscSpec{Handle: 1 << 16, Qdisc: setting.Qdisc{Kind: "netem", Limit: netemLimit}, Netem: back}
			if err := wire.conn.setQdisc("add qdisc to", port.Interface, qdiscRoot, flagsAdd, spec); err != nil {
				return wire.addName(err)
			}
		}
		if inFlight[i].PerFrame() {
			if err := end.Namespace.Segment(end.Interface); err != nil {
				return err
			}
		}
	}
	return nil
}

// addWire creates a bridge that forwards every frame.
func (n *Namespace) addWire(name string) error {
	info := appendText(nil, unix.IFLA_INFO_KIND, "bridge")
	info = appendAttribute(info, unix.IFLA_INFO_DATA, appendAttribute(nil, unix.IFLA_BR_MCAST_SNOOPING, []byte{0}))
	body := appendText(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_IFNAME, name)
	body = appendAttribute(body, unix.IFLA_LINKINFO, info)
	if err := n.conn.request("make bridge", name, unix.RTM_NEWLINK, flagsAdd, body, nil); err != nil {
		return n.addName(err)
	}
	return n.SetUp(name)
}

// addWirePort makes an interface a port that learns no addresses and forwards all frames except
// pause frames (IEEE 802.3 Annex 31B), which no port forwards.
func (n *Namespace) addWirePort(name, bridge string) error {
	if err := n.SetMaster(name, bridge); err != nil {
		return err
	}
	index, err := n.conn.index(name)
	if err != nil {
		return n.addName(err)
	}
	const allButPause = 0xffff &^ 2
	data := appendAttribute(nil, unix.IFLA_BRPORT_LEARNING, []byte{0})
	data = appendAttribute(data, unix.IFLA_BRPORT_GROUP_FWD_MASK, native.AppendUint16(nil, allButPause))
	info := appendText(nil, unix.IFLA_INFO_SLAVE_KIND, "bridge")
	info = appendAttribute(info, unix.IFLA_INFO_SLAVE_DATA, data)
	body := appendAttribute(ifinfomsg(unix.AF_UNSPEC, index, 0, 0), unix.IFLA_LINKINFO, info)
	return n.addName(n.conn.request("set port of bridge "+bridge, name, unix.RTM_NEWLINK, 0, body, nil))
}

// Segment makes an interface segment frames before they leave it (ip link set gso_max_segs 1).
func (n *Namespace) Segment(name string) error {
	index, err := n.conn.index(name)
	if err != nil {
		return n.addName(err)
	}
	body := appendUint32(ifinfomsg(unix.AF_UNSPEC, index, 0, 0), unix.IFLA_GSO_MAX_SEGS, 1)
	return n.addName(n.conn.request("set gso_max_segs of", name, unix.RTM_NEWLINK, 0, body, nil))
}

// Shape adds a tbf with the rate, burst and queue of an impairment to an interface. Without a rate
// it does nothing.
func (n *Namespace) Shape(name string, i topology.Impairment) error {
	if i.Rate == 0 {
		return nil
	}
	spec := QdiscSpec{Handle: LinkHandle, Qdisc: setting.Qdisc{Kind: "tbf", Limit: int(i.QueueSize()), Rate: i.Rate,
		Burst: i.Burst}}
	return n.addName(n.conn.setQdisc("add qdisc to", name, qdiscRoot, flagsAdd, spec))
}

// netemOptions encodes struct tc_netem_qopt (latency, limit, loss, gap, duplicate, jitter) and the
// 64-bit latency and jitter, which newer kernels prefer.
func (s QdiscSpec) netemOptions() []byte {
	ticks := func(d unit.Duration) uint32 { return uint32(min(float64(d)/psched(), math.MaxUint32)) }
	probability := func(share unit.Ratio) uint32 { return uint32(share * math.MaxUint32) }
	gap := uint32(0)
	if s.Netem.Reorder > 0 {
		gap = 1 // every packet may be reordered
	}
	options := native.AppendUint32(nil, ticks(s.Netem.Delay))
	options = native.AppendUint32(options, uint32(s.Limit))
	options = native.AppendUint32(options, probability(s.Netem.Loss))
	options = native.AppendUint32(options, gap)
	options = native.AppendUint32(options, 0)
	options = native.AppendUint32(options, ticks(s.Netem.Jitter))
	if s.Netem.Reorder > 0 { // struct tc_netem_reorder: probability, correlation
		options = appendAttribute(options, netemReorder,
			native.AppendUint32(native.AppendUint32(nil, probability(s.Netem.Reorder)), 0))
	}
	if s.Netem.Jitter > 0 {
		// netem orders packets by the time at which each is due, unless it has a rate: then none is
		// due before the preceding one (net/sched/sch_netem.c, netem_enqueue). A rate of 32 Gbit/s
		// delays nothing. struct tc_netem_rate: rate, packet_overhead, cell_size, cell_overhead.
		options = appendAttribute(options, netemRate, append(native.AppendUint32(nil, 4e9), make([]byte, 12)...))
	}
	options = appendUint64(options, netemLatency64, uint64(s.Netem.Delay))
	if s.Netem.Jitter > 0 {
		options = appendUint64(options, netemJitter64, uint64(s.Netem.Jitter))
	}
	return options
}
