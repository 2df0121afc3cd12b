package netstate

import (
	"fmt"
	"strings"
)

// named reports whether a name can be pasted into a shell command without quoting. The kernel
// allows nearly any character in the name of an interface.
func named(name string) bool {
	return len(name) <= 256 && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' ||
			strings.ContainsRune("-_.:@/%+,=", r))
	})
}

// checkNames returns an error for names in a snapshot that appear in fixes and that a shell would
// not take literally.
func (s *HostSnapshot) checkNames() error {
	check := func(what string, names ...string) error {
		for _, name := range names {
			if !named(name) {
				return fmt.Errorf("%s %.60q: expected letters, digits and -_.:@/%%+,=", what, name)
			}
		}
		return nil
	}
	for _, i := range s.Reading.Snapshot.Interfaces {
		if err := check("interface", append([]string{i.Interface, i.Master, i.MAC}, i.Addresses...)...); err != nil {
			return err
		}
	}
	for _, list := range [][]Neighbour{s.Reading.Snapshot.Neighbours, s.Reading.Snapshot.Answers,
		s.Reading.Before.Neighbours} {
		for _, n := range list {
			if err := check("neighbour", n.Interface, n.Address, n.MAC); err != nil {
				return err
			}
		}
	}
	for _, n := range s.State.NICs {
		if err := check("NIC", n.Interface, n.Driver); err != nil {
			return err
		}
	}
	for _, p := range s.State.Probes {
		if err := check("probe", p.Interface, p.Address); err != nil {
			return err
		}
	}
	if n := s.State.Nftables; n != nil {
		for _, r := range n.Rules {
			if err := check("rule of nftables in", r.Family, r.Table, r.Chain); err != nil {
				return err
			}
		}
		for _, o := range n.Objects {
			if err := check("object of nftables", o.Family, o.Table, o.Name); err != nil {
				return err
			}
		}
		for _, set := range n.Sets {
			if err := check("set of nftables", set.Family, set.Table, set.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
