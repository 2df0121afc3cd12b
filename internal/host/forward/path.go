package forward

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"linerate/internal/host/frames"
	"linerate/internal/kernel/ethtool"
	"linerate/internal/kernel/netlink"
)

// path has the addresses of frames and the speed of the links.
type path struct {
	frames.Path
	reverse frames.Path  // frames by which a switch learns where Receive is
	to      netip.Prefix // destinations; Remote is the first
	router  bool
	linkBps float64 // 0: not known
	own     bool    // the destination is an address of this host
}

// Addresses and ports of the frames: the ports of RFC 2544, appendix C.2.6.4, and the networks for benchmarks
// (RFC 2544, appendix C.2.2; RFC 5180, section 8).
const (
	sourcePort, echoPort = 49184, 7
	checkSequence        = 4
	gap                  = 8 + 12 // preamble and interframe gap, in bytes (IEEE 802.3)
	resolvePatience      = 3 * time.Second
)

var (
	between4 = [2]netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.19.0.1")}
	between6 = [2]netip.Addr{netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2:0:8000::1")}
)

// findPath determines the addresses of frames.
func findPath(ctx context.Context, o Options) (*path, error) {
	c, err := netlink.Dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	out, from, err := ethernet(c, o.Interface)
	if err != nil {
		return nil, err
	}
	in, to, err := ethernet(c, o.Receive)
	if err != nil {
		return nil, err
	}
	addresses, err := c.Addresses()
	if err != nil {
		return nil, err
	}
	six := o.Router.Is6() || o.To.Addr().Is6() || o.From.Is6()
	between := between4
	if six {
		between = between6
	}
	first := func(name string, or netip.Addr) netip.Addr {
		i := slices.IndexFunc(addresses, func(a netlink.Address) bool {
			return a.Interface == name && a.Prefix.Addr().Is6() == six && !a.Prefix.Addr().IsLinkLocalUnicast()
		})
		if i < 0 {
			return or
		}
		return addresses[i].Prefix.Addr()
	}
	local, remote := o.From, o.To.Masked().Addr()
	if !local.IsValid() {
		local = first(o.Interface, between[0])
	}
	if !remote.IsValid() {
		remote = first(o.Receive, between[1])
	}
	if local.Is6() != remote.Is6() || o.Router.IsValid() && o.Router.Is6() != remote.Is6() {
		text := fmt.Sprintf("frames from %s to %s", local, remote)
		if o.Router.IsValid() {
			text += " by router " + o.Router.String()
		}
		return nil, fmt.Errorf("%s: expected addresses of one family", text)
	}
	p := &path{router: o.Router.IsValid() || o.MAC != nil}
	if p.to = o.To.Masked(); !o.To.IsValid() {
		p.to = netip.PrefixFrom(remote, remote.BitLen())
	}
	p.own = slices.ContainsFunc(addresses, func(a netlink.Address) bool { return a.Prefix.Addr() == remote })
	p.Path = frames.Path{Local: netip.AddrPortFrom(local, sourcePort), Remote: netip.AddrPortFrom(remote, echoPort),
		Interface: o.Interface, MTU: min(out.MTU, in.MTU), From: from, To: to}
	p.reverse = frames.Path{Local: p.Remote, Remote: p.Local, Interface: o.Receive, MTU: p.MTU, From: to, To: from}
	switch {
	case o.MAC != nil:
		p.To = [6]byte(o.MAC)
	case o.Router.IsValid():
		if p.To, err = resolve(ctx, c, o.Interface, o.Router); err != nil {
			return nil, err
		}
	}
	p.linkBps = speed(out, in)
	return p, nil
}

// destinations formats the destination address or prefix.
func (p *path) destinations() string {
	if p.to.IsSingleIP() {
		return p.to.Addr().String()
	}
	return p.to.String()
}

// ethernet returns the named interface and its MAC address.
func ethernet(c *netlink.Conn, name string) (link netlink.Link, mac [6]byte, err error) {
	if link, err = c.LinkByName(name); err != nil {
		return link, mac, err
	}
	a, err := net.ParseMAC(link.MAC)
	if err != nil || len(a) != len(mac) || link.Loopback {
		return link, mac, fmt.Errorf("%s is no Ethernet", name)
	}
	return link, [6]byte(a), nil
}

// speed returns the lowest speed of the links; 0 if one has none, as virtual interfaces do.
func speed(links ...netlink.Link) (bps float64) {
	h, err := ethtool.Open()
	if err != nil {
		return 0
	}
	defer h.Close()
	for i, l := range links {
		if l.Kind != "" { // what ethtool reports for virtual links is no limit
			return 0
		}
		if s := 1e6 * float64(h.SpeedMbps(l.Name)); i == 0 || s < bps {
			bps = s
		}
	}
	return bps
}

// resolve has the kernel resolve the MAC address of a neighbour on an interface.
func resolve(ctx context.Context, c *netlink.Conn, name string, router netip.Addr) (mac [6]byte, err error) {
	to := router.WithZone("")
	if router.IsLinkLocalUnicast() {
		to = router.WithZone(name)
	}
	// Any datagram triggers the resolution: the discard port (RFC 863).
	conn, err := net.Dial("udp", netip.AddrPortFrom(to, 9).String())
	if err != nil {
		return mac, fmt.Errorf("router %s: %w", router, err)
	}
	defer conn.Close()
	for end := time.Now().Add(resolvePatience); time.Now().Before(end); {
		_, _ = conn.Write([]byte{0}) // fails if the neighbour has already answered with a refusal
		if err := pause(ctx, waitEvery); err != nil {
			return mac, err
		}
		n, err := c.NextHop(to)
		if err != nil {
			return mac, err
		}
		if a, err := net.ParseMAC(n.MAC); err == nil && len(a) == len(mac) && n.Interface == name &&
			n.Address == router.WithZone("") {
			return [6]byte(a), nil
		}
	}
	return mac,
		fmt.Errorf(
			"router %s does not answer on %s: expected an address of the device on the link of that interface, or "+
				"--destination-mac", router, name)
}
