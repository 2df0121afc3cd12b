package pasted

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
)

// ethtools has what is known about a machine's NICs while its text is parsed.
type ethtools struct {
	latest string          // interface of the previous block
	blocks map[string]bool // "Settings eth0"
	nics   map[string]int  // index of each NIC
	fixed  map[string]bool // NICs that do not support autonegotiation
	// counters has all counters of the drivers by interface, including those that are 0.
	// counterRows is their number.
	counters    map[string]map[string]int64
	counterRows int
}

var _ = register(&format{name: "ethtool", part: "nics", row: reads((*machine).ethtool), again: (*machine).sameNIC,
	command: programs("ethtool"), sure: func(line string) bool {
		return blockHead.MatchString(line) || nameless.MatchString(line)
	}})

// block is a part of the output of ethtool(8) for an interface.
type block struct {
	head   string
	option string // option of ethtool(8) that prints it
	long   []string
	row    func(*machine, *netstate.NIC, string) bool
}

var ethtoolBlocks = []block{
	{head: "Settings", row: (*machine).linkSetting},
	{"Features", "-k", []string{"--show-features", "--show-offload"}, (*machine).feature},
	{"Ring parameters", "-g", []string{"--show-ring"}, (*machine).ring},
	{"Channel parameters", "-l", []string{"--show-channels"}, (*machine).channel},
	{"Coalesce parameters", "-c", []string{"--show-coalesce"}, (*machine).coalescing},
	{"Pause parameters", "-a", []string{"--show-pause"}, (*machine).pause},
	{"NIC statistics", "-S", []string{"--statistics"}, (*machine).statistic},
	{"driver", "-i", []string{"--driver"}, (*machine).driver},
}

var (
	blockHead = regexp.MustCompile(`^([A-Z][a-z]+(?: parameters)?) for ([^\s:]{1,15}):$`)
	nameless  = regexp.MustCompile(`^(NIC statistics|driver):`)
	keyed     = regexp.MustCompile(`^\s*(\S[^:]{0,60}):\s*(.*)$`)
	ifname    = regexp.MustCompile(`^[^\s/:-][^\s/:]{0,14}$`)
	ofEthtool = regexp.MustCompile(`^(netlink error|Cannot get .*|no stats available)`)
	linkMode  = regexp.MustCompile(`^(\d{2,7})base`)
)

// ethtoolBlock returns the block that a command prints, and its interface. Empty: unknown.
func (c command) ethtoolBlock() (head, of string) {
	if !c.is("ethtool") {
		return "", ""
	}
	head = "Settings"
	for _, word := range c[1:] {
		i := slices.IndexFunc(ethtoolOptions, func(o [2]string) bool { return o[0] == word })
		switch {
		case i >= 0:
			head = ethtoolOptions[i][1]
		case strings.HasPrefix(word, "-"):
			return "", "" // something else
		case ifname.MatchString(word):
			return head, word
		}
	}
	return head, ""
}

// ethtoolOptions lists the options of the blocks with their heads.
var ethtoolOptions = func() (list [][2]string) {
	for _, b := range ethtoolBlocks {
		for _, option := range append(b.long, b.option) {
			list = append(list, [2]string{option, b.head})
		}
	}
	return list
}()

// headOf returns the block that a line begins, and its interface.
func (m *machine) headOf(line string) (head, of string) {
	if h := blockHead.FindStringSubmatch(line); h != nil {
		return h[1], h[2]
	}
	if h := nameless.FindStringSubmatch(line); h != nil {
		return h[1], m.unnamed()
	}
	return "", ""
}

// unnamed returns the interface of a block that does not name it: that of the command or of the
// previous block, otherwise the only hardware interface, otherwise "nic".
func (m *machine) unnamed() string {
	if known := cmp.Or(m.device, m.latest); known != "" {
		return known
	}
	only := ""
	for _, i := range m.Reading.Snapshot.Interfaces {
		if i.Kind == "" && only != "" {
			only = "nic"
		} else if i.Kind == "" {
			only = i.Interface
		}
	}
	return cmp.Or(only, "nic")
}

