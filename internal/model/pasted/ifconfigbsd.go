package pasted

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
	"linerate/internal/model/plain"
)

// bsdContext is the state on which the meaning of a line of ifconfig of a BSD depends.
type bsdContext struct {
	supported bool // whether media that the port supports follow
}

var (
	// "media: Ethernet autoselect (1000baseT <full-duplex,rxpause,txpause>)"
	mediaRow = pattern.MustCompile(`^media: ?(.*)$`)
	// "1000baseT <half-duplex>": the part in parentheses is what was negotiated
	mediaMode = pattern.MustCompile(`^(\d{1,4}(?:\.\d)?)(G?)(?:base|Base|BASE)-?(\w*)\S*(?: <?([a-z0-9,-]+)>?)?`)
	// "media 1000baseT mediaopt full-duplex", of ifconfig -m
	supportedRow = pattern.MustCompile(`^media (\S+)(?: mediaopt|$)`)
	laggPortRow  = pattern.MustCompile(`^(?:laggport:|trunkport|member:) (\S{1,15})(?: (.*))?$`)
	laggModeRow  = pattern.MustCompile(`^(?:laggproto|trunk: trunkproto|bond mode:) (\w+)\b`)
	bsdVLAN      = pattern.MustCompile(`^(?:vlan: (\d{1,4}) (?:.* )?parent interface: (\S+)` +
		`|encap: vnetid (\d{1,4}) parent (\S+).*)$`)
	// "(8000,02:0d:b9:00:00:02,405C,0000,0000)]", of LACP
	aggregator = pattern.MustCompile(`^\([0-9A-F]{4},[0-9A-Fa-f:-]{17},`)
	moduleRow  = pattern.MustCompile(`^module temperature: (-?\d{1,3}(?:\.\d+)?) C\b`)
	lanePower  = pattern.MustCompile(`^(?:lane \d+: )?RX(?: power)?: [\d.]+ mW \((-?\d{1,2}(?:\.\d+)?) dBm\)`)
	vendorRow  = pattern.MustCompile(`^vendor: (.*?) PN: (\S+)(?: SN: .*)?$`)
)

// bsdKinds maps drivers of software interfaces of FreeBSD, OpenBSD and macOS to kinds of Linux where
// one has the same meaning, and otherwise to themselves. An interface has the name of its driver and
// a number.
var bsdKinds = map[string]string{"lagg": "bond", "trunk": "bond", "aggr": "bond", "bond": "bond", "bridge": "bridge",
	"vlan": "vlan", "svlan": "vlan", "epair": "veth", "pair": "veth", "vether": "dummy", "tun": "tun", "tap": "tun",
	"utun": "tun", "gif": "ipip", "gre": "gre", "egre": "gretap", "wg": "wireguard", "vxlan": "vxlan", "ipsec": "xfrm",
	"sec": "xfrm", "stf": "sit", "ppp": "ppp", "pppoe": "ppp", "ng": "ng", "enc": "enc", "pflog": "pflog",
	"pfsync": "pfsync", "carp": "carp", "mpe": "mpe", "faith": "faith", "disc": "disc", "feth": "veth", "awdl": "awdl",
	"llw": "llw", "anpi": "anpi", "XHC": "XHC", "VHC": "VHC", "ap": "ap", "plip": "plip", "usbus": "usbus"}

// kindOfBSD returns the kind of an interface by its name; empty: it is hardware, or not known.
func kindOfBSD(name string) string {
	if kind := kindOfName(name); kind != "" {
		return kind
	}
	return bsdKinds[strings.TrimRight(name, "0123456789")]
}

// bsdWords are words with which lines begin that no rule uses.
var bsdWords = strings.Fields(`options= options capabilities= capabilities nd6 groups: priority: fib: hwaddr
	description: desc: drivername: Opened plugged: parent
	lagg flags= flowid_shift: active flapping: lag lagghash trunk: trunk bond
	tunnel tunnel: encap: parent: txprio rxprio patch: dev: sid: sppp: dns: carp: vhid pfsync: syncpeer
	id maxage maxaddr root designated: ifmaxaddr port ipfilter Configuration: member
	ssid channel regdomain country authmode privacy deftxkey AES-CCM protmode ampdulimit bmiss roaming wme scanvalid txpower
	ieee80211: nwid wgpubkey wgport wgpeer wgpsk wgendpoint wgaip tx: last
	agent netif: flowswitch: eflags= xflags= type: link scheduler: uplink uplink/downlink state low multi routermode4:
	routermode6: timestamp: qosmarking generation`)

// ifconfigBSD parses a line of ifconfig of FreeBSD, OpenBSD or macOS without its indentation.
func (m *machine) ifconfigBSD(i *netstate.InterfaceSnapshot, text string) bool {
	words := strings.Fields(text)
	if m.bsdContext.supported {
		if row := supportedRow.FindStringSubmatch(text); row != nil {
			nic := m.nicOf(i.Interface)
			nic.BestMbps = max(nic.BestMbps, mediaMbps(row[1]))
			return true
		}
		m.bsdContext.supported = false
	}
	switch words[0] {
	case "ether", "lladdr", "address:":
		address, is := mac(command(words).after(words[0]))
		if i.MAC = address; !is {
			i.MAC = ""
		}
		return is
	case "status:":
		return m.bsdStatus(i, strings.TrimSpace(strings.TrimPrefix(text, "status:")))
	case "index": // "index 6 priority 0 llprio 3"
		i.Index = max(number(command(words).after("index")), 0)
		return true
	case "supported":
		m.bsdContext.supported = strings.HasPrefix(text, "supported media:")
		return m.bsdContext.supported && m.ignore()
	}
	if row := mediaRow.FindStringSubmatch(text); row != nil {
		m.bsdMedia(i, row[1])
		return true
	}
	if row := laggModeRow.FindStringSubmatch(text); row != nil {
		m.bondOf(i.Interface).Mode = laggModes[row[1]]
		return true
	}
	if row := laggPortRow.FindStringSubmatch(text); row != nil {
		m.bsdPort(i, row)
		return true
	}
	if row := bsdVLAN.FindStringSubmatch(text); row != nil {
		i.Kind = "vlan"
		m.vlanID(i, row[1]+row[3])
		m.note(i.Interface).over = row[2] + row[4]
		return true
	}
	if m.bsdModule(i, text) {
		return true
	}
	if aggregator.MatchString(text) {
		return m.ignore()
	}
	key, _, is := strings.Cut(words[0], "=")
	return (slices.Contains(bsdWords, words[0]) || is && slices.Contains(bsdWords, key+"=")) && m.ignore()
}

