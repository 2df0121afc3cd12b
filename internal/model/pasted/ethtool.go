package pasted

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pattern"
)

// ethtools has what is known about a machine's NICs while its text is parsed.
type ethtools struct {
	latest string          // interface of the previous block
	blocks map[string]bool // "Settings eth0"
	nics   map[string]int  // index of each NIC
	fixed  map[string]bool // NICs that do not support autonegotiation
	// rssTables has the RSS table of each NIC, row by row. rssEntries is the number of their entries.
	rssTables  map[string][]uint32
	rssEntries int
	// counters has all counters of the drivers by interface, including those that are 0.
	// counterRows is their number.
	counters    map[string]map[string]int64
	counterRows int
}

// ethtoolState is what rows of a block of ethtool(8) depend on.
type ethtoolState struct {
	// most reports whether the rows of rings and channels contain maximum values.
	most bool
	// old reports whether the block of features has the head of ethtool before version 3.4, which
	// prints groups of features without their members.
	old bool
	// counting reports whether a counter of the block was read.
	counting bool
	// part is the part of the block of -x and -n that the rows belong to.
	part string
	// flow is the rule of -u whose lines are read: its location and the words of the rule.
	flow []string
}

var _ = register(&format{name: "ethtool", part: "nics", row: reads((*machine).ethtool), again: (*machine).sameNIC,
	command: func(c command) bool { return c.is("ethtool") && !c.has("--json", "-j") }, sure: func(line string) bool {
		head, _ := blockOf(line)
		return head != ""
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
	{"Offload parameters", "", nil, (*machine).feature},
	{"Ring parameters", "-g", []string{"--show-ring"}, (*machine).ring},
	{"Channel parameters", "-l", []string{"--show-channels"}, (*machine).channel},
	{"Coalesce parameters", "-c", []string{"--show-coalesce"}, (*machine).coalescing},
	{"Pause parameters", "-a", []string{"--show-pause"}, (*machine).pause},
	{"NIC statistics", "-S", []string{"--statistics"}, (*machine).statistic},
	{"driver", "-i", []string{"--driver"}, (*machine).driver},
	{"RX flow hash indirection table", "-x", []string{"--show-rxfh-indir", "--show-rxfh"}, (*machine).spreading},
	{"FEC parameters", "", []string{"--show-fec"}, (*machine).fec},
	{"Module", "-m", []string{"--dump-module-eeprom", "--module-info"}, (*machine).module},
	{"Rules", "-n", []string{"-u", "--show-nfc", "--show-ntuple"}, (*machine).steering},
	{"Time stamping parameters", "-T", []string{"--show-time-stamping"}, (*machine).stamping},
	{"EEE settings", "", []string{"--show-eee"}, idleRows(`^\s+\S`)},
	{"Permanent address", "-P", []string{"--show-permaddr"}, idleRows(`^Permanent address: `)},
	{"Standard stats", "", nil, idleRows(`^[a-z]+-[\w-]+: \d{1,20}$|^\s+\S`)},
	{"Registers", "-d", []string{"--register-dump"}, idleRows(``)},
}

var (
	blockHead = pattern.MustCompile(
		`^([A-Z][A-Za-z]+(?: [a-z]+){0,4}) for ([^\s:]{1,15})(?: with \d{1,5} RX ring\(s\))?:$`)
	nameless = pattern.MustCompile(`^(?:(NIC statistics|driver):|(Permanent address): |` +
		`\s*Identifier\s+: 0x[0-9a-f]{2} \(|` +
		`(\d{1,5} RX rings available)$)`)
	keyed     = pattern.MustCompile(`^\s*(\S[^:]{0,60}?)\s*:\s*(.*)$`)
	ifname    = pattern.MustCompile(`^[^\s/:-][^\s/:]{0,14}$`)
	ofEthtool = pattern.MustCompile(`^(netlink error.*|Cannot get .*|no stats available|rmgr: .*|rxclass: .*|` +
		`RX classification rule retrieval failed|No data available|Operation not supported)$`)
	linkMode = pattern.MustCompile(`^(\d{2,7})base`)
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
		case word == "-I" || word == "--include-statistics" || word == "--debug":
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

// headOf returns the block that a line begins, and its interface. Empty: it begins none that is
// known.
func (m *machine) headOf(line string) (head, of string) {
	head, of = blockOf(line)
	if head != "" && of == "" {
		of = m.unnamed()
	}
	return head, of
}

// blockOf returns the block that a line begins, and its interface if the line names it.
func blockOf(line string) (head, of string) {
	if h := blockHead.FindStringSubmatch(line); h != nil {
		name := h[1]
		if name == "EEE Settings" {
			name = "EEE settings"
		}
		if slices.ContainsFunc(ethtoolBlocks, func(b block) bool { return b.head == name }) {
			return name, h[2]
		}
		return "", ""
	}
	if h := nameless.FindStringSubmatch(line); h != nil {
		if h[3] != "" {
			return "Rules", ""
		}
		return cmp.Or(h[1], h[2], "Module"), ""
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
	if ofEthtool.MatchString(line) {
		return m.ignore()
	}
	if head == "" && m.device == "" {
		m.device = m.unnamed()
	} else if head != "" {
		m.block, m.device, m.eth = head, of, ethtoolState{old: head == "Offload parameters"}
	}
	i := slices.IndexFunc(ethtoolBlocks, func(b block) bool { return b.head == m.block })
	if i < 0 {
		return false
	}
	m.latest = m.device
	lists.Put(&m.blocks, m.block+" "+m.device, true)
	if blockHead.MatchString(line) || head == "NIC statistics" {
		return m.ignore()
	}
	return ethtoolBlocks[i].row(m, m.nicOf(m.device), strings.TrimRight(line, " \t"))
}

// idleRows reads the rows of a block that no rule uses.
func idleRows(rows string) func(*machine, *netstate.NIC, string) bool {
	matcher := pattern.MustCompile(rows)
	return func(m *machine, _ *netstate.NIC, line string) bool { return matcher.MatchString(line) && m.ignore() }
}

// partTitles are lines of ethtool and teamdctl that look like the name of a machine.
var partTitles = []string{"Capabilities", "Statistics", "setup", "ports", "runner"}

// nicOf returns the NIC of an interface, which it adds if it is new.
func (m *machine) nicOf(name string) *netstate.NIC {
	if m.nics == nil {
		m.nics = map[string]int{}
	}
	list := &m.State.NICs
	n, has := m.nics[name]
	if !has {
		if len(*list) >= mostInterfaces || m.netif(name) < 0 {
			return &netstate.NIC{} // and it is dropped
		}
		n = len(*list)
		m.nics[name] = n
		*list = append(*list, netstate.NIC{Interface: name, Carrier: true}) // until the text says otherwise
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
