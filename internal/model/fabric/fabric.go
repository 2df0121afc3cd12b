// Package fabric holds what is known of the network behind hosts: which host is connected to which port of
// which switch, and how the switches are connected to each other.
package fabric

import "linerate/internal/model/topology"

// Schema is the schema name and version of a Fabric.
const Schema = "linerate.fabric/v1"

// Fabric is what hosts and switches say of the links between them.
type Fabric struct {
	Schema   string   `json:"schema"`
	Hosts    []Host   `json:"hosts"`
	Switches []Switch `json:"switches,omitempty"`
	Links    []Link   `json:"links"`
	// Unknown lists what is not known, and what would tell.
	Unknown []Unknown `json:"unknown,omitempty"`
	// Topology has the same hosts, switches and links, in the order of the lists above, with what a study
	// needs besides.
	Topology topology.Topology `json:"topology"`
	// Twin is Topology as a lab: hosts without via, and switches whose links form loops, or that route, as
	// routers.
	Twin topology.Topology `json:"-"`
}

// Host is a host of a fabric.
type Host struct {
	Name string `json:"name"`
	// Rack is the switch that the host is connected to; of several the first, by name. Empty: not known,
	// or the host is connected to other hosts alone.
	Rack   string `json:"rack,omitempty"`
	Router bool   `json:"router,omitempty"` // it forwards packets
}

// Switch is a switch of a fabric.
type Switch struct {
	Name    string `json:"name"`
	System  string `json:"system,omitempty"`  // its own name, if that is another one
	Chassis string `json:"chassis,omitempty"` // its identifier in LLDP
	Address string `json:"address,omitempty"` // by which it was read with SNMP, or its management address
	Read    bool   `json:"read,omitempty"`    // by SNMP or by its agent: its links are known
	Assumed bool   `json:"assumed,omitempty"` // it stands for what is not known
}

// Sources of a Link, the surest first.
const (
	SourceLLDP      = "lldp"       // one end names the other
	SourceFDB       = "forwarding" // the switch has learned the MAC address at that port
	SourceNeighbour = "neighbours" // the ends have each other alone in their neighbour tables
	SourceSubnet    = "addresses"  // addresses of one subnet: a switch between them is assumed
	SourceAssumed   = "assumed"    // stands for a path that is not known
)

// Link is a link of a fabric.
type Link struct {
	From topology.End `json:"from"`
	To   topology.End `json:"to"`
	// RateBps is the rate from From to To, and BackBps in the other direction, in bits per second. 0: not
	// known.
	RateBps float64 `json:"rate_bps,omitempty"`
	BackBps float64 `json:"back_bps,omitempty"`
	MTU     int     `json:"mtu,omitempty"`
	Source  string  `json:"source"`
}

// Unknown is something about a fabric that is not known.
type Unknown struct {
	What string `json:"what"` // a sentence without its full stop
	Tell string `json:"tell"` // what would tell
}

// Device is what a switch says of itself by SNMP.
type Device struct {
	// Given is the address by which it was asked.
	Given string
	// Credentials and Version are those of the topology that the fabric becomes.
	Credentials, Version string
	System, Chassis      string
	Ports                []Port
	Neighbours           []Neighbour
	Forwarding           []Entry
	Missing              []string // parts that could not be read, with the reasons
}

// Port is an interface of a switch.
type Port struct {
	Name     string // ifName
	MAC      string
	SpeedBps float64 // 0: not known
}

// Neighbour is what the other end of a cable says by LLDP.
type Neighbour struct {
	Local                              string // the switch's own port
	Chassis, System, Port, Description string
	Switches                           bool // it is a bridge or a router
}

// Entry is an entry of a switch's forwarding table.
type Entry struct{ MAC, Port string }

// Racks has the rack of each host that has one.
func (f Fabric) Racks() map[string]string {
	racks := map[string]string{}
	for _, h := range f.Hosts {
		if h.Rack != "" {
			racks[h.Name] = h.Rack
		}
	}
	return racks
}
