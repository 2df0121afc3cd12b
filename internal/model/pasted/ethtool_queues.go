package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/setting"
)

// maximums reports whether lines of rings and channels contain maximum values, which a head
// announces. Head reports whether the line is such a head.
func (m *machine) maximums(line string) (most, head bool) {
	switch strings.TrimSpace(line) {
	case "Pre-set maximums:":
		m.eth.most = true
		return m.eth.most, true
	case "Current hardware settings:":
		m.eth.most = false
		return m.eth.most, true
	}
	return m.eth.most, false
}

// unusedRings are the keys of ethtool -g, in lower case, that no rule uses.
var unusedRings = []string{"rx mini", "rx jumbo", "rx buf len", "cqe size", "tx push", "rx push", "tx push buff len",
	"tcp data split", "hds thresh", "header split"}

// ring parses a line of ethtool -g.
func (m *machine) ring(nic *netstate.NIC, line string) bool {
	most, head := m.maximums(line)
	row := keyed.FindStringSubmatch(line)
	if head || row == nil {
		return head && m.ignore()
	}
	if slices.Contains(unusedRings, strings.ToLower(row[1])) {
		return m.ignore()
	}
	if nic.Rings == nil {
		nic.Rings = &netstate.Rings{}
	}
	return set(row, most, map[string][2]*int{"RX": {&nic.Rings.Rx, &nic.Rings.MostRx},
		"TX": {&nic.Rings.Tx, &nic.Rings.MostTx}})
}

// set stores the value of a row in one of fields: the current or the maximum one. It returns false
// if there is no such field. "n/a" leaves the field as it is.
func set(row []string, most bool, fields map[string][2]*int) bool {
	field, has := fields[row[1]]
	if has && most && field[1] != nil {
		*field[1] = number(row[2])
	} else if has {
		*field[0] = number(row[2])
	}
	return has
}

// channel parses a line of ethtool -l.
func (m *machine) channel(nic *netstate.NIC, line string) bool {
	most, head := m.maximums(line)
	row := keyed.FindStringSubmatch(line)
	if head || row == nil {
		return head && m.ignore()
	}
	if row[1] == "Other" {
		return m.ignore()
	}
	if nic.Channels == nil {
		nic.Channels = &netstate.Channels{}
	}
	c := nic.Channels
	return set(row, most, map[string][2]*int{"RX": {&c.Rx, &c.MostRx}, "TX": {&c.Tx, &c.MostTx},
		"Combined": {&c.Combined, &c.MostCombined}})
}

var (
	adaptive = pattern.MustCompile(`^Adaptive RX:\s+(\S+)\s+TX:\s+(\S+)$`)
	// coalesceKey matches a key of ethtool -c, and profile a line of the profile of dynamic
	// moderation: "{.usec =   1, .pkts = 256, .comps = n/a,},".
	coalesceKey = pattern.MustCompile(`^([a-z][a-z0-9-]*|CQE mode RX)$`)
	profile     = pattern.MustCompile(`^\s*\{\.usec = .*\},?$`)
)

// coalescing parses a line of ethtool -c.
func (m *machine) coalescing(nic *netstate.NIC, line string) bool {
	if profile.MatchString(line) {
		return m.ignore()
	}
	if nic.Coalesce == nil {
		nic.Coalesce = &netstate.Coalesce{}
	}
	c := nic.Coalesce
	if row := adaptive.FindStringSubmatch(strings.TrimSpace(line)); row != nil {
		c.AdaptRx, c.AdaptTx = row[1] == "on", row[2] == "on"
		return true
	}
	row := keyed.FindStringSubmatch(line)
	if row == nil || !coalesceKey.MatchString(row[1]) {
		return false
	}
	return set(row, false, map[string][2]*int{"rx-usecs": {&c.RxUs}, "rx-frames": {&c.RxFrames},
		"tx-usecs": {&c.TxUs}, "tx-frames": {&c.TxFrames}}) || m.ignore()
}

var (
	// tableRow matches a row of an RSS table: "    8:      0     1     2     3".
	tableRow = pattern.MustCompile(`^\s*(\d{1,5}):((?:\s+\d{1,5})+)$`)
	hashKey  = pattern.MustCompile(`^(?:[0-9a-f]{2}:){3,}[0-9a-f]{2}$`)
	hashRow  = pattern.MustCompile(`^\s+[a-z0-9-]+: (on|off)$`)
)

// largestTable limits an RSS table, in entries.
const largestTable = 8192

// spreading parses a line of ethtool -x.
func (m *machine) spreading(nic *netstate.NIC, line string) bool {
	row := tableRow.FindStringSubmatch(line)
	if row == nil {
		return (slices.Contains([]string{"RSS hash key:", "RSS hash function:", "RSS input transformation:"}, line) ||
			hashKey.MatchString(line) || hashRow.MatchString(line)) && m.ignore()
	}
	if m.rssTables == nil {
		m.rssTables = map[string][]uint32{}
	}
	table := m.rssTables[nic.Interface]
	if !m.eth.counting {
		table = nil
	}
	queues := strings.Fields(row[2])
	if number(row[1]) != len(table) || len(table)+len(queues) > largestTable || m.rssEntries >= 8*mostRows {
		m.rssTables[nic.Interface], m.eth.counting = nil, true // rows are missing: the table is unknown
		return m.ignore()
	}
	for _, q := range queues {
		n, _ := strconv.ParseUint(q, 10, 32)
		table = append(table, uint32(n))
	}
	m.rssTables[nic.Interface], m.eth.counting = table, true
	m.rssEntries += len(queues)
	return true
}

