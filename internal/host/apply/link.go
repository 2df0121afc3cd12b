package apply

import (
	"fmt"
	"net"
	"strconv"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// link is one attribute of an interface.
type link struct {
	baseTarget
	host      host
	iface     string
	attribute string // mtu, txqueuelen, mac, up, gso_max_size, gso_ipv4_max_size, and gro
	wanted    string
}

// newLink returns one target for each attribute that is given. An interface is set down
// before the other attributes and up after them, so that it is never up with some of
// them, neither when they are applied nor when they are reverted.
func newLink(h host, l setting.Link) ([]target, error) {
	var list []target
	add := func(attribute, wanted string) {
		list = append(list, &link{host: h, iface: l.Interface, attribute: attribute, wanted: wanted})
	}
	if l.Up != nil && !*l.Up {
		add("up", "false")
	}
	if l.MAC != "" {
		mac, err := net.ParseMAC(l.MAC)
		if err != nil || len(mac) != 6 {
			return nil, fmt.Errorf("link %s: mac %q is not a MAC address, such as 02:00:00:01:00:01", l.Interface, l.MAC)
		}
		add("mac", mac.String())
	}
	if l.MTU != 0 {
		add("mtu", strconv.Itoa(l.MTU))
	}
	if l.TxQueueLen != 0 {
		add("txqueuelen", strconv.Itoa(l.TxQueueLen))
	}
	for _, size := range []struct {
		name  string
		bytes unit.Bytes
	}{{"gso", l.GSOMaxSize}, {"gro", l.GROMaxSize}} {
		if size.bytes != 0 {
			add(size.name+"_max_size", strconv.FormatInt(int64(size.bytes), 10))
			add(size.name+"_ipv4_max_size", strconv.FormatInt(int64(size.bytes), 10))
		}
	}
	if l.Up != nil && *l.Up {
		add("up", "true")
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("link %s: nothing to change: expected mtu, txqueuelen, mac, up, gso_max_size or gro_max_size", l.Interface)
	}
	return list, nil
}

func (t *link) kind() string { return "link" }
func (t *link) what() string { return t.iface + " " + t.attribute }

func (t *link) setting() setting.Setting {
	l := setting.Link{Interface: t.iface}
	switch t.attribute {
	case "mtu":
		l.MTU, _ = strconv.Atoi(t.wanted)
	case "txqueuelen":
		l.TxQueueLen, _ = strconv.Atoi(t.wanted)
	case "mac":
		l.MAC = t.wanted
	case "up":
		up := t.wanted == "true"
		l.Up = &up
	case "gso_max_size", "gso_ipv4_max_size":
		l.GSOMaxSize, _ = unit.ParseBytes(t.wanted)
	case "gro_max_size", "gro_ipv4_max_size":
		l.GROMaxSize, _ = unit.ParseBytes(t.wanted)
	}
	return setting.Setting{Link: &l}
}

func (t *link) read() (State, error) {
	l, err := t.host.conn.LinkByName(t.iface)
	if err != nil {
		return State{}, err
	}
	switch t.attribute {
	case "mtu":
		return State{Text: strconv.Itoa(l.MTU)}, nil
	case "txqueuelen":
		return State{Text: strconv.Itoa(l.TxQueueLen)}, nil
	case "mac":
		return State{Text: l.MAC}, nil
	}
	if size := packets(&l.Packets, t.attribute); size != nil {
		if *size == 0 {
			return State{}, fmt.Errorf("link %s: this kernel knows no %s (that for IPv4 came with Linux 6.3)", t.iface, t.attribute)
		}
		return State{Text: strconv.Itoa(*size)}, nil
	}
	return State{Text: strconv.FormatBool(l.Up)}, nil
}

func (t *link) plan(State) (State, error) { return State{Text: t.wanted}, nil }
func (t *link) change(next State) error   { return t.set(next.Text) }

func (t *link) restore(prior, _ State) error { return t.set(prior.Text) }

func (t *link) set(value string) error {
	var change netlink.LinkChange
	switch t.attribute {
	case "mac":
		change.MAC = &value
	case "up":
		up := value == "true"
		change.Up = &up
	default:
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return fmt.Errorf("%s %q is not a number", t.attribute, value)
		}
		size := packets(&change.Packets, t.attribute)
		switch {
		case t.attribute == "mtu":
			change.MTU = &n
		case size == nil:
			change.TxQueueLen = &n
		default:
			// The kernel would have IPv4's follow when it sets one of 64 KiB or less.
			l, err := t.host.conn.LinkByName(t.iface)
			if err != nil {
				return err
			}
			change.Packets = l.Packets
			*size = n
		}
	}
	return t.host.conn.ChangeLink(t.iface, change)
}

// packets is the field for an attribute that is a packet size; nil: it is another.
func packets(of *netlink.PacketSizes, attribute string) *int {
	switch attribute {
	case "gso_max_size":
		return &of.GSO
	case "gro_max_size":
		return &of.GRO
	case "gso_ipv4_max_size":
		return &of.GSOIPv4
	case "gro_ipv4_max_size":
		return &of.GROIPv4
	}
	return nil
}

// minimumMTU is what IPv6 needs (RFC 8200, section 5). Below it the kernel takes
// IPv6 off the interface, with its addresses, routes and parameters; below 68 (RFC
// 791) IPv4 too.
const minimumMTU = 1280

func (t *link) sideEffects(_, to State, reverting bool) sideEffects {
	switch t.attribute {
	case "mac":
		// A new MAC address flushes the neighbour table, made entries included.
		return sideEffects{iface: t.iface, neighbours: true, Transient: true}
	case "up":
		// Down: routes and neighbours go, and IPv6 addresses, also those of interfaces
		// on top of this one. They come back with the undo, so only setting it
		// down is recorded.
		if to.Text == "false" && !reverting {
			return sideEffects{addresses: true, routes: true, neighbours: true, interfaces: true}
		}
	case "mtu":
		if reverting {
			return sideEffects{}
		}
		mtus, _ := t.host.sysctls.Match("net.ipv6.conf.*.mtu") // IPv6's own, which follows
		d := sideEffects{interfaces: true, sysctls: mtus}
		if mtu, err := strconv.Atoi(to.Text); err == nil && mtu < minimumMTU {
			d.addresses, d.routes, d.neighbours = true, true, true
			place := proc.InterfaceKey(t.iface)
			for _, dir := range []string{"net.ipv6.conf.", "net.ipv6.neigh.", "net.ipv4.conf.", "net.ipv4.neigh."} {
				keys, _ := t.host.sysctls.List(dir + place) // none: nothing to lose
				d.sysctls = append(d.sysctls, keys...)
			}
		}
		return d
	}
	return sideEffects{}
}
