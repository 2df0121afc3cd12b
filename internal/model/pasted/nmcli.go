package pasted

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

var _ = register(
	&format{name: "nmcli", part: "interfaces", row: reads((*machine).nmcli), command: programs("nmcli"),
		again: (*machine).sameDevice, sure: func(line string) bool {
			return nmcliKey.MatchString(line) || nmcliHead.MatchString(line) || nmcliDevice.MatchString(line) ||
				strings.HasPrefix(line, `Use "nmcli device show"`)
		}},
	&format{name: "networkctl", part: "interfaces", row: reads((*machine).networkctl), command: programs("networkctl"),
		sure: func(line string) bool {
			return networkctlHead.MatchString(line) || strings.HasPrefix(line, "IDX LINK ")
		}})

// managerContext is the interface that lines of nmcli or networkctl belong to. Empty: one that is not
// kept.
type managerContext struct {
	managed string
	device  bool // whether lines of a device follow in the output of nmcli or networkctl
}

var (
	// "GENERAL.HWADDR:                         02:00:00:00:00:01"
	nmcliKey = pattern.MustCompile(`^((?:GENERAL|CAPABILITIES|INTERFACE-FLAGS|WIRED-PROPERTIES|WIFI-PROPERTIES|AP|` +
		`BOND|BRIDGE|` +
		`TEAM|VLAN|BLUETOOTH|CONNECTIONS|IP[46]|DHCP[46])\.[A-Z0-9-]+)(?:\[\d{1,4}\])?:\s*(.*)$`)
	// "ipv4.method:                            auto", of a profile
	nmcliSetting = pattern.MustCompile(`^[a-z0-9-]+\.[a-z0-9-]+:`)
	nmcliProfile = pattern.MustCompile(`^(?:connection|802-3-ethernet|ipv4|ipv6)\.[a-z-]+:`)
	nmcliHead    = pattern.MustCompile(`^(?:DEVICE\s+TYPE\s+STATE\s|NAME\s+UUID\s+TYPE\s|RUNNING\s+VERSION\s|` +
		`STATE\s+CONNECTIVITY\s|` +
		`PERMISSION\s+VALUE)`)
	nmcliTable = pattern.MustCompile(`^org\.freedesktop\.NetworkManager\.|` +
		`^\S.*\s[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\s+\S+|` +
		`^\S{1,15}\s+\S+\s+(?:connected|disconnected|connecting|unavailable|unmanaged|deactivating)\b`)
	// "ens33: connected to ens33"
	nmcliDevice = pattern.MustCompile(`^(\S{1,15}): (?:connected(?: \([^)]*\))? to |connected$|connecting|` +
		`disconnected|unavailable|` +
		`unmanaged|deactivating)`)
	// "	ethernet (e1000), 02:00:00:00:00:01, hw, mtu 1500"
	nmcliLink = pattern.MustCompile(`^\s+([a-z][a-z0-9-]*)(?: \(([^)]{1,30})\))?((?:, [^,]+)+)$`)
	nmcliLine = pattern.MustCompile(`^\s+(?:"|ip[46] default|route[46] |master |vpn |servers: |domains: |interface: |` +
		`port )`)
	nmcliText = pattern.MustCompile(`^(?:DNS configuration:$|Use "nmcli device show"|"nmcli connection show"|Consult ` +
		`nmcli\(1\)|` +
		`Warning: nmcli \()`)

	// "● 2: eth0"
	networkctlHead = pattern.MustCompile(`^\s*[●○↻*]\s*(\d{1,9}): (\S{1,15})\s*$`)
	networkctlKey  = pattern.MustCompile(`^\s+([A-Z][A-Za-z0-9 ()/-]{1,40}):(?: (.*))?$`)
	networkctlRow  = pattern.MustCompile(`^(?:\s*\d{1,9} \S{1,15}\s+\S+\s+\S+\s+\S+\s*$|\d+ links? listed\.$|` +
		`[●○*]\s+(?:Interfaces|State): )`)
	speedRow = pattern.MustCompile(`^(\d{1,4}(?:\.\d+)?)([MG])bps$`)
)