// finishRSS stores the RSS table of a NIC.
func (m *machine) finishRSS(nic *netstate.NIC) {
	table := m.rssTables[nic.Interface]
	if len(table) == 0 {
		return
	}
	if nic.RSS == nil {
		nic.RSS = &netstate.RSS{}
	}
	nic.RSS.Table = setting.RSSText(table)
}

var (
	hashedHead = pattern.MustCompile(
		`^(TCP|UDP|SCTP) over IPV([46]) flows use these fields for computing Hash flow key:$`)
	// hashedFields maps the fields of ethtool -n IF rx-flow-hash to the letters of -N.
	hashedFields = map[string]string{"L2DA": "m", "VLAN tag": "v", "L3 proto": "t", "IP SA": "s", "IP DA": "d",
		"L4 bytes 0 & 1 [TCP/UDP src port]": "f", "L4 bytes 2 & 3 [TCP/UDP dst port]": "n",
		"Discard pkts flow type": "r"}
	ruleType = pattern.MustCompile(`^(TCP|UDP|SCTP) over IPv([46])$`)
	// ruleFields maps the fields of a rule to arguments of ethtool -N.
	ruleFields = map[string]string{"Src IP addr": "src-ip", "Dest IP addr": "dst-ip", "TOS": "tos",
		"Traffic Class": "tclass", "Src port": "src-port", "Dest port": "dst-port", "Protocol": "l4proto",
		"VLAN EtherType": "vlan-etype", "VLAN": "vlan", "Dest MAC addr": "dst-mac", "Ethertype": "proto"}
)

// mostSteering limits the rules of an interface.
const mostSteering = 1024

// steering parses a line of ethtool -n or -u, which prints either rules or the fields that are
// hashed for a kind of packet:
//
//	Filter: 2045
//		Rule Type: TCP over IPv4
//		Dest port: 5001 mask: 0x0
//		Action: Direct to queue 3
func (m *machine) steering(nic *netstate.NIC, line string) bool {
	if head := hashedHead.FindStringSubmatch(line); head != nil {
		m.eth.part = strings.ToLower(head[1]) + head[2]
		return true
	}
	if letter := hashedFields[line]; letter != "" && m.eth.part != "" {
		if nic.RSS == nil {
			nic.RSS = &netstate.RSS{}
		}
		if nic.RSS.Fields == nil {
			nic.RSS.Fields = map[string]string{}
		}
		if fields := nic.RSS.Fields[m.eth.part]; !strings.Contains(fields, letter) {
			nic.RSS.Fields[m.eth.part] = fields + letter
		}
		return true
	}
	row := keyed.FindStringSubmatch(line)
	if row == nil {
		return (strings.HasPrefix(line, "Total ") || strings.HasSuffix(line, " RX rings available")) && m.ignore()
	}
	value, mask, masked := strings.Cut(row[2], " mask: ")
	switch {
	case row[1] == "Filter":
		m.eth.flow = []string{value}
	case len(m.eth.flow) == 0:
		return false
	case row[1] == "Rule Type" || row[1] == "Flow Type":
		m.eth.flow = append(m.eth.flow, flowType(value))
	case row[1] == "Action":
		m.addRule(nic, value)
	case masked && ruleFields[row[1]] != "":
		m.eth.flow = append(m.eth.flow, ruleFields[row[1]], strings.ToLower(value), "m", strings.ToLower(mask))
	case masked && strings.HasPrefix(row[1], "Src MAC addr"):
		m.eth.flow = append(m.eth.flow, "src", strings.ToLower(value), "m", strings.ToLower(mask))
	default: // SPI, L4 bytes, user-defined
		if len(m.eth.flow) > 1 && !strings.Contains(strings.ToLower(mask), "ff") {
			m.eth.flow[1] = "" // it compares what setting.FlowRule does not have
		}
	}
	return true
}

// flowType returns the flow type of ethtool -N for the text of ethtool -n. Empty: none.
func flowType(text string) string {
	if t := ruleType.FindStringSubmatch(text); t != nil {
		return strings.ToLower(t[1]) + t[2]
	}
	return map[string]string{"Raw IPv4": "ip4", "Raw IPv6": "ip6", "Raw Ethernet": "ether"}[text]
}

// addRule ends a rule with its action.
func (m *machine) addRule(nic *netstate.NIC, action string) {
	words := m.eth.flow
	m.eth.flow = nil
	if len(nic.Steering) >= mostSteering || !isNumber(words[0]) {
		return
	}
	queue, direct := strings.CutPrefix(action, "Direct to queue ")
	if action == "Drop" {
		queue, direct = strconv.Itoa(setting.Discard), true
	}
	rule := netstate.FlowRule{Location: words[0], Rule: "not read: another kind of rule"}
	if direct && len(words) > 1 && words[1] != "" {
		if words[1] == "ether" {
			for i, w := range words {
				if w == "dst-mac" {
					words[i] = "dst"
				}
			}
		}
		if r, err := setting.ParseFlowRule(strings.Join(append(words[1:], "action", queue), " ")); err == nil {
			rule.Rule = r.String()
		}
	}
	nic.Steering = append(nic.Steering, rule)
}
