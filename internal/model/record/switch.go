package record

import (
	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
)

// SwitchReading is what a switch reported about its ports by SNMP in a trial.
type SwitchReading struct {
	Switch string `json:"switch" is:"name"`
	// System is its sysName and the beginning of its sysDescr.
	System string `json:"system,omitempty" is:"text"`
	// Missing says why there are no figures of any port. Empty: Ports has those that there are.
	Missing string `json:"missing,omitempty" is:"text"`
	// RefreshS is the interval at which the switch refreshes its counters, in seconds, as seen in
	// this trial or before. Pauses of the traffic can make it longer. 0: the switch seems to read
	// the counters at each request.
	RefreshS float64      `json:"refresh_s,omitempty"`
	Polls    int          `json:"polls,omitempty"`
	Failed   int          `json:"failed_polls,omitempty"` // the number of Polls without an answer
	Ports    []SwitchPort `json:"ports,omitempty"`
	// FDB is the forwarding table of the switch before the trial, at most MostForwarded entries.
	// Interface is the name of the port in the study or, if it has none, its ifName.
	FDB []netstate.FDBEntry `json:"fdb,omitempty"`
}

// MostForwarded limits the entries of SwitchReading.FDB.
const MostForwarded = 256

// SwitchPort is the traffic of a port of a switch between FromNs and ToNs on the conductor's clock.
// This is the window or, if the switch rarely refreshes its counters, a part of it.
type SwitchPort struct {
	Port string `json:"port" is:"words"` // its name in the study
	Peer string `json:"peer" is:"name"`  // the other end of its link, "host.interface"
	// Name, Alias and Index are ifName, ifAlias and ifIndex. Found says how the port was found.
	Name  string `json:"if_name,omitempty" is:"words"`
	Alias string `json:"if_alias,omitempty" is:"text"`
	Index int    `json:"if_index,omitempty"`
	Type  int    `json:"if_type,omitempty"` // ifType (IANAifType-MIB): 6 is an Ethernet, 161 an aggregate
	Found string `json:"found,omitempty" is:"text"`
	// SpeedBps is ifHighSpeed. 0: unknown.
	SpeedBps float64 `json:"speed_bps,omitempty"`
	// Bits is the size of its octet counters, 64 or 32.
	Bits int `json:"counter_bits,omitempty"`
	// Missing says why there are no figures; all fields below are then 0. Empty: there are figures.
	Missing string `json:"missing,omitempty" is:"text"`
	FromNs  int64  `json:"from_ns,omitempty"`
	ToNs    int64  `json:"to_ns,omitempty"`
	// DoubtS is the possible error of the time between FromNs and ToNs, in seconds: it is unknown
	// when the switch refreshed its counters between two polls.
	DoubtS   float64        `json:"doubt_s,omitempty"`
	Counters SwitchCounters `json:"counters"`
	// Lacks lists counters that the switch does not have; they are 0.
	Lacks []string `json:"lacks,omitempty" is:"text"`
}

// SwitchCounters are the counters of a port of a switch (RFC 2863). In is what the port received.
type SwitchCounters struct {
	InOctets     uint64 `json:"in_octets"`
	OutOctets    uint64 `json:"out_octets"`
	InUcast      uint64 `json:"in_ucast"`
	OutUcast     uint64 `json:"out_ucast"`
	InMulticast  uint64 `json:"in_multicast"`
	OutMulticast uint64 `json:"out_multicast"`
	InBroadcast  uint64 `json:"in_broadcast"`
	OutBroadcast uint64 `json:"out_broadcast"`
	InDiscards   uint64 `json:"in_discards"`
	OutDiscards  uint64 `json:"out_discards"`
	InErrors     uint64 `json:"in_errors"`
	OutErrors    uint64 `json:"out_errors"`
}

// Each returns pointers to all counters, in the order of the fields.
func (c *SwitchCounters) Each() []*uint64 {
	return []*uint64{&c.InOctets, &c.OutOctets, &c.InUcast, &c.OutUcast, &c.InMulticast, &c.OutMulticast,
		&c.InBroadcast, &c.OutBroadcast, &c.InDiscards, &c.OutDiscards, &c.InErrors, &c.OutErrors}
}

// In and Out return the number of packets of all kinds.
func (c SwitchCounters) In() uint64  { return c.InUcast + c.InMulticast + c.InBroadcast }
func (c SwitchCounters) Out() uint64 { return c.OutUcast + c.OutMulticast + c.OutBroadcast }

// Seconds returns the time that the figures cover. 0: there are no figures.
func (p SwitchPort) Seconds() float64 { return float64(p.ToNs-p.FromNs) / 1e9 }

// End returns the port as the end of a link in the topology.
func (s SwitchReading) End(p SwitchPort) topology.End {
	return topology.End{Node: s.Switch, Interface: p.Port}
}

// ForwardingTable is the table of one switch or bridge.
type ForwardingTable struct {
	Switch  string
	Entries []netstate.FDBEntry
}

// ForwardingTables returns the tables of the trial: those of nodes with an agent, and those read
// from switches by SNMP. For a switch with both it returns that of the agent.
func (t Trial) ForwardingTables() (tables []ForwardingTable) {
	known := map[string]bool{}
	for _, h := range t.Hosts {
		if len(h.Snapshot.FDB) > 0 {
			known[h.Host] = true
			tables = append(tables, ForwardingTable{h.Host, h.Snapshot.FDB})
		}
	}
	for _, s := range t.Switches {
		if len(s.FDB) > 0 && !known[s.Switch] {
			tables = append(tables, ForwardingTable{s.Switch, s.FDB})
		}
	}
	return tables
}