// sameNIC reports whether a line begins a block that the machine already has.
func (m *machine) sameNIC(line string, _ bool) bool {
	head, of := m.headOf(line)
	return m.blocks[head+" "+of]
}

// ethtool parses a line of ethtool(8).
func (m *machine) ethtool(line string) bool {
	head, of := m.headOf(line)
	if head == "" && m.block == "" {
		return false
	}
	if head == "" && m.device == "" {
		m.device = m.unnamed()
	} else if head != "" {
		m.block, m.device = head, of
	}
	i := slices.IndexFunc(ethtoolBlocks, func(b block) bool { return b.head == m.block })
	if i < 0 {
		return head != ""
	}
	if ofEthtool.MatchString(line) {
		return true
	}
	if head != "" && head != "driver" {
		m.nic()
		return true
	}
	text := strings.TrimRight(line, " \t")
	return ethtoolBlocks[i].row(m, m.nic(), text)
}

// nic returns the NIC that the current lines belong to.
func (m *machine) nic() *netstate.NIC {
	if m.blocks == nil {
		m.blocks, m.nics = map[string]bool{}, map[string]int{}
	}
	m.latest = m.device
	m.blocks[m.block+" "+m.device] = true
	list := &m.State.NICs
	n, has := m.nics[m.device]
	if !has {
		if len(*list) >= mostInterfaces || m.netif(m.device) < 0 {
			return &netstate.NIC{} // and it is dropped
		}
		n = len(*list)
		m.nics[m.device] = n
		*list = append(*list, netstate.NIC{Interface: m.device, Carrier: true}) // until the text says otherwise
	}
	return &(*list)[n]
}

// number parses a number of ethtool; "n/a" and "Unknown!" are 0.
func number(text string) int {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// linkSetting parses a line of ethtool IF. Link modes continue on the following lines.
func (m *machine) linkSetting(nic *netstate.NIC, line string) bool {
	row := keyed.FindStringSubmatch(line)
	if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, " ") {
		return false
	}
	key, value := m.modes, strings.TrimSpace(line)
	if row != nil {
		key, value = row[1], row[2]
	}
	m.modes = key
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
		if m.fixed == nil {
			m.fixed = map[string]bool{}
		}
		m.fixed[nic.Interface] = value == "No"
	case "Auto-negotiation":
		// A device without modes does not negotiate.
		if on := value == "on"; nic.BestMbps > 0 && !m.fixed[nic.Interface] {
			nic.Autoneg = &on
		}
	case "Link detected":
		nic.Carrier = strings.HasPrefix(value, "yes")
		nic.OperState = map[bool]string{true: "up", false: "down"}[nic.Carrier]
	}
	return true
}

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

// features maps ethtool's names of features to the kernel's if they differ. An empty name stands for
// a group, whose features are on the following lines.
var features = map[string]string{
	"rx-checksumming": "rx-checksum", "tcp-segmentation-offload": "tx-tcp-segmentation",
	"generic-segmentation-offload": "tx-generic-segmentation",
	"generic-receive-offload":      "rx-gro", "large-receive-offload": "rx-lro", "rx-vlan-offload": "rx-vlan-hw-parse",
	"tx-vlan-offload": "tx-vlan-hw-insert",
	"ntuple-filters":  "rx-ntuple-filter", "receive-hashing": "rx-hashing",
	"tx-checksumming": "", "scatter-gather": "", "udp-fragmentation-offload": "", // groups, whose members follow
}

// mostFeatures limits the features of an interface. Linux has fewer than 100.
const mostFeatures = 500

