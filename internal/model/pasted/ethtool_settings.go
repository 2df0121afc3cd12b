package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// linkSetting parses a line of ethtool IF. Link modes and flags continue on the following lines.
func (m *machine) linkSetting(nic *netstate.NIC, line string) bool {
	row := keyed.FindStringSubmatch(line)
	if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, " ") {
		return false
	}
	key, value := m.modes, strings.TrimSpace(line)
	if row != nil {
		key, value = row[1], row[2]
	}
	if m.modes = ""; strings.HasSuffix(key, " link modes") || key == "Current message level" {
		m.modes = key
	}
	switch key {
	case "Supported link modes":
		nic.BestMbps = max(nic.BestMbps, fastest(value))
	case "Advertised link modes":
		nic.OfferedMbps = max(nic.OfferedMbps, fastest(value))
	case "Speed":
		nic.SpeedMbps = int64(number(strings.TrimSuffix(value, "Mb/s")))
	case "Duplex":
		if value == "Half" || value == "Full" {
			nic.Duplex = strings.ToLower(value)
		}
	case "Supports auto-negotiation":
		lists.Put(&m.fixed, nic.Interface, value == "No")
	case "Auto-negotiation":
		// A device without modes does not negotiate, and one that cannot negotiate is not set to "off".
		on := value == "on"
		if fixed, known := m.fixed[nic.Interface]; nic.BestMbps > 0 && !fixed && (on || known) {
			nic.Autoneg = &on
		}
	case "Link detected":
		nic.Carrier = strings.HasPrefix(value, "yes")
		nic.OperState = map[bool]string{true: "up", false: "down"}[nic.Carrier]
	default:
		return slices.Contains(unusedSettings, key) && m.ignore()
	}
	return true
}

// unusedSettings are keys of ethtool IF that no rule uses.
var unusedSettings = []string{"Supported ports", "Supported pause frame use", "Supported FEC modes",
	"Advertised pause frame use", "Advertised auto-negotiation", "Advertised FEC modes", "Supported Reserved",
	"Link partner advertised link modes", "Link partner advertised pause frame use",
	"Link partner advertised auto-negotiation", "Link partner advertised FEC modes", "Lanes", "Port", "PHYAD",
	"Transceiver", "MDI-X", "Supports Wake-on", "Wake-on", "SecureOn password", "Current message level",
	"master-slave cfg", "master-slave status", "SQI", "Link Down Events", "Power over Ethernet",
	"rate matching", "Supports wake-on", "Speeds"}

// fastest returns the highest speed in a list of link modes ("1000baseT/Full"), in Mbit/s.
func fastest(modes string) (mbps int64) {
	for word := range strings.FieldsSeq(modes) {
		if mode := linkMode.FindStringSubmatch(word); mode != nil {
			n, _ := strconv.ParseInt(mode[1], 10, 64)
			mbps = max(mbps, n)
		}
	}
	return mbps
}

// pause parses a line of ethtool -a. The negotiated values are below the configured ones.
func (m *machine) pause(nic *netstate.NIC, line string) bool {
	row := keyed.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	if strings.HasPrefix(line, " ") { // of -I
		return m.ignore()
	}
	if nic.Pause == nil {
		nic.Pause = &netstate.Pause{}
	}
	on := row[2] == "on"
	switch row[1] {
	case "Autonegotiate":
		nic.Pause.Autoneg = on
	case "RX":
		nic.Pause.Rx = on
	case "TX":
		nic.Pause.Tx = on
	default:
		return slices.Contains([]string{"RX negotiated", "TX negotiated", "Statistics"}, row[1]) && m.ignore()
	}
	return true
}

// driverKeys are the keys of ethtool -i whose values may be empty.
var driverKeys = []string{"version", "firmware-version", "expansion-rom-version", "bus-info"}

// driver parses a line of ethtool -i.
func (m *machine) driver(nic *netstate.NIC, line string) bool {
	row := keyed.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	value := row[2]
	if value == "N/A" {
		value = "" // the driver reports none
	}
	switch row[1] {
	case "driver":
		if isName(value) || value == "" {
			nic.Driver = value
		}
	case "version":
		nic.Version = value
	case "firmware-version":
		nic.Firmware = value
	case "bus-info":
		nic.Bus = value
	default:
		return (row[1] == "expansion-rom-version" || strings.HasPrefix(row[1], "supports-")) && m.ignore()
	}
	return true
}

// stampRow matches a capability or mode of ethtool -T.
var stampRow = pattern.MustCompile(`^\s+[a-z0-9-]+(\s+\((SOF|HWTSTAMP)_\w+\))?$`)

// stamping parses a line of ethtool -T, which no rule uses.
func (m *machine) stamping(_ *netstate.NIC, line string) bool {
	return (stampRow.MatchString(line) || slices.ContainsFunc([]string{"Capabilities:", "PTP Hardware Clock:",
		"Hardware timestamp ", "Hardware Transmit Timestamp Modes:", "Hardware Receive Filter Modes:"},
		func(head string) bool { return strings.HasPrefix(line, head) })) && m.ignore()
}
