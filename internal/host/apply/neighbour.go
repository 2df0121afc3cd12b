package apply

import (
	"fmt"
	"net"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
)

// neighbour is a permanent entry of the neighbour table.
type neighbour struct {
	baseTarget
	host host
	n    setting.Neighbour
	mac  string
}

func newNeighbour(h host, n setting.Neighbour) (*neighbour, error) {
	mac, err := net.ParseMAC(n.LLAddr)
	if err != nil || len(mac) != 6 {
		return nil, fmt.Errorf("neighbour %s: lladdr %q is not a MAC address, such as 02:00:00:01:00:01", n.Address, n.LLAddr)
	}
	if !n.Address.IsValid() {
		return nil, fmt.Errorf("neighbour on %s: it has no address", n.Interface)
	}
	return &neighbour{host: h, n: n, mac: mac.String()}, nil
}

func (t *neighbour) kind() string { return "neighbour" }
func (t *neighbour) what() string { return t.n.Address.String() + " on " + t.n.Interface }
func (t *neighbour) setting() setting.Setting {
	n := t.n
	return setting.Setting{Neighbour: &n}
}

func (t *neighbour) read() (State, error) {
	if _, err := t.host.conn.LinkByName(t.n.Interface); err != nil {
		return State{}, err
	}
	all, err := t.host.conn.Neighbours()
	for _, n := range all {
		if n.Interface == t.n.Interface && n.Address == t.n.Address && !n.Proxy {
			return neighbourState(n), nil
		}
	}
	return State{Text: Absent}, err
}

func neighbourState(n netlink.Neighbour) State {
	switch {
	case n.MAC == "":
		return State{Text: Absent} // being asked for, or not found
	case n.State == "PERMANENT":
		return State{Text: "at " + n.MAC + " for good", Object: n.Object}
	case n.State == "NOARP":
		return State{Text: "at " + n.MAC + " without ARP", Object: n.Object}
	}
	return State{Text: "at " + n.MAC + " as learned", Object: n.Object}
}

func (t *neighbour) plan(State) (State, error) {
	return State{Text: "at " + t.mac + " for good"}, nil
}

func (t *neighbour) change(State) error {
	return t.host.conn.SetNeighbour(t.n.Interface, t.n.Address, t.mac)
}

func (t *neighbour) restore(prior, _ State) error {
	if prior.absent() {
		return t.host.conn.DeleteNeighbour(t.n.Interface, t.n.Address)
	}
	return t.host.conn.RestoreNeighbour(prior.Object)
}