// managerKinds maps types of devices of NetworkManager and systemd-networkd to kinds of links. Empty:
// hardware.
var managerKinds = map[string]string{"ethernet": "", "ether": "", "wifi": "", "wlan": "", "infiniband": "",
	"bridge": "bridge", "bond": "bond", "team": "team", "vlan": "vlan", "veth": "veth", "tun": "tun", "tap": "tun",
	"dummy": "dummy", "macvlan": "macvlan", "macvtap": "macvtap", "vxlan": "vxlan", "wireguard": "wireguard",
	"vrf": "vrf", "iptunnel": "ipip", "ip-tunnel": "ipip", "gre": "gre", "sit": "sit", "ppp": "ppp", "openvswitch": "openvswitch",
	"ovs-interface": "openvswitch", "ovs-bridge": "openvswitch", "ovs-port": "openvswitch"}

// networkctlValues are the keys of networkctl status that are read, and networkctlKeys those that no
// rule uses.
var (
	networkctlValues = strings.Split("Type,Kind,Hardware Address,HW Address,MTU,Driver,State,Speed,Duplex,"+
		"Auto negotiation", ",")
	networkctlKeys = strings.Split("Link File,Network File,NetDev File,Online state,Path,Vendor,Model,"+
		"Alternative Names,"+
		"Permanent Hardware Address,Permanent HW Address,QDisc,Master,Bridge,Bond,Vlan Id,Id,VLan Id,Protocol,"+
		"IPv6 Address Generation Mode,Number of Queues (Tx/Rx),Queue Length (Tx/Rx),Port,Address,Gateway,DNS,"+
		"Search Domains,Route Domains,NTP,SIP,Time Zone,Activation Policy,Required For Online,"+
		"Required Family For Online,"+
		"DHCP4 Client ID,DHCP6 Client DUID,DHCP6 Client IAID,DHCP6 IAID,Offered DHCP leases,Carrier Bound To,"+
		"Carrier Bound By,Connected To,Wi-Fi access point,WiFi access point,Forward Delay,Hello Time,Max Age,"+
		"Ageing Time,"+
		"Priority,STP,Multicast IGMP Version,Cost,Port State,Mode,Miimon,Updelay,Downdelay", ",")
)

// manage begins an interface of nmcli or networkctl. It returns false if the interface is not kept.
func (m *machine) manage(name string) bool {
	m.managed, m.managerContext.device = "", true
	if !wordlike.MatchString(name) || loopback.MatchString(name) || m.netif(name) < 0 {
		return m.ignore()
	}
	m.managed = name
	return true
}

// sameDevice reports whether a line begins a device that nmcli already printed for the machine.
func (m *machine) sameDevice(line string, gap bool) bool {
	row := nmcliKey.FindStringSubmatch(line)
	return gap && row != nil && row[1] == "GENERAL.DEVICE" && m.configured["nmcli "+row[2]]
}

// nmcli parses a line of nmcli(1): of device show, of connection show about an active profile, and of
// the summary without arguments. Routes are left out, because they may not be all.
func (m *machine) nmcli(line string) bool {
	if row := nmcliKey.FindStringSubmatch(line); row != nil {
		return m.nmcliValue(row[1], strings.TrimSpace(row[2]))
	}
	if row := nmcliDevice.FindStringSubmatch(line); row != nil {
		return m.manage(row[1])
	}
	if nmcliHead.MatchString(line) || nmcliText.MatchString(line) || nmcliProfile.MatchString(line) {
		return m.ignore()
	}
	if !m.behind("nmcli") && !m.command.is("nmcli") {
		return false
	}
	if nmcliSetting.MatchString(line) || nmcliTable.MatchString(line) || nmcliLine.MatchString(line) {
		return m.ignore()
	}
	if m.managed == "" {
		return m.managerContext.device && indented(line) && m.ignore()
	}
	i := m.interfaceOf(m.managed)
	if row := nmcliLink.FindStringSubmatch(line); row != nil {
		kind, known := managerKinds[row[1]]
		if known && i.Kind == "" {
			i.Kind = kind
		}
		for _, part := range strings.Split(row[3], ", ") {
			if address, is := mac(part); is {
				i.MAC = address
			} else if mtu, is := strings.CutPrefix(part, "mtu "); is {
				i.MTU = min(max(number(mtu), 0), 1<<20)
			}
		}
		if driver := row[2]; strings.Contains(row[3], ", hw") && wordlike.MatchString(driver) {
			m.nicOf(m.managed).Driver = driver
		}
		return true
	}
	words := strings.Fields(line)
	p, err := netip.ParsePrefix(command(words).after(words[0]))
	if err == nil && (words[0] == "inet4" || words[0] == "inet6") {
		m.address(i, p)
		return true
	}
	return false
}

