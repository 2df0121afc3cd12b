// Package setting describes reversible changes to a host: a sysctl, a neighbour entry, an address,
// a route, a rule, a link attribute, a chain of nftables, a queueing discipline, options of a NIC
// or of CPUs. Package apply applies and reverts them.
package setting

import (
	"cmp"
	"fmt"
	"iter"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"time"

	"linerate/internal/model/unit"
)

// Setting is a change on one host. Exactly one of the kinds is set. A sysctl mapping may have
// several keys, which are applied in the order written.
type Setting struct {
	Host      string         `yaml:"host,required" json:"host" doc:"the host to change"`
	Sysctl    []Sysctl       `yaml:"sysctl" json:"sysctl,omitempty" doc:"kernel parameters: name and value, as in sysctl.conf"`
	Neighbour *Neighbour     `yaml:"neighbour" json:"neighbour,omitempty" doc:"a permanent ARP or neighbour-discovery entry"`
	Address   *Address       `yaml:"address" json:"address,omitempty" doc:"a further address on an interface"`
	Route     *Route         `yaml:"route" json:"route,omitempty" doc:"a route"`
	Nexthop   *NexthopObject `yaml:"nexthop" json:"nexthop,omitempty" doc:"a nexthop object or group that routes can name"`
	Rule      *Rule          `yaml:"rule" json:"rule,omitempty" doc:"a routing policy rule"`
	Link      *Link          `yaml:"link" json:"link,omitempty" doc:"attributes of an interface: MTU, MAC address, queue length, up or down"`
	NFT       *NFT           `yaml:"nft" json:"nft,omitempty" doc:"a chain of nftables rules, in a table of its own; needs nft(8) on the host"`
	Qdisc     *Qdisc         `yaml:"qdisc" json:"qdisc,omitempty" doc:"the queueing discipline at the root of an interface"`
	NIC       *NIC           `yaml:"nic" json:"nic,omitempty" doc:"options of an interface's driver, queues and interrupts, as ethtool has them"`
	CPU       *CPU           `yaml:"cpu" json:"cpu,omitempty" doc:"options of all CPUs"`
}

// Kinds lists the kinds of settings by their names in study files.
var Kinds = []string{"sysctl", "neighbour", "address", "nexthop", "route", "rule", "link", "nft", "qdisc", "nic", "cpu"}

// Kinds lists the kinds that are set. A valid setting has exactly one.
func (s Setting) Kinds() []string {
	given := []bool{len(s.Sysctl) > 0, s.Neighbour != nil, s.Address != nil, s.Nexthop != nil, s.Route != nil,
		s.Rule != nil, s.Link != nil, s.NFT != nil, s.Qdisc != nil, s.NIC != nil, s.CPU != nil}
	var list []string
	for i, kind := range Kinds {
		if given[i] {
			list = append(list, kind)
		}
	}
	return list
}

// Kind returns the name of the kind that is set. Empty: none.
func (s Setting) Kind() string {
	if kinds := s.Kinds(); len(kinds) > 0 {
		return kinds[0]
	}
	return ""
}

// Change is a part of a setting that can be applied independently.
type Change struct {
	Name    string // a parameter's key, "nic eth0 features gro", CPUGovernor, or the words of Lines
	Setting Setting
}

// Changes splits a setting into its parts: each kernel parameter, and each option of a NIC or of
// CPUs. Settings of other kinds have one part.
func (s Setting) Changes() (list []Change) {
	for _, one := range s.Sysctl {
		list = append(list, Change{one.Key, Setting{Host: s.Host, Sysctl: []Sysctl{one}}})
	}
	if s.NIC != nil {
		for _, o := range s.NIC.Options() {
			part := s.NIC.With(o)
			list = append(list, Change{strings.Join([]string{"nic", s.NIC.Interface, o.Group, o.Key}, " "),
				Setting{Host: s.Host, NIC: &part}})
		}
	}
	if s.CPU != nil {
		list = append(list, Change{CPUGovernor, s})
	}
	if len(list) == 0 {
		for _, line := range s.Lines() {
			list = append(list, Change{strings.TrimPrefix(line, s.Host+": "), s})
		}
	}
	return list
}

// Sysctl is a kernel parameter. Key has dots as separators; a dot in an interface name is written
// as a slash (net.ipv4.conf.eth0/100.rp_filter), as in sysctl(8).
type Sysctl struct {
	Key   string `yaml:",key" json:"key"`
	Value string `yaml:",value" json:"value"`
}

// CongestionControl is the parameter with the default congestion control of sockets. For flows that
// select one, a setting with this key sets the flows' option congestion_control instead.
const CongestionControl = "net.ipv4.tcp_congestion_control"

