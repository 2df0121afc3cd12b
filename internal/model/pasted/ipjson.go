package pasted

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/device"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	listJSON("ip -j link", "interfaces", `"ifindex"`, (*machine).linkJSON, "link", "address"),
	listJSON("ip -j route", "routes", `"(?:dst|type)"`, (*machine).routeJSON, "route"),
	listJSON("ip -j rule", "routes", `"priority"`, (*machine).ruleJSON, "rule"),
	listJSON("ip -j neighbour", "neighbours", `"dst"`, (*machine).neighbourJSON, "neighbour", "neighbor"),
	listJSON("tc -j qdisc", "qdiscs", `"kind"`, (*machine).qdiscJSON, "qdisc"))

// listJSON returns the format of the JSON of ip(8) or tc(8) about objects. In a text without a command, the key
// of its first member tells the format; it is on the next line with -p. Read reports whether an element
// of the list is of the format.
func listJSON(name, part, key string, read func(*machine, json.RawMessage) bool, objects ...string) *format {
	first := pattern.MustCompile(`^\[ ?(?:\{\},? ?)*\{ ?(?:` + key + `:|$)`)
	program, _, _ := strings.Cut(name, " ")
	return &format{name: name, part: part, sure: first.MatchString,
		command: func(c command) bool {
			return c.json() && c.is(program) && slices.ContainsFunc(objects, c.ofObject)
		},
		whole: func(m *machine, s *section) {
			var list []json.RawMessage
			if json.Unmarshal([]byte(s.text()), &list) != nil {
				return
			}
			known := lists.Count(list[:min(len(list), mostRows)], func(element json.RawMessage) bool {
				return read(m, element)
			})
			switch {
			case known > 0:
				s.all(used)
			case len(list) == 0 && m.command != nil:
				s.all(idle)
			}
		}}
}

// linkElement is an interface in the JSON of ip link and ip address. Fields of details are set with
// -d, statistics with -s, and those of errors with -s -s.
type linkElement struct {
	Index   int      `json:"ifindex"`
	Name    string   `json:"ifname"`
	Link    string   `json:"link"`
	Flags   []string `json:"flags"`
	MTU     int      `json:"mtu"`
	Master  string   `json:"master"`
	Queue   int      `json:"txqlen"`
	Type    string   `json:"link_type"`
	Address string   `json:"address"`
	// PeerIndex is the index of an interface below in another network namespace.
	PeerIndex   *int   `json:"link_index"`
	Promiscuity int    `json:"promiscuity"`
	Device      string `json:"parentdev"`
	Info        struct {
		Kind string `json:"info_kind"`
		Data struct {
			ID            int    `json:"id"`
			Mode          string `json:"mode"`
			MIIMon        int    `json:"miimon"`
			HashPolicy    string `json:"xmit_hash_policy"`
			LACPRate      string `json:"ad_lacp_rate"`
			VLANFiltering int    `json:"vlan_filtering"`
			STP           int    `json:"stp_state"`
		} `json:"info_data"`
		SlaveKind string `json:"info_slave_kind"`
		SlaveData struct {
			State      string `json:"state"`
			MIIStatus  string `json:"mii_status"`
			Failures   int    `json:"link_failure_count"`
			Aggregator int    `json:"ad_aggregator_id"`
		} `json:"info_slave_data"`
	} `json:"linkinfo"`
	Addresses []struct {
		Local     string `json:"local"`
		Peer      string `json:"address"`
		Bits      int    `json:"prefixlen"`
		DADFailed bool   `json:"dadfailed"`
	} `json:"addr_info"`
	Stats   *linkStatistics `json:"stats"`
	Stats64 *linkStatistics `json:"stats64"`
}

// linkStatistics has the counters of an interface by direction and name.
type linkStatistics struct {
	Rx map[string]json.Number `json:"rx"`
	Tx map[string]json.Number `json:"tx"`
}

