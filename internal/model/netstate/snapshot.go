package netstate

import (
	"math"
	"slices"
)

// Snapshot is the network state of a host at one instant.
type Snapshot struct {
	Host       string              `json:"host" is:"host"`
	Interfaces []InterfaceSnapshot `json:"interfaces"`
	Tables
	// Answers has every MAC address that answered ARP requests for the addresses of neighbours and
	// of the host itself. Their State is empty.
	Answers []Neighbour  `json:"arp_answers,omitempty"`
	Rules   []RuleEntry  `json:"rules,omitempty"`
	Routes  []RouteEntry `json:"routes,omitempty"`
	// RoutesOmitted counts the routes that Routes leaves out: static routes, and those of routing
	// daemons if there are more than 4,096.
	RoutesOmitted int `json:"routes_omitted,omitempty"`
	// Lookups are the kernel's answers to route lookups that matter for the trial's flows.
	Lookups []RouteLookup `json:"lookups,omitempty"`
	// Sysctls are the parameters that diagnosis needs: net.ipv4.conf.{all,IFACE}.arp_ignore,
	// arp_announce, arp_filter, rp_filter, and those that levels set.
	Sysctls map[string]string `json:"sysctls,omitempty" is:"parameter,value"`
	// TimerTickNs is the resolution of the kernel's timers if it is that of its ticks. Absent: the
	// timers have a high resolution, or it is unknown.
	TimerTickNs int64 `json:"timer_tick_ns,omitempty"`
}

// Software returns the names of the interfaces that are no NICs but software devices, such as a bond,
// which counts its members' packets again.
func (s Snapshot) Software() map[string]bool {
	names := map[string]bool{}
	for _, i := range s.Interfaces {
		if i.Kind != "" {
			names[i.Interface] = true
		}
	}
	return names
}

// Tables has the parts of a snapshot that the network itself changes: neighbours and forwarding
// table.
type Tables struct {
	// BeganNs and EndedNs say when reading the tables, or the whole snapshot that they are part of,
	// began and ended. In a trial they are on the conductor's monotonic clock.
	BeganNs    int64       `json:"began_ns,omitempty"`
	EndedNs    int64       `json:"ended_ns,omitempty"`
	Neighbours []Neighbour `json:"neighbours,omitempty"`
	// FDB is the forwarding table of a switch.
	FDB []FDBEntry `json:"fdb,omitempty"`
	// Missing lists the parts that could not be read, each with the reason: of the tables, or of
	// the whole snapshot that they are part of.
	Missing []string `json:"missing,omitempty" is:"text"`
}

// InterfaceSnapshot is the state of one interface.
type InterfaceSnapshot struct {
	Interface string   `json:"interface" is:"interface"`
	Index     int      `json:"index"`
	MAC       string   `json:"mac" is:"link"`
	MTU       int      `json:"mtu"`
	Up        bool     `json:"up"`
	Addresses []string `json:"addresses,omitempty" is:"address"` // with prefix length
	// Duplicates are those IPv6 addresses in Addresses that are not used, because duplicate address
	// detection found them on another machine (RFC 4862, section 5.4).
	Duplicates []string `json:"duplicate_addresses,omitempty" is:"address"`
	// Master is the bridge or bond that the interface belongs to.
	Master string `json:"master,omitempty" is:"interface"`
	// Kind is the kernel's link kind (veth, bridge, …). Empty: hardware.
	Kind string `json:"kind,omitempty" is:"word"`
	// Driver is the driver of the hardware (ethtool -i). Empty: unknown, or not hardware.
	Driver string `json:"driver,omitempty" is:"word"`
	// SpeedBps is the negotiated speed of the hardware's link. 0: unknown, or not hardware.
	SpeedBps float64 `json:"speed_bps,omitempty"`
	// Shaper is the qdisc that limits the rate of what leaves the interface. Nil: there is none, as
	// far as is known.
	Shaper *Shaper `json:"shaper,omitempty"`
	// Qdiscs are the qdiscs of the interface, without the default ones that the kernel creates for
	// its queues.
	Qdiscs []Qdisc `json:"qdiscs,omitempty"`
}

// Qdisc is a queueing discipline as it is configured.
type Qdisc struct {
	Parent string `json:"parent" is:"word"` // root, ingress, or the class of another qdisc: 7:1
	Kind   string `json:"kind" is:"word"`
	// Options are the options that the kernel reports and linerate knows, by their names in tc(8)
	// or linux/pkt_sched.h.
	Options map[string]string `json:"options,omitempty" is:"words,words"`
}

