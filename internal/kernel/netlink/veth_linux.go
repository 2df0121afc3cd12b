//go:build !portable

package netlink

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// NewVethPair creates the interface and that of another end as a veth pair (veth(4)), both up. veth
// reports a speed of 10 Gbit/s, which is not a limit.
func (a LinkEnd) NewVethPair(b LinkEnd) error {
	what := fmt.Sprintf("%s.%s to %s.%s", a.Namespace.name, a.Interface, b.Namespace.name, b.Interface)
	near, err := linkEndMessage(a)
	if err != nil {
		return err
	}
	far, err := linkEndMessage(b)
	if err != nil {
		return err
	}
	// The peer is a separate link message inside the nested attributes, with the namespace in which
	// it is created.
	far = appendUint32(far, unix.IFLA_NET_NS_FD, uint32(b.Namespace.fd))
	info := appendText(nil, unix.IFLA_INFO_KIND, "veth")
	info = appendAttribute(info, unix.IFLA_INFO_DATA, appendAttribute(nil, vethInfoPeer, far))
	body := appendAttribute(near, unix.IFLA_LINKINFO, info)
	if err := a.Namespace.conn.request("make veth pair", what, unix.RTM_NEWLINK, flagsAdd, body, nil); err != nil {
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
	body := appendText(ifinfomsg(unix.AF_UNSPEC, 0, 0, 0), unix.IFLA_IFNAME, e.Interface)
	if e.MAC != "" {
		mac, err := net.ParseMAC(e.MAC)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", e.Namespace.name, e.Interface, err)
		}
		body = appendAttribute(body, unix.IFLA_ADDRESS, mac)
	}
	return appendUint32(body, unix.IFLA_MTU, uint32(e.MTU)), nil
}

// SetUp brings an interface up (ip link set up).
func (n *Namespace) SetUp(name string) error {
	up := true
	return n.addName(n.conn.ChangeLink(name, LinkChange{Up: &up}))
}
