package apply

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
)

// address is an address to add to an interface, or a run of consecutive ones, which are
// read, journaled, added and removed together: one by one, each would need a dump of all
// addresses.
type address struct {
	baseTarget
	a setting.Address
	// primaries are the indices of those of the run that were not secondary addresses
	// when last read.
	primaries []int
}

// mostAddresses is the longest run: a kernel needs minutes for so many addresses.
const mostAddresses = 1 << 18

func newAddress(base baseTarget, a setting.Address) (*address, error) {
	if !a.Address.IsValid() {
		return nil, fmt.Errorf("address on %s: expected an address with its prefix length, such as 192.168.1.20/24",
			a.Interface)
	}
	if a.Count < 0 || a.Count > mostAddresses || !a.Last().IsValid() {
		return nil, fmt.Errorf("%d addresses from %s on: expected 1 to %d, and no more than there are", a.Count,
			a.Address, mostAddresses)
	}
	return &address{baseTarget: base, a: a}, nil
}

func (t *address) what() string { return t.a.String() + " on " + t.a.Interface }

// present is the text of addresses that all exist.
const present = "present"

func (t *address) read() (State, error) {
	if _, err := t.host.conn.LinkByName(t.a.Interface); err != nil {
		return State{}, err
	}
	places := make(map[netip.Addr]int, t.a.Number())
	for i, p := range t.a.All() {
		places[p.Addr()] = i
	}
	all, err := t.host.conn.Addresses()
	state := State{Text: Absent}
	t.primaries = nil
	for _, a := range all {
		place, ours := places[a.Prefix.Addr()]
		switch {
		case a.Interface != t.a.Interface || !ours:
		case a.Prefix.Bits() == t.a.Address.Bits():
			if !a.Secondary {
				t.primaries = append(t.primaries, place)
			}
			state.There, state.Object = append(state.There, place), a.Object
		case t.a.Number() == 1:
			state.Text, state.Otherwise = "present as "+a.Prefix.String(), true
		default:
			state.Text, state.Otherwise = a.Prefix.Addr().String()+" present as "+a.Prefix.String(), true
		}
	}
	slices.Sort(state.There)
	slices.Sort(t.primaries)
	switch n := len(state.There); {
	case state.Otherwise:
	case n == t.a.Number():
		state.Text, state.There = present, nil
	case n > 0:
		state.Text = fmt.Sprintf("%d of %d present", n, t.a.Number())
	}
	if t.a.Number() > 1 {
		state.Object = nil // only a single address has one
	}
	return state, err
}

func (t *address) leaveIfPresent(prior State) bool {
	return t.a.Number() == 1 && !prior.absent() || prior.Text == present
}

func (t *address) plan(prior State) (State, error) {
	if prior.Otherwise {
		return State{}, fmt.Errorf("the address exists already, with another prefix length (%s)", prior.Text)
	}
	return State{Text: present}, nil
}

func (t *address) same(a, b State) bool { return a.Text == b.Text && slices.Equal(a.There, b.There) }

// between: each address is either as before the change or as after it: some may have
// been removed by another program, or not been added before a kill.
func (t *address) between(_, _, is State) bool {
	return t.a.Number() > 1 && !is.Otherwise
}

// those returns the addresses of the run without those of some indices.
func (t *address) those(without []int) []netip.Prefix {
	list := make([]netip.Prefix, 0, t.a.Number())
	for i, p := range t.a.All() {
		if _, there := slices.BinarySearch(without, i); !there {
			list = append(list, p)
		}
	}
	return list
}

func (t *address) change(State) error {
	is, err := t.read()
	if err != nil {
		return err
	}
	return t.host.conn.AddAddresses(t.a.Interface, t.those(is.There))
}

func (t *address) restore(prior, _ State) error {
	if prior.Text == present {
		return t.host.conn.RestoreAddress(prior.Object)
	}
	// Secondary addresses first, oldest first, since the kernel searches from there; a
	// primary address is deleted when none is secondary to it any more.
	var primaries, ours []netip.Prefix
	for i, p := range t.a.All() {
		if _, there := slices.BinarySearch(prior.There, i); there {
			continue
		}
		if _, primary := slices.BinarySearch(t.primaries, i); primary {
			primaries = append(primaries, p)
			continue
		}
		ours = append(ours, p)
	}
	slices.Reverse(primaries)
	return t.host.conn.DeleteAddresses(t.a.Interface, append(ours, primaries...))
}

// sideEffects: in IPv4 the kernel deletes the secondary addresses of a primary one with
// it, and with an interface's last address the interface's routes. Adding an address
// deletes nothing.
func (t *address) sideEffects(_, to State, reverting bool) sideEffects {
	if !reverting || to.Text == present || len(t.primaries) == 0 || t.a.Address.Addr().Is6() {
		return sideEffects{}
	}
	return sideEffects{iface: t.a.Interface, family: 4, addresses: true, routes: true, except: t.a, Transient: true}
}

// settleAdded waits until the IPv6 addresses that were added can be used.
func (h host) settleAdded(entries []*entry) error {
	added := map[string]bool{}
	for _, e := range entries {
		if a := e.Setting.Address; a != nil && a.Address.Addr().Is6() {
			for _, p := range a.All() {
				added[addressText(netlink.Address{Interface: a.Interface, Prefix: p})] = true
			}
		}
	}
	if len(added) == 0 {
		return nil
	}
	return h.settle(func(a netlink.Address) bool { return added[addressText(a)] })
}

// settle waits until duplicate address detection (RFC 4862) has finished with these
// addresses: until then no socket can use them. It returns an error for a duplicate, and
// nil if detection takes long: without a carrier it cannot begin.
func (h host) settle(these func(netlink.Address) bool) error {
	for deadline := time.Now().Add(settleTimeout); ; time.Sleep(20 * time.Millisecond) {
		all, err := h.conn.Addresses()
		if err != nil {
			return err
		}
		waiting := false
		for _, a := range all {
			if !these(a) {
				continue
			}
			if a.Duplicate {
				return fmt.Errorf(
					"address %s: another host on the link has it already (duplicate address detection, RFC 4862)",
					addressText(a))
			}
			waiting = waiting || a.Tentative
		}
		if !waiting || time.Now().After(deadline) {
			return nil
		}
	}
}
