package pasted

import (
	"math"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var (
	// power matches an optical power: "0.5678 mW / -2.46 dBm", "0.0000 mW / -inf dBm".
	power = pattern.MustCompile(`^\d{1,4}\.\d{1,4} mW / (-?(?:\d{1,3}\.\d{1,3}|inf)) dBm$`)
	// lane matches a power of a lane, and alone that of a module with one lane; thresholds have other
	// names.
	rxLane = pattern.MustCompile(
		`^(?:Rcvr signal avg optical power ?\(Channel \d\)|Receiver signal (?:average optical|OMA) power)$`)
	txLane  = pattern.MustCompile(`^(?:Transmit avg optical power ?\(Channel \d\)|Laser output power)$`)
	celsius = pattern.MustCompile(`^(-?\d{1,3}\.\d{1,2}) degrees C`)
	hexDump = pattern.MustCompile(`^(?:0x[0-9a-f]{4}:|Offset\s+Values|------\s+------)`)
)

// mostLanes limits the lanes of a module.
const mostLanes = 16

// module parses a line of ethtool -m.
func (m *machine) module(nic *netstate.NIC, line string) bool {
	row := keyed.FindStringSubmatch(line)
	if row == nil || !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, " ") && strings.Index(line, ": ") < 41 {
		return false
	}
	if hexDump.MatchString(strings.TrimSpace(line)) {
		return m.ignore()
	}
	key, value := row[1], row[2]
	if nic.Module == nil {
		nic.Module = &netstate.Module{}
	}
	switch {
	case key == "Vendor name":
		nic.Module.Vendor = plain.Short(value, longestName)
	case key == "Vendor PN":
		nic.Module.Part = plain.Short(value, longestName)
	case key == "Module temperature" && celsius.MatchString(value):
		nic.Module.TemperatureC, _ = strconv.ParseFloat(celsius.FindStringSubmatch(value)[1], 64)
	case rxLane.MatchString(key) && power.MatchString(value) && len(nic.Module.RxPowerDBm) < mostLanes:
		nic.Module.RxPowerDBm = append(nic.Module.RxPowerDBm, dBm(value))
	case txLane.MatchString(key) && power.MatchString(value) && len(nic.Module.TxPowerDBm) < mostLanes:
		nic.Module.TxPowerDBm = append(nic.Module.TxPowerDBm, dBm(value))
	default:
		return m.ignore()
	}
	return true
}

// dBm returns a power to one decimal. Less than the unit of the measurement, 0.1 µW, is -40 dBm.
func dBm(value string) float64 {
	p, err := strconv.ParseFloat(power.FindStringSubmatch(value)[1], 64)
	if err != nil || math.IsInf(p, 0) {
		p = -40
	}
	return math.Round(10*max(p, -40)) / 10
}

// fec parses a line of ethtool --show-fec.
func (m *machine) fec(nic *netstate.NIC, line string) bool {
	row := keyed.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	if strings.HasPrefix(line, " ") || row[1] == "Statistics" { // of -I
		return m.ignore()
	}
	f := netstate.FEC{}
	if nic.FEC != nil {
		f = *nic.FEC
	}
	value := strings.ToLower(strings.Join(strings.Fields(plain.Short(row[2], longestName)), " "))
	switch row[1] {
	case "Configured FEC encodings", "Supported/Configured FEC encodings":
		f.Configured = value
	case "Active FEC encoding", "Active FEC encodings":
		f.Active = value
	default:
		return false
	}
	nic.FEC = &f
	return true
}
