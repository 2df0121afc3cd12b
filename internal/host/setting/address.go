package setting

import (
	"fmt"
	"time"

	"linerate/internal/model/setting"
)

// address is a further address on a port.
type address struct {
	ordinary
	host host
	a    setting.Address
	// secondary is what it was when last read.
	secondary bool
}

func newAddress(h host, a setting.Address) (*address, error) {
	if !a.Address.IsValid() {
		return nil, fmt.Errorf("address on %s: expected an address with its prefix length, such as 192.168.1.20/24", a.Port)
	}
	return &address{host: h, a: a}, nil
}

func (t *address) kind() string { return "address" }
func (t *address) what() string { return t.a.Address.String() + " on " + t.a.Port }
func (t *address) setting() setting.Setting {
	a := t.a
	return setting.Setting{Address: &a}
}

// present is the text of an address that is there.
const present = "present"

func (t *address) read() (State, error) {
	if _, err := t.host.conn.LinkByName(t.a.Port); err != nil {
		return State{}, err
	}
	all, err := t.host.conn.Addresses()
	state := State{Text: Absent}
	for _, a := range all {
		switch {
		case a.Port != t.a.Port || a.Prefix.Addr() != t.a.Address.Addr():
		case a.Prefix == t.a.Address:
			t.secondary = a.Secondary
			return State{Text: present, Object: a.Object}, nil
		default:
			state.Text = "present as " + a.Prefix.String()
		}
	}
	return state, err
}

func (t *address) leaveIfPresent(prior State) bool { return !prior.absent() }

func (t *address) plan(prior State) (State, error) {
	if !prior.absent() && prior.Text != present {
		return State{}, fmt.Errorf("the address is there already, with another prefix length (%s)", prior.Text)
	}
	return State{Text: present}, nil
}

func (t *address) change(State) error { return t.host.conn.AddAddress(t.a.Port, t.a.Address) }

func (t *address) restore(prior, _ State) error {
	if prior.absent() {
		return t.host.conn.DeleteAddress(t.a.Port, t.a.Address)
	}
	return t.host.conn.RestoreAddress(prior.Object)
}

// endangers: in IPv4, deleting a primary address takes those along that are
// secondary to it, and deleting a port's last one takes the port's routes. Adding
// takes nothing.
func (t *address) endangers(_, to State, reverting bool) danger {
	if !reverting || !to.absent() || t.secondary || t.a.Address.Addr().Is6() {
		return danger{}
	}
	return danger{port: t.a.Port, family: 4, addresses: true, routes: true, except: t.a, Passing: true}
}

// settle waits until duplicate address detection has finished with the addresses
// that were added, so that flows can be opened from them.
func (h host) settle(entries []*entry) error {
	added := map[string]bool{}
	for _, e := range entries {
		if a := e.Setting.Address; a != nil && a.Address.Addr().Is6() {
			added[e.What] = true
		}
	}
	if len(added) == 0 {
		return nil
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		all, err := h.conn.Addresses()
		if err != nil {
			return err
		}
		waiting := ""
		for _, a := range all {
			what := addressText(a)
			if added[what] && a.Duplicate {
				return fmt.Errorf("address %s: another host on the link has it already (duplicate address detection, RFC 4862)", what)
			}
			if added[what] && a.Tentative {
				waiting = what
			}
		}
		// Without a carrier detection cannot begin: that is not for us to judge.
		if waiting == "" || time.Now().After(deadline) {
			return nil
		}
	}
}
