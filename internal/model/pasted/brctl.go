package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

var _ = register(
	&format{name: "brctl show", part: "interfaces", row: reads((*machine).brctl), sure: brctlHead.MatchString,
		command: func(c command) bool { return c.is("brctl") && c.has("show") }},
	&format{name: "mii-tool", part: "nics", row: reads((*machine).miiTool), command: programs("mii-tool"),
		sure: func(line string) bool {
			return miiRow.MatchString(line) || miiForced.MatchString(line) && strings.Contains(line, " Mbit, ")
		}},
	&format{name: "iwconfig", part: "nics", row: reads((*machine).iwconfig), command: programs("iwconfig"),
		sure: func(line string) bool { return iwconfigHead.MatchString(line) || noWireless.MatchString(line) }})

// toolContext is the bridge or interface that lines of brctl, mii-tool or iwconfig belong to.
type toolContext struct {
	toolBridge, toolNIC string
}

var (
	brctlHead = pattern.MustCompile(`^bridge name\s+bridge id\s+STP enabled`)
	// "br0		8000.02004788aa2e8	no		em1"
	brctlRow  = pattern.MustCompile(`^(\S{1,15})\s+[0-9a-f]{4}\.[0-9a-f]{12}\s+(yes|no)(?:\s+(\S{1,15}))?$`)
	brctlPort = pattern.MustCompile(`^\s+(\S{1,15})$`)

	// "eth0: negotiated 100baseTx-FD flow-control, link ok"
	miiRow = pattern.MustCompile(`^(\S{1,15}): (negotiated|no autonegotiation,|autonegotiation (?:failed|restarted),)` +
		`(?: (\d{2,4}base\w+(?:-FD|-HD)?)(?: flow-control)?,)? (link ok|no link)$`)
	// "eth0: 100 Mbit, half duplex, link ok"; "eth0: no link"
	miiForced = pattern.MustCompile(`^(\S{1,15}): (?:(10|100|1000) Mbit, (half|full) duplex, )?(link ok|no link)$`)
	miiMore   = pattern.MustCompile(`^\s+(product info|basic mode|basic status|capabilities|advertising|link partner|` +
		`registers for MII PHY \d+|[0-9a-f]{4}(?: [0-9a-f]{4}){7}):?\s*(.*)$|^(?:vendor [0-9a-f:]{8}|using the ` +
		`specified MII|` +
		`No interface specified|usage: mii-tool|\d+ *Mbit)`)
	miiMode = pattern.MustCompile(`^(\d{2,4})base\w*?-?(FD|HD)?$`)

	// "wlan0     IEEE 802.11  ESSID:"example""
	iwconfigHead = pattern.MustCompile(`^(\S{1,15})\s+(?:IEEE 802\.11|unassociated)\S*(?:\s|$)`)
	noWireless   = pattern.MustCompile(`^\S{1,15}\s+no wireless extensions\.$`)
	iwconfigMore = pattern.MustCompile(`^\s+(?:Mode:|Bit Rate|Tx-Power|Retry|RTS thr|Fragment thr|Encryption key|` +
		`Power Management|` +
		`Link Quality|Signal level|Noise level|Rx invalid|Tx excessive|Invalid misc|Missed beacon|ESSID:|Access ` +
		`Point:|` +
		`Frequency|Sensitivity|Nickname|Security mode)`)
)

// brctl parses a line of brctl show. Ports of a bridge follow on lines of their own.
func (m *machine) brctl(line string) bool {
	if brctlHead.MatchString(line) {
		m.toolBridge = ""
		return m.ignore()
	}
	port := ""
	if row := brctlRow.FindStringSubmatch(line); row != nil {
		if !wordlike.MatchString(row[1]) || m.netif(row[1]) < 0 {
			m.toolBridge = ""
			return m.ignore()
		}
		m.toolBridge, port = row[1], row[3]
		m.interfaceOf(row[1]).Kind = "bridge"
		m.bridgeOf(row[1]).STP = row[2] == "yes"
	} else if row := brctlPort.FindStringSubmatch(line); row != nil && m.toolBridge != "" && m.behind("brctl show") {
		port = row[1]
	} else {
		return false
	}
	if wordlike.MatchString(port) {
		m.bridgePort(m.toolBridge, port)
	}
	return true
}

