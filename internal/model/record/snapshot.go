package record

import (
	"math"
	"slices"
)

// Snapshot is the network state of a host at one instant.
type Snapshot struct {
	Host       string              `json:"host"`
	Interfaces []InterfaceSnapshot `json:"interfaces"`
	Tables
	// Answers are the MAC addresses that answered ARP requests for neighbours' and for
	// the host's own addresses, every one; States are empty.
	Answers []Neighbour  `json:"arp_answers,omitempty"`
	Rules   []RuleEntry  `json:"rules,omitempty"`
	Routes  []RouteEntry `json:"routes,omitempty"`
	// RoutesOmitted is how many more routes there are, static ones or of routing daemons, with
	// more than 4,096 of these.
	RoutesOmitted int `json:"routes_omitted,omitempty"`
	// Lookups are the kernel's own answers to route questions that matter to
	// the trial's flows.
	Lookups []RouteLookup `json:"lookups,omitempty"`
	// Sysctls that diagnosis asks for: net.ipv4.conf.{all,IFACE}.arp_ignore,
	// arp_announce, arp_filter, rp_filter, and what levels set.
	Sysctls map[string]string `json:"sysctls,omitempty"`
	// TimerTickNs is the resolution of the kernel's timers where it is that of its ticks;
	// absent: they have a high resolution, or it is not known.
	TimerTickNs int64 `json:"timer_tick_ns,omitempty"`
}

// Hardware reports whether an interface is a NIC and not a software device such as a
// bond, which counts its members' packets once more. It is true for interfaces that
// the snapshot does not have.
func (s Snapshot) Hardware(name string) bool {
	return !slices.ContainsFunc(s.Interfaces, func(i InterfaceSnapshot) bool {
		return i.Interface == name && i.Kind != ""
	})
}

// Tables is the part of a snapshot that the network itself changes.
type Tables struct {
	// BeganNs and EndedNs bound when the tables, or the whole snapshot that they
	// are part of, were read; in a trial on the conductor's monotonic clock.
	BeganNs    int64       `json:"began_ns,omitempty"`
	EndedNs    int64       `json:"ended_ns,omitempty"`
	Neighbours []Neighbour `json:"neighbours,omitempty"`
	// FDB is a switch's forwarding table.
	FDB []FDBEntry `json:"fdb,omitempty"`
	// Missing are the parts that could not be read, each with the reason: of
	// the tables, or of the whole snapshot that they are part of.
	Missing []string `json:"missing,omitempty"`
}

// InterfaceSnapshot is one interface.
type InterfaceSnapshot struct {
	Interface string   `json:"interface"`
	Index     int      `json:"index"`
	MAC       string   `json:"mac"`
	MTU       int      `json:"mtu"`
	Up        bool     `json:"up"`
	Addresses []string `json:"addresses,omitempty"` // with prefix length
	// Duplicates are those of the addresses that are not used, because duplicate address
	// detection found another machine with them (RFC 4862, section 5.4): of IPv6.
	Duplicates []string `json:"duplicate_addresses,omitempty"`
	// Master is the bridge or bond the interface belongs to.
	Master string `json:"master,omitempty"`
	// Kind is the kernel's link kind (veth, bridge, …); empty for hardware.
	Kind string `json:"kind,omitempty"`
	// Driver is the hardware's driver (ethtool -i); empty: not known, or no hardware.
	Driver string `json:"driver,omitempty"`
	// SpeedBps is what the hardware's link has negotiated; 0: not known, or no
	// hardware.
	SpeedBps float64 `json:"speed_bps,omitempty"`
	// Shaper is the qdisc that bounds what leaves the interface; nil: none does, as far as
	// is known.
	Shaper *Shaper `json:"shaper,omitempty"`
	// Qdiscs are those of the interface, without the kernel's default ones of its queues.
	Qdiscs []Qdisc `json:"qdiscs,omitempty"`
}

// Qdisc is a queueing discipline as it is set up.
type Qdisc struct {
	Parent string `json:"parent"` // root, ingress, or the class of another qdisc: 7:1
	Kind   string `json:"kind"`
	// Options are those that the kernel reports and linerate knows, by their names in tc(8) or
	// linux/pkt_sched.h.
	Options map[string]string `json:"options,omitempty"`
}