// InterfaceOf returns the interface of a parameter such as net.ipv4.conf.eth0.rp_filter. Empty: the
// parameter does not belong to a single interface.
func InterfaceOf(key string) string {
	parts := strings.Split(key, ".")
	if len(parts) != 5 || parts[0] != "net" || parts[2] != "conf" && parts[2] != "neigh" ||
		slices.Contains([]string{"all", "default", "lo"}, parts[3]) {
		return ""
	}
	return strings.ReplaceAll(parts[3], "/", ".")
}

// Neighbour is a permanent entry of the neighbour table.
type Neighbour struct {
	Interface string     `yaml:"interface,required" json:"interface" doc:"the host's own interface"`
	Address   netip.Addr `yaml:"address,required" json:"address" doc:"the neighbour's IP address"`
	// LLAddr is a MAC address, or host.interface for the MAC address of that interface.
	LLAddr string `yaml:"lladdr,required" json:"lladdr" doc:"a MAC address, or host.interface for the MAC address of that interface"`
}

// Address is an additional address of an interface.
type Address struct {
	Interface string       `yaml:"interface,required" json:"interface" doc:"the interface to add it to"`
	Address   netip.Prefix `yaml:"address,required" json:"address" doc:"the address with its prefix length, such as 192.168.1.20/24"`
	// Count is the number of consecutive addresses from Address on, all with its prefix length. 0
	// means 1.
	Count int `yaml:"count" json:"count,omitempty" doc:"number of consecutive addresses, beginning with address; 1 when absent"`
}

// Number returns the number of addresses.
func (a Address) Number() int { return max(a.Count, 1) }

// All returns an iterator over the addresses.
func (a Address) All() iter.Seq2[int, netip.Prefix] {
	return func(yield func(int, netip.Prefix) bool) {
		addr := a.Address.Addr()
		for i := range a.Number() {
			if !addr.IsValid() || !yield(i, netip.PrefixFrom(addr, a.Address.Bits())) {
				return
			}
			addr = addr.Next()
		}
	}
}

// Last returns the last address. It is invalid if the address space ends before.
func (a Address) Last() netip.Prefix {
	addr := a.Address.Addr()
	return netip.PrefixFrom(plus(addr, addr.BitLen(), a.Number()-1), a.Address.Bits())
}

// plus returns addr advanced by a number of networks with the prefix length bits. It is invalid if
// the address space ends before that.
func plus(addr netip.Addr, bits, networks int) netip.Addr {
	n := big.NewInt(int64(networks))
	n.Lsh(n, uint(addr.BitLen()-bits))
	if n.Add(n, new(big.Int).SetBytes(addr.AsSlice())); n.BitLen() > addr.BitLen() {
		return netip.Addr{}
	}
	further, _ := netip.AddrFromSlice(n.FillBytes(make([]byte, addr.BitLen()/8)))
	return further
}

// Holds reports whether addr is one of the addresses.
func (a Address) Holds(addr netip.Addr) bool {
	first := a.Address.Addr()
	last := a.Last().Addr()
	return last.IsValid() && addr.BitLen() == first.BitLen() && addr.Compare(first) >= 0 && addr.Compare(last) <= 0
}

// String formats the addresses: "10.0.0.1/24", "10.0.0.1/24 to 10.0.0.254/24".
func (a Address) String() string {
	if a.Number() == 1 {
		return a.Address.String()
	}
	return a.Address.String() + " to " + a.Last().String()
}

// Joined merges runs of consecutive addresses on an interface into one setting, so that they are
// changed in one operation. Other settings and the order are unchanged.
func Joined(settings []Setting) []Setting {
	var list []Setting
	var next netip.Addr // after the run at the list's end
	for _, s := range settings {
		a := s.Address
		if n := len(list); n > 0 && a != nil && next.IsValid() && a.Address.Addr() == next {
			run := list[n-1].Address
			if list[n-1].Host == s.Host && run.Interface == a.Interface && run.Address.Bits() == a.Address.Bits() {
				joined := *run
				joined.Count = run.Number() + a.Number()
				list[n-1].Address = &joined
				next = a.Last().Addr().Next()
				continue
			}
		}
		list = append(list, s)
		next = netip.Addr{}
		if a != nil {
			next = a.Last().Addr().Next()
		}
	}
	return list
}