// bridgePort stores a port of a bridge.
func (m *machine) bridgePort(bridge, port string) {
	m.note(port).master = bridge
	b := m.bridgeOf(bridge)
	if !slices.ContainsFunc(b.Ports, func(p netstate.BridgePort) bool { return p.Interface == port }) &&
		len(b.Ports) < mostBonds {
		b.Ports = append(b.Ports, netstate.BridgePort{Interface: port})
	}
}

// miiTool parses a line of mii-tool(8). Two of its modes are not what a link uses: of 1000baseT it
// prints the half-duplex mode if both ends offer it, and old versions know no mode of 1000 Mbit/s and
// print 100baseTx-FD for such a link.
func (m *machine) miiTool(line string) bool {
	if row := miiRow.FindStringSubmatch(line); row != nil && wordlike.MatchString(row[1]) {
		m.toolNIC = row[1]
		m.carrier(row[1], row[4] == "link ok")
		nic, mode := m.nicOf(row[1]), miiMode.FindStringSubmatch(row[3])
		if on := true; strings.HasPrefix(row[2], "negotiated") {
			nic.Autoneg = &on
		}
		if mode == nil || row[3] == "100baseTx-FD" {
			return true
		}
		nic.SpeedMbps, _ = strconv.ParseInt(mode[1], 10, 64)
		if row[3] != "1000baseT-HD" {
			nic.Duplex = map[string]string{"FD": "full", "HD": "half"}[mode[2]]
		}
		return true
	}
	if row := miiForced.FindStringSubmatch(line); row != nil && wordlike.MatchString(row[1]) {
		m.toolNIC = row[1]
		m.carrier(row[1], row[4] == "link ok")
		if nic, off := m.nicOf(row[1]), false; row[2] != "" {
			nic.SpeedMbps, _ = strconv.ParseInt(row[2], 10, 64)
			nic.Duplex, nic.Autoneg = row[3], &off
		}
		return true
	}
	if m.toolNIC == "" || !m.behind("mii-tool") {
		return false
	}
	row := miiMore.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	if row[1] != "capabilities" {
		return m.ignore()
	}
	nic := m.nicOf(m.toolNIC)
	for word := range strings.FieldsSeq(row[2]) {
		if mode := miiMode.FindStringSubmatch(word); mode != nil {
			mbps, _ := strconv.ParseInt(mode[1], 10, 64)
			nic.BestMbps = max(nic.BestMbps, mbps)
		}
	}
	return true
}

var iwconfigSignal = pattern.MustCompile(`\bSignal level[=:](-\d{1,3}) dBm`)

// iwconfig parses a line of iwconfig(8). The bit rate is that of the last frame, and is left out, as is a signal
// without a unit.
func (m *machine) iwconfig(line string) bool {
	if noWireless.MatchString(line) {
		return m.ignore()
	}
	if row := iwconfigHead.FindStringSubmatch(line); row != nil {
		if m.toolNIC = ""; !wordlike.MatchString(row[1]) || m.netif(row[1]) < 0 {
			return m.ignore()
		}
		m.toolNIC = row[1]
		m.nicOf(row[1]).Wireless = true
		return true
	}
	if m.toolNIC == "" || !m.behind("iwconfig") || !iwconfigMore.MatchString(line) {
		return false
	}
	if strings.Contains(line, "Access Point: Not-Associated") {
		m.carrier(m.toolNIC, false)
		return true
	}
	if signal := iwconfigSignal.FindStringSubmatch(line); signal != nil {
		m.wifiOf(m.toolNIC).SignalDBm = number(signal[1])
		m.addPart("wifi", true)
		return true
	}
	return m.ignore()
}