// Shaper is a qdisc with a rate, such as tc-tbf(8).
type Shaper struct {
	Kind    string  `json:"kind" is:"word"`
	RateBps float64 `json:"rate_bps"`
	// OverheadBytes is the number of bytes that it counts for each packet in addition to the
	// Ethernet header and its payload. A negative number is subtracted.
	OverheadBytes int `json:"overhead_bytes,omitempty"`
	// BurstBytes is the size of its token bucket. 0: unknown.
	BurstBytes int64 `json:"burst_bytes,omitempty"`
	// SizeTable reports whether it has a size table (tc-stab(8)). The kernel then applies the table
	// once to a packet of many segments, but counts each segment that tbf makes of it by its own
	// length. It is therefore unknown how much payload fits into the rate.
	SizeTable bool `json:"size_table,omitempty"`
}

// Shapers are the kinds of qdiscs whose rates are read.
var Shapers = []string{"tbf", "htb", "cake", "netem"}

// Bounds reports whether s is a shaper whose effect on payload is known.
func (s *Shaper) Bounds() bool { return s.valid() && !s.SizeTable }

// Sized reports whether s is a shaper with a size table.
func (s *Shaper) Sized() bool { return s.valid() && s.SizeTable }

// valid reports whether a qdisc can have these values (tc-stab(8), tc-tbf(8)), which may come from
// a peer.
func (s *Shaper) valid() bool {
	const most = 256 // bytes
	return s != nil && slices.Contains(Shapers, s.Kind) && s.RateBps > 0 && s.OverheadBytes >= -most/4 &&
		s.OverheadBytes <= most && s.BurstBytes >= 0 && s.BurstBytes <= math.MaxUint32
}

// Neighbour is one entry of the ARP or neighbour discovery table.
type Neighbour struct {
	Interface string `json:"interface" is:"interface"`
	Address   string `json:"address" is:"address"`
	MAC       string `json:"mac,omitempty" is:"link"` // empty: unresolved
	// State is REACHABLE, STALE, DELAY, PROBE, FAILED, INCOMPLETE, PERMANENT or NOARP.
	State string `json:"state" is:"word"`
}

// FDBEntry is one entry of a switch's forwarding table.
type FDBEntry struct {
	MAC       string `json:"mac" is:"link"`
	Interface string `json:"interface" is:"words"`
	// Peer is the end that the switch's port is cabled to, "host.interface". Empty: the topology
	// does not know it.
	Peer  string `json:"peer,omitempty" is:"name"`
	Local bool   `json:"local,omitempty"` // the switch's own address
}

// RuleEntry is one routing policy rule.
type RuleEntry struct {
	Priority int    `json:"priority"`
	From     string `json:"from,omitempty" is:"address"`
	To       string `json:"to,omitempty" is:"address"`
	Table    int    `json:"table"`
	// Other reports whether the rule selects by more than source and destination (a mark, an
	// interface, …) or does something other than a lookup in Table.
	Other bool `json:"other,omitempty"`
}

// RouteLookup is the kernel's answer to the question by which interface a packet from Source to
// Destination leaves the host (ip route get).
type RouteLookup struct {
	Source      string `json:"source" is:"address"`
	Destination string `json:"destination" is:"address"`
	// Protocol (tcp or udp) and the ports are fields by which a multipath route may select a next
	// hop. Empty: unspecified. Flows of rr and crr use tcp, flows of udp-rr use udp.
	Protocol        string `json:"protocol,omitempty" is:"word"`
	SourcePort      uint16 `json:"source_port,omitempty"`
	DestinationPort uint16 `json:"destination_port,omitempty"`
	// In is the interface on which the host received the packet that it forwards. Empty: the host
	// itself sends the packet.
	In string `json:"in,omitempty" is:"interface"`

	Interface string `json:"interface,omitempty" is:"interface"`
	Gateway   string `json:"gateway,omitempty" is:"address"`
	// ChosenSource is the source address that the kernel would choose if Source does not specify
	// it.
	ChosenSource string `json:"chosen_source,omitempty" is:"address"`
	// Nexthops is the number of next hops of the route, set only if Protocol is. Unsure says why
	// packets of the flow may take another next hop than this answer. Empty: they take this one.
	Nexthops int    `json:"nexthops,omitempty"`
	Unsure   string `json:"unsure,omitempty" is:"text"`
	Error    string `json:"error,omitempty" is:"text"`
}
