package socket

import (
	"net/netip"
	"slices"
)

// Access restricts the connections that a serving host accepts; the zero value accepts all.
type Access struct {
	// At lists the addresses of this host that clients may use; empty: all.
	At []netip.Addr `json:"at,omitempty"`
	// From lists the networks that clients may come from; empty: all.
	From []netip.Prefix `json:"from,omitempty"`
}

// AllowsFrom reports whether a client may connect from this address.
func (a Access) AllowsFrom(from netip.Addr) bool {
	return len(a.From) == 0 ||
		slices.ContainsFunc(a.From, func(p netip.Prefix) bool { return p.Contains(from.WithZone("")) })
}

// Allows reports whether a client with address from may connect to the host's address at.
func (a Access) Allows(at, from netip.Addr) bool {
	return a.AllowsFrom(from) && (len(a.At) == 0 ||
		slices.ContainsFunc(a.At, func(own netip.Addr) bool { return own.WithZone("") == at.WithZone("") }))
}

// ListenAt returns the one address to listen at; invalid means that listeners use all of the host's and Allows
// decides.
func (a Access) ListenAt() netip.Addr {
	if len(a.At) == 1 {
		return a.At[0]
	}
	return netip.Addr{}
}