// feature parses a line of ethtool -k.
func (m *machine) feature(nic *netstate.NIC, line string) bool {
	row := keyed.FindStringSubmatch(line)
	if row == nil {
		return false
	}
	state, rest, _ := strings.Cut(row[2], " ")
	if state != "on" && state != "off" {
		return false
	}
	name := row[1]
	if other, has := features[name]; has {
		name = other
	}
	on, fixed := state == "on", strings.Contains(rest, "[fixed]")
	if name == "" || fixed && !on || len(nic.Features) >= mostFeatures { // the interface does not support it
		return true
	}
	if nic.Features == nil {
		nic.Features = map[string]bool{}
	}
	nic.Features[name] = on
	if fixed && !slices.Contains(nic.Fixed, name) {
		nic.Fixed = append(nic.Fixed, name)
	}
	if !on && strings.Contains(rest, "[requested on]") && !slices.Contains(nic.Unmet, name) {
		nic.Unmet = append(nic.Unmet, name)
	}
	return true
}

// maximums reports whether lines of rings and channels contain maximum values, which a head
// announces. Head reports whether the line is such a head.
func (m *machine) maximums(line string) (most, head bool) {
	switch strings.TrimSpace(line) {
	case "Pre-set maximums:":
		m.most = true
		return m.most, true
	case "Current hardware settings:":
		m.most = false
		return m.most, true
	}
	return m.most, false
}

// ring parses a line of ethtool -g.
func (m *machine) ring(nic *netstate.NIC, line string) bool {
	most, head := m.maximums(line)
	row := keyed.FindStringSubmatch(line)
	if head || row == nil {
		return head
	}
	if nic.Rings == nil {
		nic.Rings = &netstate.Rings{}
	}
	set(row, most, map[string][2]*int{"RX": {&nic.Rings.Rx, &nic.Rings.MostRx},
		"TX": {&nic.Rings.Tx, &nic.Rings.MostTx}})
	return slices.Contains([]string{"RX", "TX", "RX Mini", "RX Jumbo", "RX Buf Len", "CQE Size", "TX Push", "RX Push",
		"TX push buff len", "TCP data split", "HDS thresh"}, row[1])
}

// set stores the value of a row in one of fields: the current or the maximum one.
func set(row []string, most bool, fields map[string][2]*int) {
	if field, has := fields[row[1]]; has && most {
		*field[1] = number(row[2])
	} else if has {
		*field[0] = number(row[2])
	}
}

// channel parses a line of ethtool -l.
func (m *machine) channel(nic *netstate.NIC, line string) bool {
	most, head := m.maximums(line)
	row := keyed.FindStringSubmatch(line)
	if head || row == nil {
		return head
	}
	if nic.Channels == nil {
		nic.Channels = &netstate.Channels{}
	}
	c := nic.Channels
	set(row, most, map[string][2]*int{"RX": {&c.Rx, &c.MostRx}, "TX": {&c.Tx, &c.MostTx},
		"Combined": {&c.Combined, &c.MostCombined}})
	return slices.Contains([]string{"RX", "TX", "Other", "Combined"}, row[1])
}

var (
	adaptive    = regexp.MustCompile(`^Adaptive RX:\s+(\S+)\s+TX:\s+(\S+)$`)
	coalesceKey = regexp.MustCompile(`^([a-z][a-z0-9-]*|CQE mode RX)$`)
)

// coalescing parses a line of ethtool -c.
func (m *machine) coalescing(nic *netstate.NIC, line string) bool {
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
	set(row, false, map[string][2]*int{"rx-usecs": {&c.RxUs}, "rx-frames": {&c.RxFrames}, "tx-usecs": {&c.TxUs},
		"tx-frames": {&c.TxFrames}})
	return true
}

// pause parses a line of ethtool -a.
func (m *machine) pause(nic *netstate.NIC, line string) bool {
	row := keyed.FindStringSubmatch(line)
	if row == nil {
		return false
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
		return row[1] == "RX negotiated" || row[1] == "TX negotiated"
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
		nic.Driver = value
	case "version":
		nic.Version = value
	case "firmware-version":
		nic.Firmware = value
	case "bus-info":
		nic.Bus = value
	default:
		return row[1] == "expansion-rom-version" || strings.HasPrefix(row[1], "supports-")
	}
	return true
}