// laggModes maps protocols of lagg(4), trunk(4) and bond(4) to modes of Linux that do the same.
var laggModes = map[string]string{"lacp": "802.3ad", "failover": "active-backup", "loadbalance": "balance-xor",
	"roundrobin": "balance-rr", "broadcast": "broadcast"}

// bsdPort stores a member of a bond or a bridge: "laggport: ix0 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING>",
// "trunkport em0 active,collecting,distributing", "member: em0 flags=143<LEARNING,DISCOVER>".
func (m *machine) bsdPort(i *netstate.InterfaceSnapshot, row []string) {
	if !wordlike.MatchString(row[1]) || row[1] == i.Interface {
		return
	}
	m.note(row[1]).master = i.Interface
	if i.Kind == "bridge" || strings.HasPrefix(row[0], "member:") {
		m.bridgePort(i.Interface, row[1])
		return
	}
	s := m.member(i.Interface, row[1])
	s.State = "backup"
	if strings.Contains(strings.ToUpper(row[2]), "ACTIVE") {
		s.State = "active"
	}
}

// bsdStatus stores the state of a link: "active", "no carrier". The states of other devices, such as
// carp(4) and pppoe(4), are not kept.
func (m *machine) bsdStatus(i *netstate.InterfaceSnapshot, status string) bool {
	switch status {
	case "active", "associated":
		m.carrier(i.Interface, true)
	case "no carrier", "inactive", "no network":
		m.carrier(i.Interface, false)
	default:
		return m.ignore()
	}
	return true
}

// bsdMedia stores the medium of a port: what was negotiated, otherwise what is set.
//
//	Ethernet autoselect (1000baseT <full-duplex,rxpause,txpause>)
//	Ethernet 10Gbase-LR <full-duplex,rxpause,txpause>
//	autoselect (100baseTX <half-duplex>)
//	IEEE 802.11 Wireless Ethernet MCS mode 11ng
func (m *machine) bsdMedia(i *netstate.InterfaceSnapshot, text string) {
	if strings.HasPrefix(text, "IEEE 802.11") || strings.HasPrefix(text, "IEEE802.11") {
		m.nicOf(i.Interface).Wireless = true
		return
	}
	text = strings.TrimPrefix(text, "Ethernet ")
	auto := strings.HasPrefix(text, "autoselect")
	if _, inner, is := strings.Cut(text, "("); is {
		text = strings.TrimSuffix(inner, ")")
	}
	mode := mediaMode.FindStringSubmatch(text)
	if mode == nil {
		return
	}
	nic := m.nicOf(i.Interface)
	nic.SpeedMbps = mediaMbps(text)
	for _, option := range strings.Split(mode[4], ",") {
		if duplex, is := strings.CutSuffix(option, "-duplex"); is && (duplex == "full" || duplex == "half") {
			nic.Duplex = duplex
		}
	}
	// Optical ports do not negotiate in general; the name of the medium of those that do ends with T.
	if auto || strings.HasPrefix(mode[3], "T") && mode[2] == "" {
		nic.Autoneg = &auto
	}
}

// mediaMbps returns the speed of a medium in Mbit/s: "1000baseT", "10Gbase-LR", "2.5GBase-T".
func mediaMbps(text string) int64 {
	mode := mediaMode.FindStringSubmatch(text)
	if mode == nil {
		return 0
	}
	n, err := strconv.ParseFloat(mode[1], 64)
	if mode[2] != "" {
		n *= 1000
	}
	if err != nil || n > 1e6 {
		return 0
	}
	return int64(n)
}

// bsdModule parses a line of ifconfig -v about a pluggable module.
func (m *machine) bsdModule(i *netstate.InterfaceSnapshot, text string) bool {
	module := func() *netstate.Module {
		nic := m.nicOf(i.Interface)
		if nic.Module == nil {
			nic.Module = &netstate.Module{}
		}
		return nic.Module
	}
	if row := vendorRow.FindStringSubmatch(text); row != nil {
		o := module()
		o.Vendor, o.Part = plain.Short(row[1], longestName), plain.Short(row[2], longestName)
		return true
	}
	if row := moduleRow.FindStringSubmatch(text); row != nil {
		module().TemperatureC, _ = strconv.ParseFloat(row[1], 64)
		return true
	}
	if row := lanePower.FindStringSubmatch(text); row != nil {
		if o := module(); len(o.RxPowerDBm) < 16 {
			power, _ := strconv.ParseFloat(row[1], 64)
			o.RxPowerDBm = append(o.RxPowerDBm, power)
		}
		return true
	}
	return false
}
