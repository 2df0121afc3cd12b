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
	OwnAnswers    = "own-answers"    // each interface answers for its own address
	SourceRouting = "source-routing" // arp_filter is on: each address also leaves by its interface
	NoFilter      = "no-filter"      // arp_filter is on and goes off
)

// Flux is a host that answers ARP requests for all its addresses by one interface, or a machine
// that was not read and does so.
type Flux struct {
	Interface string   `json:"interface,omitempty"`
	Remedy    string   `json:"remedy,omitempty"` // OwnAnswers, SourceRouting, NoFilter
	Machine   *Machine `json:"machine,omitempty"`
}

// Machine is one that was not read.
type Machine struct {
	Addresses []netip.Addr `json:"addresses"`
	MACs      []string     `json:"macs"`
	Asked     bool         `json:"asked,omitempty"` // its answers say so; otherwise the tables of others
	// At is the MAC address to which most is sent; empty: there is none. Port of Switch leads to it,
	// where that is known.
	At     string `json:"at,omitempty"`
	Switch string `json:"switch,omitempty"`
	Port   string `json:"port,omitempty"`
}

// WrongSource is an interface whose ARP requests have the address of another one as sender.
type WrongSource struct {
	Interface  string `json:"interface"`
	Unanswered bool   `json:"unanswered,omitempty"` // by a neighbour, which is of another subnet
}

// Duplicate is an address, or several, for which more than one machine answers.
type Duplicate struct {
	How       string       `json:"how"` // Held, Answered, Several, Detected
	Addresses []netip.Addr `json:"addresses,omitempty"`
	Asked     bool         `json:"asked,omitempty"` // ARP requests were answered so; otherwise tables say so
	Claims    []Claim      `json:"claims,omitempty"`
}

// How more than one machine comes to have an address.
const (
	Held     = "held"     // machines that were read have it
	Answered = "answered" // machines answer for it, of which others need not have it
	Several  = "several"  // it has several MAC addresses, which may be of one machine
	Detected = "detected" // duplicate address detection failed
)

// Claim is a machine that answers for an address.
type Claim struct {
	Host string   `json:"host,omitempty"` // empty: none that was read
	MACs []string `json:"macs"`
}

// MACs are the MAC addresses of all machines, sorted.
func (d Duplicate) MACs() (list []string) {
	for _, c := range d.Claims {
		list = append(list, c.MACs...)
	}
	slices.Sort(list)
	return list
}

// key: of several MAC addresses only how many there are is the same for each that asked.
func (d Duplicate) key() any {
	if d.How == Several {
		return []any{d.How, d.Addresses, d.Asked, len(d.MACs())}
	}
	return []any{d.How, d.Addresses, d.Claims}
}

// Family is a family of addresses: ipv4, ipv6.
type Family struct {
	Family string `json:"family"`
}
