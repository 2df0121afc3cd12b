package apply

import (
	"cmp"
	"fmt"
	"net"

	"linerate/internal/model/setting"
)

// neighbour is a permanent entry of the neighbour table.
type neighbour struct {
	baseTarget
	n   setting.Neighbour
	mac string
}

func newNeighbour(base baseTarget, n setting.Neighbour) (*neighbour, error) {
	mac, err := net.ParseMAC(n.LLAddr)
	if err != nil || len(mac) != 6 {
		return nil, fmt.Errorf("neighbour %s: lladdr %q is not a MAC address, such as 02:00:00:01:00:01",
			n.Address, n.LLAddr)
	}
	if !n.Address.IsValid() {
		return nil, fmt.Errorf("neighbour on %s: it has no address", n.Interface)
	}
	return &neighbour{base, n, mac.String()}, nil
}

func (t *neighbour) what() string { return t.n.Address.String() + " on " + t.n.Interface }

func (t *neighbour) read() (State, error) {
	if _, err := t.host.conn.LinkByName(t.n.Interface); err != nil {
		return State{}, err
	}
	all, err := t.host.conn.Neighbours()
	for _, n := range all {
		// Without a MAC address it is being resolved, or was not found.
		if n.Interface == t.n.Interface && n.Address == t.n.Address && !n.Proxy && n.MAC != "" {
			how := map[string]string{"PERMANENT": permanent, "NOARP": " without ARP"}[n.State]
			return State{Text: "at " + n.MAC + cmp.Or(how, " as learned"), Object: n.Object}, nil
		}
	}
	return State{Text: Absent}, err
}

// permanent is the end of the text of a permanent entry.
const permanent = " permanently"

func (t *neighbour) plan(State) (State, error) {
	return State{Text: "at " + t.mac + permanent}, nil
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