// Route is a route. It has either Interface and Via (one next hop) or Nexthops.
type Route struct {
	// To is a prefix, an address, or "default".
	To string `yaml:"to,required" json:"to" doc:"a destination prefix such as 10.0.0.0/8, or default: of IPv6 if the source or the next hops are, as of host.interface with addresses of IPv6 alone, and otherwise of IPv4 (::/0 is always of IPv6)"`
	// Count is the number of consecutive prefixes of the same length from To on, with one route for
	// each. 0 means 1.
	Count     int        `yaml:"count" json:"count,omitempty" doc:"number of consecutive prefixes of that length, beginning with to, with a route each; 1 when absent"`
	Via       string     `yaml:"via" json:"via,omitempty" doc:"the next hop: an address, 'inet6 ADDRESS', or host.interface"`
	Interface string     `yaml:"interface" json:"interface,omitempty" doc:"the interface the route leaves by"`
	Source    netip.Addr `yaml:"source" json:"source,omitzero" doc:"the preferred source address"`
	Table     int        `yaml:"table,zero" json:"table,omitempty" doc:"the routing table; 0 or absent is the main table"`
	Metric    int        `yaml:"metric,zero" json:"metric,omitempty" doc:"the route's metric (priority); lower wins; 0 or absent: the kernel takes 0, and 1024 for IPv6"`
	InitCwnd  int        `yaml:"initcwnd" json:"initcwnd,omitempty" doc:"initial congestion window of connections by this route, in segments; 10 when absent (RFC 6928)"`
	Nexthops  []Nexthop  `yaml:"nexthops" json:"nexthops,omitempty" doc:"several next hops: a multipath route"`
	// Object is the ID of a nexthop object, which replaces next hops of the route itself. 0: none.
	Object int `yaml:"nexthop" json:"nexthop,omitempty" doc:"the id of a nexthop object, instead of via, interface and nexthops"`
	// Learned reports whether BGP installs the route if there is a routing daemon.
	Learned bool `yaml:"-" json:"learned,omitempty"`
}

// IPv6 reports whether the route is an IPv6 route, by its destination or, for default, by its
// source or its next hops. A next hop given as host.interface does not determine the family.
func (r Route) IPv6() bool {
	if r.To != "default" {
		return strings.Contains(r.To, ":")
	}
	six := func(via string) bool { addr, err := netip.ParseAddr(via); return err == nil && addr.Is6() }
	return r.Source.Is6() || six(r.Via) || slices.ContainsFunc(r.Nexthops, func(n Nexthop) bool { return six(n.Via) })
}

// Priority returns the metric that the kernel uses: 1024 for an IPv6 route without a metric
// (IP6_RT_PRIO_USER).
func (r Route) Priority(six bool) int {
	if six {
		return cmp.Or(r.Metric, 1024)
	}
	return r.Metric
}

// MostRoutes is the maximum of Route.Count.
const MostRoutes = 1 << 20

// Number returns the number of routes.
func (r Route) Number() int { return max(r.Count, 1) }

// Prefix returns the destination. It is invalid if To is "default" or not a prefix.
func (r Route) Prefix() netip.Prefix {
	if addr, err := netip.ParseAddr(r.To); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen())
	}
	p, _ := netip.ParsePrefix(r.To)
	return p.Masked()
}

// All returns an iterator over the destinations.
func (r Route) All() iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		p := r.Prefix()
		for range r.Number() {
			if !p.IsValid() || !yield(p) {
				return
			}
			p = netip.PrefixFrom(plus(p.Addr(), p.Bits(), 1), p.Bits())
		}
	}
}

// Last returns the last destination. It is invalid if the address space ends before.
func (r Route) Last() netip.Prefix {
	p := r.Prefix()
	if !p.IsValid() {
		return p
	}
	return netip.PrefixFrom(plus(p.Addr(), p.Bits(), r.Number()-1), p.Bits())
}

// Holds reports whether one of the prefixes contains addr.
func (r Route) Holds(addr netip.Addr) bool {
	first, last := r.Prefix(), r.Last()
	return last.IsValid() && addr.BitLen() == first.Addr().BitLen() && addr.Compare(first.Addr()) >= 0 &&
		(addr.Compare(last.Addr()) < 0 || last.Contains(addr))
}

// WrongCount returns why Count is invalid. Empty: it is valid.
func (r Route) WrongCount() string {
	switch {
	case r.Count == 0 || r.Count == 1:
		return ""
	case r.Count < 0 || r.Count > MostRoutes || !r.Last().IsValid():
		return fmt.Sprintf("%d routes from %s on: expected 1 to %d prefixes, and no more than there are", r.Count, r.To,
			MostRoutes)
	}
	return ""
}

// NexthopObject is a next hop that routes refer to by its ID, or a group of nexthop objects
// (ip-nexthop(8)).
type NexthopObject struct {
	ID        int        `yaml:"id,required" json:"id" doc:"the object's number"`
	Via       string     `yaml:"via" json:"via,omitempty" doc:"an address, 'inet6 ADDRESS', or host.interface"`
	Interface string     `yaml:"interface" json:"interface,omitempty" doc:"the interface this next hop is reached by; a single next hop needs it"`
	Group     []Member   `yaml:"group" json:"group,omitempty" doc:"instead of via and interface: the objects that the group consists of"`
	Resilient *Resilient `yaml:"resilient" json:"resilient,omitempty" doc:"resilient hashing: a group that moves as few flows as possible when members come and go"`
}

