package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

var _ = register(&format{name: "iw", part: "wifi", row: reads((*machine).iw), command: func(c command) bool {
	return c.is("iw") && (c.has("link", "station", "info") || c.object() == "dev")
}, sure: iwStation.MatchString})

var (
	iwStation   = pattern.MustCompile(`^(?:Station|Connected to) [0-9a-f:]{17} \(on (\S{1,15})\)$`)
	iwInterface = pattern.MustCompile(`^\s+Interface (\S{1,15})$`)
	iwRow       = pattern.MustCompile(`^\s+([A-Za-z][A-Za-z0-9 /-]{0,40}):\s*(.*)$`)
	iwSignal    = pattern.MustCompile(`^(-\d{1,3})(?: \[[-0-9, ]+\])? dBm$`)
	iwBitrate   = pattern.MustCompile(`^(\d{1,6}(?:\.\d)?) MBit/s\b`)
	iwPhy       = pattern.MustCompile(`^phy#\d{1,3}$`) // it looks like a prompt
	iwDevRow    = pattern.MustCompile(`^\s+(?:ifindex|wdev|addr|ssid|type|channel|txpower|wiphy|4addr) ?\S*.*$|` +
		`^\s+(?:qsz-byt|\d+\s).*$|` +
		`^\s+Unnamed/non-netdev interface$`)
)

// wifiOf returns the wireless link of an interface, which it adds if it is new.
func (m *machine) wifiOf(name string) *netstate.WiFi {
	nic := m.nicOf(name)
	nic.Wireless = true
	if nic.WiFi == nil {
		nic.WiFi = &netstate.WiFi{}
	}
	return nic.WiFi
}

// iw parses a line of iw(8): of iw dev, iw dev IF link or iw dev IF station dump.
//
//	signal:  	-60 [-63, -63] dBm
//	tx retries:	12
func (m *machine) iw(line string) bool {
	if s := iwStation.FindStringSubmatch(line); s != nil {
		m.device, m.modes = s[1], "link"
		m.wifiOf(s[1])
		return true
	}
	if i := iwInterface.FindStringSubmatch(line); i != nil && m.command.is("iw") {
		m.device, m.modes = i[1], "dev"
		m.nicOf(i[1]).Wireless = true
		return true
	}
	if m.device == "" && m.command.is("iw") {
		m.device = m.command.after("dev")
		if m.command.has("station", "link") { // the line that names the interface was filtered out
			m.modes = "link"
		}
	}
	if iwPhy.MatchString(line) || line == "Not connected." {
		return m.command.is("iw") && m.ignore()
	}
	if m.modes == "dev" || m.modes == "" {
		return m.command.is("iw") && (iwDevRow.MatchString(line) || iwRow.MatchString(line)) && m.ignore()
	}
	row := iwRow.FindStringSubmatch(line)
	if row == nil || !ifname.MatchString(m.device) {
		return false
	}
	return m.wifi(row[1], row[2])
}

// wifi stores a value of a link. Of several stations it keeps the weakest signal and the lowest
// bitrates, and adds up the counts.
func (m *machine) wifi(key, value string) bool {
	w := m.wifiOf(m.device)
	lowest := func(field *float64) {
		if rate := iwBitrate.FindStringSubmatch(value); rate != nil {
			if n, _ := strconv.ParseFloat(rate[1], 64); *field == 0 || n < *field {
				*field = n
			}
		}
	}
	sum := func(field *int64) {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && *field+n >= 0 {
			*field += n
		}
	}
	switch key {
	case "signal":
		if s := iwSignal.FindStringSubmatch(value); s != nil {
			w.SignalDBm = min(w.SignalDBm, number(s[1]))
		}
	case "rx bitrate":
		lowest(&w.RxMbps)
	case "tx bitrate":
		lowest(&w.TxMbps)
	case "tx packets":
		sum(&w.TxPackets)
	case "tx retries":
		sum(&w.TxRetries)
	case "tx failed":
		sum(&w.TxFailed)
	case "freq":
		mhz, _, _ := strings.Cut(value, ".")
		w.FrequencyMHz = number(mhz)
	default:
		return slices.Contains(unusedOfStation, key) && m.ignore()
	}
	return true
}

// unusedOfStation are keys of a station that no rule uses.
var unusedOfStation = []string{"SSID", "RX", "TX", "bss flags", "dtim period", "beacon int", "inactive time",
	"rx bytes", "rx packets", "tx bytes", "rx drop misc", "signal avg", "beacon signal avg", "expected throughput",
	"authorized", "authenticated", "associated", "preamble", "WMM/WME", "MFP", "TDLS peer", "DTIM period",
	"beacon interval", "short preamble", "short slot time", "connected time", "associated at", "current time",
	"ack signal", "avg ack signal", "last ack signal", "airtime weight", "rx duration", "tx duration", "beacon loss",
	"beacon rx", "CTS protection", "tx retry failed", "rx mpdu", "fcs errors", "mesh llid", "mesh plid", "mesh plink",
	"tx airtime", "rx airtime"}
