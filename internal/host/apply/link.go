package apply

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/xdp"
	"linerate/internal/model/setting"
)

// link is one attribute of an interface.
type link struct {
	baseTarget
	iface     string
	attribute string // mtu, txqueuelen, mac, up, gso_max_size, gso_ipv4_max_size, and gro; xmit_hash_policy, xdp
	wanted    string
}

// newLink returns one target for each attribute that is given. An interface is set down
// before the other attributes and up after them, so that it is never up with some of
// them, neither when they are applied nor when they are reverted.
func newLink(base baseTarget, l setting.Link) ([]target, error) {
	var list []target
	add := func(attribute, wanted string, part setting.Link) {
		part.Interface = l.Interface
		base.s.Link = &part
		list = append(list, &link{base, l.Interface, attribute, wanted})
	}
	if l.Up != nil && !*l.Up {
		add("up", "false", setting.Link{Up: l.Up})
	}
	if l.MAC != "" {
		mac, err := net.ParseMAC(l.MAC)
		if err != nil || len(mac) != 6 {
			return nil, fmt.Errorf("link %s: mac %q is not a MAC address, such as 02:00:00:01:00:01",
				l.Interface, l.MAC)
		}
		add("mac", mac.String(), setting.Link{MAC: l.MAC})
	}
	if l.MTU != 0 {
		add("mtu", strconv.Itoa(l.MTU), setting.Link{MTU: l.MTU})
	}
	if l.TxQueueLen != nil {
		add("txqueuelen", strconv.Itoa(*l.TxQueueLen), setting.Link{TxQueueLen: l.TxQueueLen})
	}
	if size := l.GSOMaxSize; size != 0 {
		add("gso_max_size", strconv.FormatInt(int64(size), 10), setting.Link{GSOMaxSize: size})
		if !base.host.sizesAlike(l.Interface, int64(size)) {
			add("gso_ipv4_max_size", strconv.FormatInt(int64(size), 10), setting.Link{GSOMaxSize: size})
		}
	}
	if size := l.GROMaxSize; size != 0 {
		add("gro_max_size", strconv.FormatInt(int64(size), 10), setting.Link{GROMaxSize: size})
		if !base.host.sizesAlike(l.Interface, int64(size)) {
			add("gro_ipv4_max_size", strconv.FormatInt(int64(size), 10), setting.Link{GROMaxSize: size})
		}
	}
	if l.XmitHashPolicy != "" {
		add("xmit_hash_policy", l.XmitHashPolicy, setting.Link{XmitHashPolicy: l.XmitHashPolicy})
	}
	if l.XDP != "" {
		if !slices.Contains(setting.XDPPrograms, l.XDP) {
			return nil, fmt.Errorf("link %s: xdp %.40q: expected %s", l.Interface, l.XDP,
				strings.Join(setting.XDPPrograms, " or "))
		}
		add("xdp", l.XDP, setting.Link{XDP: l.XDP})
	}
	if l.Up != nil && *l.Up {
		add("up", "true", setting.Link{Up: l.Up})
	}
	if len(list) == 0 {
		return nil,
			fmt.Errorf(
				"link %s: nothing to change: expected mtu, txqueuelen, mac, up, gso_max_size, gro_max_size, "+
					"xmit_hash_policy or xdp", l.Interface)
	}
	return list, nil
}

// sizesAlike reports whether the size of packets of IPv6 is that of IPv4, too: before Linux 6.3
// an interface has none for IPv4 alone.
func (h host) sizesAlike(name string, size int64) bool {
	if size > setting.LegacyPacketSize {
		return false
	}
	l, err := h.conn.LinkByName(name)
	return err == nil && l.Packets.GSOIPv4 == 0
}

func (t *link) what() string { return t.iface + " " + t.attribute }

// number returns the field of an attribute that is a number; nil: it is not one.
func (t *link) number(l *netlink.Link) *int {
	switch t.attribute {
	case "mtu":
		return &l.MTU
	case "txqueuelen":
		return &l.TxQueueLen
	case "gso_max_size":
		return &l.Packets.GSO
	case "gro_max_size":
		return &l.Packets.GRO
	case "gso_ipv4_max_size":
		return &l.Packets.GSOIPv4
	case "gro_ipv4_max_size":
		return &l.Packets.GROIPv4
	}
	return nil
}

