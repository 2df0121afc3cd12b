// Package setting says what a reversible change to a host is: a sysctl, a
// neighbour entry, an address, a route, a rule, a link attribute or a queueing
// discipline. It only describes; internal/host/setting applies and reverts.
package setting

import (
	"net/netip"

	"linerate/internal/model/unit"
)

// Setting is one change on one host. Exactly one of the kinds is given; a
// sysctl mapping may hold several keys, which are applied in the order written.
type Setting struct {
	Host      string     `yaml:"host,required" json:"host" doc:"the host to change"`
	Sysctl    []Sysctl   `yaml:"sysctl" json:"sysctl,omitempty" doc:"kernel parameters: name and value, as in sysctl.conf"`
	Neighbour *Neighbour `yaml:"neighbour" json:"neighbour,omitempty" doc:"a permanent ARP or neighbour-discovery entry"`
	Address   *Address   `yaml:"address" json:"address,omitempty" doc:"a further address on a port"`
	Route     *Route     `yaml:"route" json:"route,omitempty" doc:"a route"`
	Rule      *Rule      `yaml:"rule" json:"rule,omitempty" doc:"a routing policy rule"`
	Link      *Link      `yaml:"link" json:"link,omitempty" doc:"attributes of a port: MTU, MAC address, queue length, up or down"`
	Qdisc     *Qdisc     `yaml:"qdisc" json:"qdisc,omitempty" doc:"the queueing discipline at the root of a port"`
}

// Kinds are the kinds of setting, as a study file names them.
var Kinds = []string{"sysctl", "neighbour", "address", "route", "rule", "link", "qdisc"}

// Kinds lists the kinds that are given; a valid setting has one.
func (s Setting) Kinds() []string {
	given := []bool{len(s.Sysctl) > 0, s.Neighbour != nil, s.Address != nil, s.Route != nil, s.Rule != nil, s.Link != nil, s.Qdisc != nil}
	var list []string
	for i, kind := range Kinds {
		if given[i] {
			list = append(list, kind)
		}
	}
	return list
}

// Kind names the kind that is set; empty when there is none.
func (s Setting) Kind() string {
	if kinds := s.Kinds(); len(kinds) > 0 {
		return kinds[0]
	}
	return ""
}

// Sysctl is one kernel parameter. Key uses dots; a dot inside a port's name is
// written as a slash (net.ipv4.conf.eth0/100.rp_filter), as sysctl(8) has it.
type Sysctl struct {
	Key   string `yaml:",key" json:"key"`
	Value string `yaml:",value" json:"value"`
}

// Neighbour is a permanent entry of the neighbour table.
type Neighbour struct {
	Port    string     `yaml:"port,required" json:"port" doc:"the host's own port"`
	Address netip.Addr `yaml:"address,required" json:"address" doc:"the neighbour's IP address"`
	// LLAddr is a MAC address, or host.port for the MAC address of that port.
	LLAddr string `yaml:"lladdr,required" json:"lladdr" doc:"a MAC address, or host.port for the MAC address of that port"`
}

// Address is a further address on a port.
type Address struct {
	Port    string       `yaml:"port,required" json:"port" doc:"the port to add it to"`
	Address netip.Prefix `yaml:"address,required" json:"address" doc:"the address with its prefix length, such as 192.168.1.20/24"`
}

// Route is one route. It has either Port and Via (one next hop) or Nexthops.
type Route struct {
	// To is a prefix, an address, or "default".
	To       string     `yaml:"to,required" json:"to" doc:"a destination prefix such as 10.0.0.0/8, or default"`
	Via      string     `yaml:"via" json:"via,omitempty" doc:"the next hop: an address, 'inet6 ADDRESS', or host.port"`
	Port     string     `yaml:"port" json:"port,omitempty" doc:"the port the route leaves by"`
	Source   netip.Addr `yaml:"source" json:"source,omitzero" doc:"the preferred source address"`
	Table    int        `yaml:"table" json:"table,omitempty" doc:"the routing table; 0 or absent is the main table"`
	Metric   int        `yaml:"metric" json:"metric,omitempty" doc:"the route's metric (priority); lower wins"`
	Nexthops []Nexthop  `yaml:"nexthops" json:"nexthops,omitempty" doc:"several next hops: a multipath route"`
}

// Nexthop is one of the next hops of a multipath route.
type Nexthop struct {
	Via    string `yaml:"via" json:"via,omitempty" doc:"an address, 'inet6 ADDRESS', or host.port"`
	Port   string `yaml:"port" json:"port,omitempty" doc:"the port this next hop is reached by"`
	Weight int    `yaml:"weight" json:"weight,omitempty" doc:"its share of the flows; 1 when absent or 0"`
}

// Rule is one routing policy rule (ip-rule(8)).
type Rule struct {
	From     string `yaml:"from" json:"from,omitempty" doc:"source prefix or address"`
	To       string `yaml:"to" json:"to,omitempty" doc:"destination prefix or address"`
	Table    int    `yaml:"table,required" json:"table" doc:"the routing table to look in"`
	Priority int    `yaml:"priority" json:"priority,omitempty" doc:"the rule's priority; the kernel chooses when absent"`
}

// Link is a set of attributes of a port; absent ones are left alone.
type Link struct {
	Port       string `yaml:"port,required" json:"port" doc:"the port to change"`
	MTU        int    `yaml:"mtu" json:"mtu,omitempty" doc:"bytes"`
	TxQueueLen int    `yaml:"txqueuelen" json:"txqueuelen,omitempty" doc:"packets"`
	MAC        string `yaml:"mac" json:"mac,omitempty" doc:"MAC address"`
	Up         *bool  `yaml:"up" json:"up,omitempty" doc:"administrative state"`
}

// Qdisc is the root queueing discipline of a port.
type Qdisc struct {
	Port string `yaml:"port,required" json:"port" doc:"the port to change"`
	// Kind is the kernel's name: pfifo, bfifo, tbf, fq, fq_codel.
	Kind string `yaml:"kind,required" json:"kind" doc:"the kernel's name of the discipline" enum:"pfifo,bfifo,tbf,fq,fq_codel"`
	// Limit is packets for pfifo, fq and fq_codel, bytes for bfifo and tbf.
	Limit int          `yaml:"limit" json:"limit,omitempty" doc:"queue length: packets for pfifo, fq, fq_codel; bytes for bfifo, tbf"`
	Rate  unit.BitRate `yaml:"rate" json:"rate,omitempty" doc:"tbf: the rate"`
	Burst unit.Bytes   `yaml:"burst" json:"burst,omitempty" doc:"tbf: the bucket"`
}