// linkJSON stores an interface.
func (m *machine) linkJSON(element json.RawMessage) bool {
	var e linkElement
	// Of info_data and info_slave_data, other kinds have members of these names with other types.
	if err := json.Unmarshal(element, &e); e.Name == "" || e.Index <= 0 || err != nil && len(e.Flags) == 0 {
		return false
	}
	if slices.Contains(e.Flags, "LOOPBACK") || !wordlike.MatchString(e.Name) {
		return true
	}
	n := m.netif(e.Name)
	if n < 0 {
		return true
	}
	i := &m.Reading.Snapshot.Interfaces[n]
	if i.Index = e.Index; e.MTU > 0 && e.MTU <= 1<<20 {
		i.MTU = e.MTU
	}
	if e.Flags != nil {
		i.Up = slices.Contains(e.Flags, "UP")
		note := m.note(e.Name)
		note.flags(i.Up && slices.Contains(e.Flags, "NO-CARRIER"),
			slices.Contains(e.Flags, "PROMISC") || e.Promiscuity > 0)
		note.queue = max(e.Queue, 0)
	}
	if address, is := mac(e.Address); is {
		i.MAC = address
	}
	if wordlike.MatchString(e.Master) {
		i.Master = e.Master
	}
	m.kindJSON(i, e)
	for _, a := range e.Addresses {
		local, err := netip.ParseAddr(a.Local)
		bits := a.Bits
		if a.Peer != "" { // the prefix length belongs to the peer
			bits = local.BitLen()
		}
		if p := netip.PrefixFrom(local, bits); err == nil && p.IsValid() {
			m.address(i, p)
			if a.DADFailed {
				m.duplicate(i, p)
			}
		}
	}
	for _, s := range []*linkStatistics{e.Stats, e.Stats64} {
		if s != nil {
			m.statisticsJSON(e.Name, s)
		}
	}
	return true
}

// kindJSON stores the kind of an interface and what is specific to it.
func (m *machine) kindJSON(i *netstate.InterfaceSnapshot, e linkElement) {
	note, data := m.note(i.Interface), e.Info.Data
	switch kind := tunnels[e.Type]; {
	case e.Info.Kind != "":
		i.Kind = plain.Short(e.Info.Kind, longestName)
	case kind != "" && !device.TunnelKind(i.Kind):
		i.Kind = kind
	case e.PeerIndex != nil && i.Kind == "":
		i.Kind = "veth"
	case e.Link != "" && i.Kind == "":
		i.Kind = "vlan"
	}
	if pciAddress.MatchString(e.Device) {
		note.bus = e.Device
	}
	if wordlike.MatchString(e.Link) {
		note.over = e.Link
	}
	switch e.Info.Kind {
	case "vlan":
		m.vlanID(i, strconv.Itoa(data.ID))
	case "bond":
		b := m.bondOf(i.Interface)
		b.Mode, b.HashPolicy, b.MIIMonMs = data.Mode, data.HashPolicy, data.MIIMon
		if b.Mode == "802.3ad" {
			b.LACPRate = data.LACPRate
		}
	case "bridge":
		b := m.bridgeOf(i.Interface)
		b.STP, b.VLANFiltering = data.STP == 1 || data.STP == 2, data.VLANFiltering == 1
	}
	if s := e.Info.SlaveData; e.Info.SlaveKind == "bond" && i.Master != "" {
		member := m.member(i.Master, i.Interface)
		member.State, member.Link = strings.ToLower(s.State), strings.ReplaceAll(strings.ToLower(s.MIIStatus), "_", " ")
		member.LinkFailures, member.Aggregator = s.Failures, s.Aggregator
	}
}

// statisticsJSON stores the counters of an interface.
func (m *machine) statisticsJSON(name string, s *linkStatistics) {
	to := kernelCounters(m.countersOf(name, false))
	for direction, counters := range map[string]map[string]json.Number{"rx": s.Rx, "tx": s.Tx} {
		for counter, value := range counters {
			field := to[direction+"_"+counter]
			switch counter {
			case "otherhost", "otherhost_dropped":
				field = to["rx_otherhost_dropped"]
			case "collisions":
				field = to["collisions"]
			case "carrier_changes":
				m.note(name).changes, _ = strconv.ParseInt(value.String(), 10, 64)
			}
			if n, err := strconv.ParseUint(value.String(), 10, 64); err == nil && field != nil {
				*field = n
				m.hasCounter(nameOf(to, field))
			}
		}
	}
}

// nameOf returns the name of a counter in linux/if_link.h.
func nameOf(counters map[string]*uint64, field *uint64) string {
	for name, f := range counters {
		if f == field {
			return name
		}
	}
	return ""
}