// nmcliValue stores the value of a key.
func (m *machine) nmcliValue(key, value string) bool {
	if key == "GENERAL.DEVICE" || key == "GENERAL.DEVICES" {
		if m.configured == nil {
			m.configured = map[string]bool{}
		}
		if len(m.configured) < mostInterfaces && key == "GENERAL.DEVICE" {
			m.configured["nmcli "+value] = true
		}
		return m.manage(value)
	}
	if m.managed == "" || value == "--" || value == "" {
		return m.ignore()
	}
	i := m.interfaceOf(m.managed)
	switch key {
	case "GENERAL.TYPE":
		if kind := managerKinds[value]; i.Kind == "" {
			i.Kind = kind
		}
		if value == "wifi" {
			m.nicOf(m.managed).Wireless = true
		}
	case "GENERAL.HWADDR":
		address, is := mac(value)
		if i.MAC = address; !is {
			return m.ignore()
		}
	case "GENERAL.MTU":
		i.MTU = min(max(number(value), 0), 1<<20)
	case "GENERAL.DRIVER":
		if !wordlike.MatchString(value) || i.Kind != "" {
			return m.ignore()
		}
		m.nicOf(m.managed).Driver = value
	case "WIRED-PROPERTIES.CARRIER", "CAPABILITIES.CARRIER":
		if value != "on" && value != "off" {
			return m.ignore()
		}
		m.note(m.managed).noCarrier = value == "off"
	case "CAPABILITIES.SPEED": // "1000 Mb/s"
		mbps, is := strings.CutSuffix(value, " Mb/s")
		if !is || number(mbps) <= 0 || i.Kind != "" {
			return m.ignore()
		}
		m.nicOf(m.managed).SpeedMbps = int64(number(mbps))
	case "IP4.ADDRESS", "IP6.ADDRESS":
		p, err := netip.ParsePrefix(value)
		if err != nil {
			return m.ignore()
		}
		m.address(i, p)
	default:
		return m.ignore()
	}
	return true
}

// networkctl parses a line of networkctl(1). Its addresses lack the length of the prefix.
func (m *machine) networkctl(line string) bool {
	if row := networkctlHead.FindStringSubmatch(line); row != nil {
		if m.manage(row[2]) && m.managed != "" {
			m.interfaceOf(m.managed).Index = number(row[1])
		}
		return true
	}
	row := networkctlKey.FindStringSubmatch(line)
	switch {
	case strings.HasPrefix(line, "IDX LINK "):
		return m.ignore()
	case !m.behind("networkctl") && !m.command.is("networkctl"):
		return false
	case networkctlRow.MatchString(line):
		return m.ignore()
	case row == nil: // a further address
		text, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, err := netip.ParseAddr(text)
		return indented(line) && err == nil && m.ignore()
	case slices.Contains(networkctlKeys, row[1]):
		return m.ignore()
	}
	value, known := strings.TrimSpace(row[2]), m.managed != ""
	if !known {
		return slices.Contains(networkctlValues, row[1]) && m.ignore()
	}
	i := m.interfaceOf(m.managed)
	switch row[1] {
	case "Type", "Kind":
		if kind := managerKinds[value]; i.Kind == "" {
			i.Kind = kind
		}
		if value == "wlan" {
			m.nicOf(m.managed).Wireless = true
		}
	case "Hardware Address", "HW Address":
		address, _, _ := strings.Cut(value, " ")
		if a, is := mac(address); is {
			i.MAC = a
		}
	case "MTU":
		mtu, _, _ := strings.Cut(value, " ")
		i.MTU = min(max(number(mtu), 0), 1<<20)
	case "Driver":
		if i.Kind == "" && wordlike.MatchString(value) {
			m.nicOf(m.managed).Driver = plain.Short(value, longestName)
		}
	case "State":
		state, _, _ := strings.Cut(value, " ")
		m.note(m.managed).noCarrier = state == "no-carrier"
	case "Speed":
		if speed := speedRow.FindStringSubmatch(value); speed != nil && i.Kind == "" {
			n, _ := strconv.ParseFloat(speed[1], 64)
			m.nicOf(m.managed).SpeedMbps = int64(n * map[string]float64{"M": 1, "G": 1000}[speed[2]])
		}
	case "Duplex":
		if i.Kind == "" && slices.Contains([]string{"full", "half"}, value) {
			m.nicOf(m.managed).Duplex = value
		}
	case "Auto negotiation":
		if on := value == "yes"; i.Kind == "" && (on || value == "no") {
			m.nicOf(m.managed).Autoneg = &on
		}
	default:
		return false
	}
	return true
}
