package cause

import (
	"net/netip"
	"slices"
)

// Causes of wrong or missing entries in neighbour tables.
var (
	ARPFlux            = by("arp-flux", func(a Flux) any { return a.Remedy })
	ARPWrongSource     = one[WrongSource]("arp-wrong-source")
	DuplicateAddress   = by("duplicate-address", Duplicate.key)
	NeighbourFailed    = one[None]("neighbour-failed")
	NeighbourTableFull = each[Family]("neighbour-table-full")
	WrongNeighbour     = each[None]("wrong-neighbour")
	StaticNeighbour    = one[None]("static-neighbour")
)

// Remedies of ARP flux.
const (
	OwnAnswers    = "own-answers"    // arp_ignore=1: each interface answers for its own addresses only
	SourceRouting = "source-routing" // arp_filter is on: also route by source address
	NoFilter      = "no-filter"      // arp_filter is on: switch it off
)

// Flux describes a host that answers ARP requests for all its addresses from any interface.
// Interface is one whose settings allow this. If linerate did not read the host, only Machine is
// set.
type Flux struct {
	Interface string   `json:"interface,omitempty"`
	Remedy    string   `json:"remedy,omitempty"` // OwnAnswers, SourceRouting, NoFilter
	Machine   *Machine `json:"machine,omitempty"`
}

// Machine describes a machine that linerate did not read: it is known only from ARP answers, from the
// neighbour tables of other hosts and from the forwarding tables of switches.
type Machine struct {
	Addresses []netip.Addr `json:"addresses"`
	MACs      []string     `json:"macs"`
	Asked     bool         `json:"asked,omitempty"` // true: seen in its ARP answers; false: in neighbour tables
	// At is the MAC address that more than half of all neighbour entries for the machine have; empty if
	// none does. Switch and Port are the switch port behind which At is; empty if not known.
	At     string `json:"at,omitempty"`
	Switch string `json:"switch,omitempty"`
	Port   string `json:"port,omitempty"`
}

// WrongSource describes an interface whose ARP requests carry another interface's address as sender.
type WrongSource struct {
	Interface  string `json:"interface"`
	Unanswered bool   `json:"unanswered,omitempty"` // true: a neighbour does not answer such a request
}

// Duplicate describes addresses that more than one machine answers for.
type Duplicate struct {
	How       string       `json:"how"` // Held, Answered, Several, Detected
	Addresses []netip.Addr `json:"addresses,omitempty"`
	Asked     bool         `json:"asked,omitempty"` // true: seen in answers to ARP requests; false: in neighbour tables
	Claims    []Claim      `json:"claims,omitempty"`
}

// Values of Duplicate.How: what is known of the machines that answer for an address.
const (
	Held     = "held"     // several hosts that were read hold it
	Answered = "answered" // several machines answer for it; one of them may be a proxy that does not hold it
	Several  = "several"  // several MAC addresses answer for it; they may belong to one machine
	Detected = "detected" // IPv6 duplicate address detection failed (dadfailed)
)

// Claim is one machine that answers for a duplicate address.
type Claim struct {
	Host string   `json:"host,omitempty"` // empty: the machine was not read
	MACs []string `json:"macs"`
}

// MACs returns the MAC addresses of all claims, sorted.
func (d Duplicate) MACs() (list []string) {
	for _, c := range d.Claims {
		list = append(list, c.MACs...)
	}
	slices.Sort(list)
	return list
}

// key returns what must be equal for two findings to be merged. For Several that is only the number of
// MAC addresses: each host that asks may get other ones.
func (d Duplicate) key() any {
	if d.How == Several {
		return []any{d.How, d.Addresses, d.Asked, len(d.MACs())}
	}
	return []any{d.How, d.Addresses, d.Claims}
}

// Family is the address family of a neighbour table.
type Family struct {
	Family string `json:"family"` // ipv4, ipv6
}