func (t *link) read() (State, error) {
	if t.attribute == "xdp" {
		name, err := xdp.Attached(t.host.conn, t.iface)
		return State{Text: name}, err
	}
	l, err := t.host.conn.LinkByName(t.iface)
	if err != nil {
		return State{}, err
	}
	switch n := t.number(&l); {
	case t.attribute == "mac":
		return State{Text: l.MAC}, nil
	case t.attribute == "xmit_hash_policy" && l.XmitHashPolicy == "":
		return State{}, fmt.Errorf("link %s is no bond: it has no xmit_hash_policy", t.iface)
	case t.attribute == "xmit_hash_policy":
		return State{Text: l.XmitHashPolicy}, nil
	case n == nil:
		return State{Text: strconv.FormatBool(l.Up)}, nil
	case *n == 0 && strings.HasSuffix(t.attribute, "_max_size"):
		return State{}, fmt.Errorf("link %s: this kernel has no %s (that for IPv4: Linux 6.3)", t.iface, t.attribute)
	default:
		return State{Text: strconv.Itoa(*n)}, nil
	}
}

func (t *link) plan(prior State) (State, error) {
	if t.attribute == "xdp" && prior.Text != xdp.None {
		return State{}, fmt.Errorf("link %s has an XDP program already, %s, which could not be restored", t.iface,
			prior.Text)
	}
	return State{Text: t.wanted}, nil
}

func (t *link) change(next State) error      { return t.set(next.Text) }
func (t *link) restore(prior, _ State) error { return t.set(prior.Text) }

func (t *link) set(value string) error {
	switch {
	case t.attribute == "xdp" && value == xdp.None:
		return xdp.Detach(t.host.conn, t.iface)
	case t.attribute == "xdp":
		return xdp.Attach(t.host.conn, t.iface, value)
	}
	l, err := t.host.conn.LinkByName(t.iface)
	if err != nil {
		return err
	}
	n := t.number(&l)
	if n != nil {
		if *n, err = strconv.Atoi(value); err != nil || *n < 0 {
			return fmt.Errorf("%s %q is not a number", t.attribute, value)
		}
	}
	var change netlink.LinkChange
	switch t.attribute {
	case "mac":
		change.MAC = &value
	case "xmit_hash_policy":
		change.XmitHashPolicy = &value
	case "up":
		up := value == "true"
		change.Up = &up
	case "mtu":
		change.MTU = n
	case "txqueuelen":
		change.TxQueueLen = n
	default:
		// All sizes: setting one of 64 KiB or less alone would set IPv4's as well.
		change.Packets = l.Packets
	}
	return t.host.conn.ChangeLink(t.iface, change)
}

// minimumMTU is IPv6's (RFC 8200, section 5). Below it the kernel removes IPv6 from the
// interface, with its addresses, routes and parameters; below 68 (RFC 791) IPv4 too.
const minimumMTU = 1280

func (t *link) sideEffects(_, to State, reverting bool) sideEffects {
	switch t.attribute {
	case "mac":
		// A new MAC address flushes the neighbour table, permanent entries included.
		return sideEffects{iface: t.iface, neighbours: true, Transient: true}
	case "up":
		// Down deletes routes, neighbours and IPv6 addresses, also of upper interfaces.
		// The undo restores them, so only setting it down records them.
		if to.Text == "false" && !reverting {
			return sideEffects{addresses: true, routes: true, neighbours: true, interfaces: true}
		}
	case "mtu":
		if reverting {
			return sideEffects{}
		}
		mtus, _ := t.host.sysctls.Match("net.ipv6.conf.*.mtu") // which follow
		d := sideEffects{interfaces: true, sysctls: mtus}
		if mtu, err := strconv.Atoi(to.Text); err == nil && mtu < minimumMTU {
			d.addresses, d.routes, d.neighbours = true, true, true
			place := proc.InterfaceKey(t.iface)
			for _, dir := range []string{"net.ipv6.conf.", "net.ipv6.neigh.", "net.ipv4.conf.", "net.ipv4.neigh."} {
				keys, _ := t.host.sysctls.List(dir + place) // none: nothing to record
				d.sysctls = append(d.sysctls, keys...)
			}
		}
		return d
	}
	return sideEffects{}
}
