package setting

import (
	"fmt"
	"net"
	"strconv"

	"linerate/internal/kernel"
	"linerate/internal/model/setting"
)

// link is one attribute of a port.
type link struct {
	ordinary
	host      host
	port      string
	attribute string // mtu, txqueuelen, mac, up
	wanted    string
}

// newLink makes one change of each attribute that is given. A port is taken down
// before its other attributes are set, and brought up after: so, both ways, it is
// never up with half of them.
func newLink(h host, l setting.Link) ([]target, error) {
	var list []target
	add := func(attribute, wanted string) {
		list = append(list, &link{host: h, port: l.Port, attribute: attribute, wanted: wanted})
	}
	if l.Up != nil && !*l.Up {
		add("up", "false")
	}
	if l.MAC != "" {
		mac, err := net.ParseMAC(l.MAC)
		if err != nil || len(mac) != 6 {
			return nil, fmt.Errorf("link %s: mac %q is not a MAC address, such as 02:00:00:01:00:01", l.Port, l.MAC)
		}
		add("mac", mac.String())
	}
	if l.MTU != 0 {
		add("mtu", strconv.Itoa(l.MTU))
	}
	if l.TxQueueLen != 0 {
		add("txqueuelen", strconv.Itoa(l.TxQueueLen))
	}
	if l.Up != nil && *l.Up {
		add("up", "true")
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("link %s: nothing to change: expected mtu, txqueuelen, mac or up", l.Port)
	}
	return list, nil
}

func (t *link) kind() string { return "link" }
func (t *link) what() string { return t.port + " " + t.attribute }

func (t *link) setting() setting.Setting {
	l := setting.Link{Port: t.port}
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
	}
	return setting.Setting{Link: &l}
}

func (t *link) read() (State, error) {
	l, err := t.host.conn.LinkByName(t.port)
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
	return State{Text: strconv.FormatBool(l.Up)}, nil
}

func (t *link) plan(State) (State, error) { return State{Text: t.wanted}, nil }
func (t *link) change(next State) error   { return t.set(next.Text) }

func (t *link) restore(prior, _ State) error { return t.set(prior.Text) }

func (t *link) set(value string) error {
	var change kernel.LinkChange
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
		if t.attribute == "mtu" {
			change.MTU = &n
		} else {
			change.TxQueueLen = &n
		}
	}
	return t.host.conn.ChangeLink(t.port, change)
}

// minimumMTU is what IPv6 needs (RFC 8200, section 5). Below it the kernel takes
// IPv6 off the port, with its addresses, routes and parameters; below 68 (RFC
// 791) IPv4 too.
const minimumMTU = 1280

func (t *link) endangers(_, to State, reverting bool) danger {
	switch t.attribute {
	case "mac":
		// A new MAC address flushes the neighbour table, made entries included.
		return danger{port: t.port, neighbours: true, Passing: true}
	case "up":
		// Down: routes and neighbours go, and IPv6 addresses, also those of ports
		// on top of this one. They come back with the undo, so only the way down
		// is watched.
		if to.Text == "false" && !reverting {
			return danger{addresses: true, routes: true, neighbours: true, ports: true}
		}
	case "mtu":
		if reverting {
			return danger{}
		}
		mtus, _ := t.host.sysctls.Alike("net.ipv6.conf.*.mtu") // IPv6's own, which follows
		d := danger{ports: true, sysctls: mtus}
		if mtu, err := strconv.Atoi(to.Text); err == nil && mtu < minimumMTU {
			d.addresses, d.routes, d.neighbours = true, true, true
			place := kernel.PortKey(t.port)
			for _, dir := range []string{"net.ipv6.conf.", "net.ipv6.neigh.", "net.ipv4.conf.", "net.ipv4.neigh."} {
				keys, _ := t.host.sysctls.Under(dir + place) // none: nothing to lose
				d.sysctls = append(d.sysctls, keys...)
			}
		}
		return d
	}
	return danger{}
}
