package record

import "linerate/internal/model/topology"

// SwitchReading is what a switch said of its ports by SNMP in a trial.
type SwitchReading struct {
	Switch string `json:"switch"`
	// System is its sysName and the beginning of its sysDescr.
	System string `json:"system,omitempty"`
	// Missing is why there are no figures of any port; empty: Ports has those that there are.
	Missing string `json:"missing,omitempty"`
	// RefreshS is how many seconds apart the switch's counters change, as seen in this trial or
	// before: it refreshes them so rarely, or the traffic pauses. 0: it counts at each request,
	// as far as can be seen.
	RefreshS float64      `json:"refresh_s,omitempty"`
	Polls    int          `json:"polls,omitempty"`
	Failed   int          `json:"failed_polls,omitempty"` // of Polls, those without an answer
	Ports    []SwitchPort `json:"ports,omitempty"`
	// FDB is its forwarding table, at most MostForwarded entries, with the study's names of
	// ports where it has them, otherwise ifName. It was read before the trial.
	FDB []FDBEntry `json:"fdb,omitempty"`
}

// MostForwarded bounds the forwarding table of a switch in a record.
const MostForwarded = 256

// SwitchPort is what a port of a switch carried between FromNs and ToNs on the conductor's
// clock, which is the window or, where the switch refreshes its counters rarely, a part of it.
type SwitchPort struct {
	Port string `json:"port"` // its name in the study
	Peer string `json:"peer"` // the other end of its link, "host.interface"
	// Name, Alias and Index are ifName, ifAlias and ifIndex, and Found is how they were found.
	Name  string `json:"if_name,omitempty"`
	Alias string `json:"if_alias,omitempty"`
	Index int    `json:"if_index,omitempty"`
	Type  int    `json:"if_type,omitempty"` // ifType (IANAifType-MIB): 6 is an Ethernet, 161 an aggregate
	Found string `json:"found,omitempty"`
	// SpeedBps is ifHighSpeed; 0: not known.
	SpeedBps float64 `json:"speed_bps,omitempty"`
	// Bits is the size of its counters of octets, 64 or 32.
	Bits int `json:"counter_bits,omitempty"`
	// Missing is why there are no figures; all below is then 0.
	Missing string `json:"missing,omitempty"`
	FromNs  int64  `json:"from_ns,omitempty"`
	ToNs    int64  `json:"to_ns,omitempty"`
	// DoubtS is by how many seconds the time between FromNs and ToNs may be wrong: it is not
	// known when between two polls the switch refreshed its counters.
	DoubtS   float64        `json:"doubt_s,omitempty"`
	Counters SwitchCounters `json:"counters"`
	// Lacks are counters that the switch does not have; they are 0.
	Lacks []string `json:"lacks,omitempty"`
}

// SwitchCounters are those of a port of a switch (RFC 2863). In is what the port received.
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

// Each is pointers to all counters, in the order of the fields.
func (c *SwitchCounters) Each() []*uint64 {
	return []*uint64{&c.InOctets, &c.OutOctets, &c.InUcast, &c.OutUcast, &c.InMulticast, &c.OutMulticast,
		&c.InBroadcast, &c.OutBroadcast, &c.InDiscards, &c.OutDiscards, &c.InErrors, &c.OutErrors}
}

// In and Out are packets of all kinds.
func (c SwitchCounters) In() uint64  { return c.InUcast + c.InMulticast + c.InBroadcast }
func (c SwitchCounters) Out() uint64 { return c.OutUcast + c.OutMulticast + c.OutBroadcast }

// Seconds is the time that the figures are of; 0: there are none.
func (p SwitchPort) Seconds() float64 { return float64(p.ToNs-p.FromNs) / 1e9 }

// End is the port in a topology.
func (s SwitchReading) End(p SwitchPort) topology.End {
	return topology.End{Node: s.Switch, Interface: p.Port}
}

// ForwardingTable is the table of one switch or bridge.
type ForwardingTable struct {
	Switch  string
	Entries []FDBEntry
}

// ForwardingTables are those of the trial: of nodes with an agent, and of switches by SNMP.
// Of a switch with both it is the agent's.
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