// Member is a member of a nexthop group.
type Member struct {
	ID     int `yaml:"id,required" json:"id" doc:"the number of a nexthop object"`
	Weight int `yaml:"weight" json:"weight,omitempty" doc:"its share of the flows; 1 when absent"`
}

// Resilient configures a resilient group, which keeps a table of hash buckets and moves as few of
// them as possible when members are added or removed
// (Documentation/networking/nexthop-group-resilient.rst). Zero values are the kernel's defaults,
// with which a bucket in use is never moved.
type Resilient struct {
	Buckets         int           `yaml:"buckets" json:"buckets,omitempty" doc:"number of slots of the hash table; 128 when absent"`
	IdleTimer       unit.Duration `yaml:"idle_timer" json:"idle_timer,omitempty" doc:"how long a slot must be idle before it may move to another member; 120s when absent"`
	UnbalancedTimer unit.Duration `yaml:"unbalanced_timer,zero" json:"unbalanced_timer,omitempty" doc:"how long a group may be out of balance before slots in use are moved too; 0s or absent: never"`
}

// WithDefaults returns r with the kernel's defaults for zero values
// (net/ipv4/nexthop.c).
func (r Resilient) WithDefaults() Resilient {
	r.Buckets = cmp.Or(r.Buckets, 128)
	r.IdleTimer = cmp.Or(r.IdleTimer, unit.Duration(120*time.Second))
	return r
}

// Nexthop is a next hop of a multipath route.
type Nexthop struct {
	Via       string `yaml:"via" json:"via,omitempty" doc:"an address, 'inet6 ADDRESS', or host.interface"`
	Interface string `yaml:"interface" json:"interface,omitempty" doc:"the interface this next hop is reached by"`
	Weight    int    `yaml:"weight" json:"weight,omitempty" doc:"its share of the flows; 1 when absent"`
}

// Rule is a routing policy rule (ip-rule(8)).
type Rule struct {
	From     string `yaml:"from" json:"from,omitempty" doc:"source prefix or address"`
	To       string `yaml:"to" json:"to,omitempty" doc:"destination prefix or address"`
	Table    int    `yaml:"table,required" json:"table" doc:"the routing table to look in"`
	Priority int    `yaml:"priority" json:"priority,omitempty" doc:"the rule's priority; the kernel chooses when absent"`
}

// XDP programs that linerate includes (internal/kernel/xdp).
const (
	XDPForward       = "forward"
	XDPDropFragments = "drop-fragments"
)

// XDPPrograms lists their names.
var XDPPrograms = []string{XDPForward, XDPDropFragments}

// LegacyPacketSize is the maximum packet size before BIG TCP (GSO_LEGACY_MAX_SIZE in
// include/linux/netdevice.h). Up to this size the kernel also sets that of IPv4
// (netif_set_gso_max_size in net/core/dev.h). A larger one for IPv4 must be set separately, since
// Linux 6.3.
const LegacyPacketSize = 65536

// Link sets attributes of an interface. Absent ones are not changed.
type Link struct {
	Interface  string `yaml:"interface,required" json:"interface" doc:"the interface to change"`
	MTU        int    `yaml:"mtu" json:"mtu,omitempty" doc:"bytes"`
	TxQueueLen *int   `yaml:"txqueuelen" json:"txqueuelen,omitempty" doc:"packets"`
	MAC        string `yaml:"mac" json:"mac,omitempty" doc:"MAC address"`
	Up         *bool  `yaml:"up" json:"up,omitempty" doc:"administrative state"`
	// GSOMaxSize and GROMaxSize above LegacyPacketSize enable BIG TCP.
	GSOMaxSize unit.Bytes `yaml:"gso_max_size" json:"gso_max_size,omitempty" doc:"the largest packets that TCP makes for the interface, IPv4 and IPv6; above 64KiB: BIG TCP"`
	GROMaxSize unit.Bytes `yaml:"gro_max_size" json:"gro_max_size,omitempty" doc:"the largest packets into which received segments are merged, IPv4 and IPv6"`
	// XDP is one of XDPPrograms.
	XDP string `yaml:"xdp" json:"xdp,omitempty" doc:"a program that decides on packets in the driver, before the network stack: forward sends IPv4 and IPv6 on by the kernel's routes, drop-fragments drops fragments; the stack gets the rest" enum:"forward,drop-fragments"`
	// XmitHashPolicy is the policy of a bond, with the names of device.Bond.
	XmitHashPolicy string `yaml:"xmit_hash_policy" json:"xmit_hash_policy,omitempty" doc:"of a bond: what it hashes to choose a member" enum:"layer2,layer2+3,layer3+4,encap2+3,encap3+4,vlan+srcmac"`
}
