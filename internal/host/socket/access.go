package socket

import (
	"net/netip"
	"slices"
)

// Access is which connections a serving host takes; zero: all.
type Access struct {
	// At are the addresses of this host that clients reach it at; empty: all.
	At []netip.Addr `json:"at,omitempty"`
	// From are the addresses that clients may have; empty: all.
	From []netip.Prefix `json:"from,omitempty"`
}

// AllowsFrom says whether a client may have an address.
func (a Access) AllowsFrom(from netip.Addr) bool {
	return len(a.From) == 0 ||
		slices.ContainsFunc(a.From, func(p netip.Prefix) bool { return p.Contains(from.WithZone("")) })
}

// Allows says whether a client may connect to an address of this host, from another.
func (a Access) Allows(at, from netip.Addr) bool {
	return a.AllowsFrom(from) && (len(a.At) == 0 ||
		slices.ContainsFunc(a.At, func(own netip.Addr) bool { return own.WithZone("") == at.WithZone("") }))
}

// ListenAt is the one address to listen at; invalid: all of the host's, and Allows decides.
func (a Access) ListenAt() netip.Addr {
	if len(a.At) == 1 {
		return a.At[0]
	}
	return netip.Addr{}
}