// Shaper is a qdisc with a rate, tc-tbf(8) for one.
type Shaper struct {
	Kind    string  `json:"kind"`
	RateBps float64 `json:"rate_bps"`
	// OverheadBytes is what it counts of each packet beside Ethernet's header and what that
	// carries; below 0: it leaves so much out.
	OverheadBytes int `json:"overhead_bytes,omitempty"`
	// BurstBytes is its token bucket; 0: not known.
	BurstBytes int64 `json:"burst_bytes,omitempty"`
	// SizeTable: it has one (tc-stab(8)), by which the kernel counts a packet of many segments
	// once, but each segment that tbf makes of it by its own length: what that comes to for a
	// payload is not known.
	SizeTable bool `json:"size_table,omitempty"`
}

// Shapers are the kinds of qdiscs whose rates are read.
var Shapers = []string{"tbf", "htb", "cake", "netem"}

// Bounds reports whether there is a shaper that bounds a payload by what is known of it.
func (s *Shaper) Bounds() bool { return s.valid() && !s.SizeTable }

// Sized reports whether there is a shaper with a size table.
func (s *Shaper) Sized() bool { return s.valid() && s.SizeTable }

// valid: the values are such that a qdisc can have (tc-stab(8), tc-tbf(8)): they may be a peer's.
func (s *Shaper) valid() bool {
	const most = 256 // bytes
	return s != nil && slices.Contains(Shapers, s.Kind) && s.RateBps > 0 && s.OverheadBytes >= -most/4 &&
		s.OverheadBytes <= most && s.BurstBytes >= 0 && s.BurstBytes <= math.MaxUint32
}

// Neighbour is one entry of the ARP or neighbour-discovery table.
type Neighbour struct {
	Interface string `json:"interface"`
	Address   string `json:"address"`
	MAC       string `json:"mac,omitempty"` // empty: unresolved
	State     string `json:"state"`         // REACHABLE, STALE, DELAY, PROBE, FAILED, INCOMPLETE, PERMANENT, NOARP
}

// FDBEntry is one entry of a switch's forwarding table.
type FDBEntry struct {
	MAC       string `json:"mac"`
	Interface string `json:"interface"`
	// Peer is the end the switch's port is cabled to, "host.interface", when the
	// topology knows.
	Peer  string `json:"peer,omitempty"`
	Local bool   `json:"local,omitempty"` // the switch's own address
}

// RuleEntry is one routing policy rule.
type RuleEntry struct {
	Priority int    `json:"priority"`
	From     string `json:"from,omitempty"`
	To       string `json:"to,omitempty"`
	Table    int    `json:"table"`
	// Other rules select by more than source and destination (a mark, an interface,
	// …) or do something else than look in Table.
	Other bool `json:"other,omitempty"`
}

// RouteLookup is the kernel's answer to "by which interface does a packet from
// Source to Destination leave?".
type RouteLookup struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
	// Protocol (tcp or udp) and the ports are what a route with several
	// next hops may go by; empty: not said. The packets of rr and crr are TCP's, those of
	// udp-rr UDP's.
	Protocol        string `json:"protocol,omitempty"`
	SourcePort      uint16 `json:"source_port,omitempty"`
	DestinationPort uint16 `json:"destination_port,omitempty"`
	// In is the interface by which the packet comes to be forwarded; empty: the host
	// sends it itself.
	In string `json:"in,omitempty"`

	Interface string `json:"interface,omitempty"`
	Gateway   string `json:"gateway,omitempty"`
	// ChosenSource is the address that the kernel would send from, where Source
	// does not say it.
	ChosenSource string `json:"chosen_source,omitempty"`
	// Nexthops is how many next hops the route has, where it is a packet with a
	// protocol that is asked about. Unsure says why such packets may take another
	// one than the answer all the same.
	Nexthops int    `json:"nexthops,omitempty"`
	Unsure   string `json:"unsure,omitempty"`
	Error    string `json:"error,omitempty"`
}
