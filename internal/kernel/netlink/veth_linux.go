package netlink

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// NewVethPair joins two namespaces with a veth pair (veth(4)). The interface speed
// that veth reports, 10 Gbit/s, means nothing.
func NewVethPair(a, b LinkEnd) error {
	what := fmt.Sprintf("%s.%s to %s.%s", a.Namespace.name, a.Interface, b.Namespace.name, b.Interface)
	near, err := linkEndMessage(a)
	if err != nil {
		return err
	}
	far, err := linkEndMessage(b)
	if err != nil {
		return err
	}
	// The peer is a link message of its own inside the nested attributes, with
	// the namespace it is to be born in.
	far = appendUint32(far, unix.IFLA_NET_NS_FD, uint32(b.Namespace.fd))
	info := appendText(nil, unix.IFLA_INFO_KIND, "veth")
	info = appendAttribute(info, unix.IFLA_INFO_DATA, appendAttribute(nil, vethInfoPeer, far))
	body := appendAttribute(near, unix.IFLA_LINKINFO, info)
	if err := a.Namespace.conn.request("cable", what, unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, body, nil); err != nil {
		return err
	}
	for _, end := range []LinkEnd{a, b} {
		if err := end.Namespace.SetUp(end.Interface); err != nil {
			return err
		}
	}
	return nil
}

const vethInfoPeer = 1 // VETH_INFO_PEER, linux/veth.h

func linkEndMessage(e LinkEnd) ([]byte, error) {
	mac, err := net.ParseMAC(e.MAC)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", e.Namespace.name, e.Interface, err)
	}
	body := appendText(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_IFNAME, e.Interface)
	body = appendAttribute(body, unix.IFLA_ADDRESS, mac)
	return appendUint32(body, unix.IFLA_MTU, uint32(e.MTU)), nil
}

// SetUp brings an interface up.
func (n *Namespace) SetUp(port string) error {
	up := true
	return n.named(n.conn.ChangeLink(port, LinkChange{Up: &up}))
}

// named says in which namespace something failed.
func (n *Namespace) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", n.name, err)
}

// AddBridge makes a bridge (Documentation/networking/bridge.rst) with the kernel's
// defaults: no spanning tree, so that interfaces forward at once, and entries that
// live for 300 s.
func (n *Namespace) AddBridge(name string) error {
	body := appendText(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_IFNAME, name)
	body = appendAttribute(body, unix.IFLA_LINKINFO, appendText(nil, unix.IFLA_INFO_KIND, "bridge"))
	if err := n.conn.request("make bridge", name, unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, body, nil); err != nil {
		return n.named(err)
	}
	return n.SetUp(name)
}

// SetMaster makes an interface a member of a bridge.
func (n *Namespace) SetMaster(port, bridge string) error {
	index, err := n.conn.index(port)
	if err != nil {
		return n.named(err)
	}
	master, err := n.conn.index(bridge)
	if err != nil {
		return n.named(err)
	}
	body := appendUint32(ifinfomsg(unix.AF_UNSPEC, index, 0, 0), unix.IFLA_MASTER, uint32(master))
	return n.named(n.conn.request("add to bridge "+bridge, port, unix.RTM_NEWLINK, 0, body, nil))
}

// Shape sets an interface's root queueing discipline: tbf for the rate (tc-tbf(8)),
// netem for what happens on the way (tc-netem(8)), netem inside tbf for both.
func (n *Namespace) Shape(port string, s Shaping) error {
	var kinds []QdiscSpec
	if s.RateBps > 0 {
		kinds = append(kinds, QdiscSpec{
			Kind: "tbf", Limit: uint32(s.QueueBytes),
			RateBytes: uint64(s.RateBps / 8), BurstBytes: uint64(s.BurstBytes),
		})
	}
	if s.Alters() {
		inFlight := s.RateBps / 8 * float64(s.DelayUs+s.JitterUs) / 1e6
		kinds = append(kinds, QdiscSpec{
			Kind: "netem", Limit: uint32(max(1000, (float64(s.QueueBytes)+inFlight)/float64(s.MTU))),
			DelayNs: s.DelayUs * 1000, JitterNs: s.JitterUs * 1000, Loss: s.Loss, Reorder: s.Reorder,
		})
	}
	parent := QdiscRoot
	for i, spec := range kinds {
		spec.Handle = uint32(i+1) << 16
		if err := n.conn.addQdisc(port, parent, spec); err != nil {
			return n.named(err)
		}
		parent = spec.Handle | 1
	}
	return nil
}
