package setting

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/source"
)

// NIC sets options of an interface, its driver, queues and interrupts. Groups, keys and values are
// those of ethtool(8) and of files of sysfs and procfs. Options that are absent are not changed.
type NIC struct {
	Interface string   `yaml:"interface,required" json:"interface" doc:"the interface to change"`
	Features  []Option `yaml:"features" json:"features,omitempty"`
	Rings     []Option `yaml:"rings" json:"rings,omitempty"`
	Channels  []Option `yaml:"channels" json:"channels,omitempty"`
	Coalesce  []Option `yaml:"coalesce" json:"coalesce,omitempty"`
	Pause     []Option `yaml:"pause" json:"pause,omitempty"`
	RSS       []Option `yaml:"rss" json:"rss,omitempty"`
	Steering  []Option `yaml:"steering" json:"steering,omitempty"`
	Queues    []Option `yaml:"queues" json:"queues,omitempty"`
	NAPI      []Option `yaml:"napi" json:"napi,omitempty"`
	IRQs      []Option `yaml:"irqs" json:"irqs,omitempty"`
}

// Option is an option of a group: its key and its value.
type Option struct {
	Key   string `yaml:",key" json:"key"`
	Value string `yaml:",value" json:"value"`
}

// NICGroup is a group of options.
type NICGroup struct {
	Name string
	Flag string // of ethtool(8), followed by the interface and pairs of a key and a value; empty: there is none
	Doc  string
	// Keys are the accepted options. Nil: they depend on the interface (features have the kernel's
	// names and the short ones of ethtool(8)).
	Keys  map[string]OptionValue
	Other OptionValue // accepted values of keys that depend on the interface
	// Of returns the options of the group in a NIC.
	Of func(*NIC) *[]Option
}

// OptionValue describes the values that an option accepts.
type OptionValue struct {
	Doc   string
	wrong func(string) bool
	why   func(string) string // explains why a value is wrong; nil: Doc says what is accepted
}

// Values of options.
var (
	onOff = OptionValue{Doc: "on or off", wrong: func(s string) bool { return s != "on" && s != "off" }}
	count = OptionValue{Doc: "a whole number", wrong: func(s string) bool {
		_, err := strconv.ParseUint(s, 10, 32)
		return err != nil
	}}
	bitmap = OptionValue{Doc: "a bitmap of CPUs in hexadecimal, as in sysfs: 3 is CPUs 0 and 1",
		wrong: func(s string) bool { return !isBitmap(s) }}
	cpuList = OptionValue{Doc: "a list of CPUs such as 0-3,8, or spread for one CPU after the other",
		wrong: func(s string) bool { _, err := ParseCPUs(s); return s != "spread" && err != nil }}
	table = OptionValue{Doc: "equal N, weight N N …, or the queue of each entry, with N*M for M entries",
		wrong: func(s string) bool { return !isTable(s) }}
	rule   = OptionValue{Doc: "a rule such as tcp4 dst-port 80 action 2, or none", why: wrongFlowRule}
	hashed = OptionValue{Doc: "letters of ethtool's rx-flow-hash: m, v, t, s, d, f, n, r", wrong: func(s string) bool {
		return s == "" || strings.Trim(s, HashLetters) != ""
	}}
)

// HashLetters has a letter for each field of a packet that RSS can hash, in the order of the bits
// (RXH_L2DA and following in linux/ethtool.h).
const HashLetters = "mvtsdfnr"

// NICGroups lists all groups in the order in which they are applied: channels before the table that
// distributes packets to them, and before their files.
var NICGroups = []NICGroup{
	{"features", "-K",
		"offloads and other features, on or off: gro, tso, gso, rx, tx, sg, lro, rx-gro-hw … (ethtool -K)",
		nil, onOff, func(n *NIC) *[]Option { return &n.Features }},
	{"rings", "-G", "descriptors of the receive and transmit rings (ethtool -G)",
		keys(count, "rx", "rx-mini", "rx-jumbo", "tx"), OptionValue{}, func(n *NIC) *[]Option { return &n.Rings }},
	{"channels", "-L", "number of queues (ethtool -L)",
		keys(count, "rx", "tx", "combined"), OptionValue{}, func(n *NIC) *[]Option { return &n.Channels }},
	{"coalesce", "-C",
		"interrupt moderation: delay in microseconds or number of frames before an interrupt (ethtool -C)",
		with(keys(count, "rx-usecs", "rx-frames", "tx-usecs", "tx-frames"), onOff, "adaptive-rx", "adaptive-tx"),
		OptionValue{}, func(n *NIC) *[]Option { return &n.Coalesce }},
	{"pause", "-A", "flow control by pause frames (ethtool -A)",
		keys(onOff, "autoneg", "rx", "tx"), OptionValue{}, func(n *NIC) *[]Option { return &n.Pause }},
	{"rss", "",
		"which receive queue a packet goes to: the indirection table (ethtool -X), and the fields that are hashed " +
			"for each kind of packet (ethtool -N DEV rx-flow-hash)",
		with(keys(hashed, "tcp4", "udp4", "sctp4", "tcp6", "udp6", "sctp6"), table, "table"), OptionValue{},
		func(n *NIC) *[]Option { return &n.RSS }},
	{"steering", "",
		"rules that direct packets to a receive queue, or drop them, by their location, a number: what follows " +
			"flow-type in ethtool(8), or none to remove what is there (ethtool -N DEV flow-type … loc N)",
		keys(rule, location), OptionValue{}, func(n *NIC) *[]Option { return &n.Steering }},
	{"queues", "", "files of all queues, or of one as in rx-0/rps_cpus (Documentation/networking/scaling.rst)",
		with(keys(bitmap, "rps_cpus", "xps_cpus", "xps_rxqs"), count, "rps_flow_cnt"), OptionValue{},
		func(n *NIC) *[]Option { return &n.Queues }},
	{"napi", "", "files of the interface for polling (Documentation/networking/napi.rst)",
		keys(count, "threaded", "gro_flush_timeout", "napi_defer_hard_irqs"), OptionValue{}, func(n *NIC) *[]Option {
			return &n.NAPI
		}},
	{"irqs", "",
		"the CPUs that serve the interface's interrupts, all of them or one as in 30/smp_affinity_list; " +
			"machine-wide (Documentation/core-api/irq/irq-affinity.rst)",
		keys(cpuList, "smp_affinity_list"), OptionValue{}, func(n *NIC) *[]Option { return &n.IRQs }},
}

// location is the documented key of the group steering, whose keys are numbers.
const location = "location"

func keys(value OptionValue, names ...string) map[string]OptionValue {
	return with(map[string]OptionValue{}, value, names...)
}

func with(all map[string]OptionValue, value OptionValue, names ...string) map[string]OptionValue {
	for _, name := range names {
		all[name] = value
	}
	return all
}

// Describe documents the keys for package source.
func (NIC) Describe(key string) (doc string, enum []string) {
	for _, g := range NICGroups {
		if g.Name != key {
			continue
		}
		if g.Keys == nil {
			return g.Doc, nil
		}
		return g.Doc + ": " + strings.Join(g.names(), ", "), nil
	}
	return "", nil
}

func (g NICGroup) names() (list []string) {
	for name := range g.Keys {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// NICOption is an option with its group.
type NICOption struct {
	Group string
	Option
}

// Options lists the given options in the order in which they are applied.
func (n NIC) Options() (list []NICOption) {
	for _, g := range NICGroups {
		list = append(list, lists.Map(*g.Of(&n), func(o Option) NICOption { return NICOption{g.Name, o} })...)
	}
	return list
}

// With returns a NIC with the same interface and only the option o.
func (n NIC) With(o NICOption) NIC {
	one := NIC{Interface: n.Interface}
	for _, g := range NICGroups {
		if g.Name == o.Group {
			*g.Of(&one) = []Option{o.Option}
		}
	}
	return one
}

// Check returns the place of the first mistake in the setting, such as "rings.rx", and what is
// wrong. Empty: nothing is wrong. It does not know what the interface supports.
func (n NIC) Check() (place, why string) {
	if len(n.Options()) == 0 {
		names := lists.Map(NICGroups, func(g NICGroup) string { return g.Name })
		return "", "nothing to change: expected " + source.Or(names)
	}
	for _, g := range NICGroups {
		for _, o := range *g.Of(&n) {
			if why := g.check(o); why != "" {
				return g.Name + "." + o.Key, why
			}
		}
	}
	return "", ""
}

func (g NICGroup) check(o Option) string {
	value, known := g.Keys[baseKey(g.Name, o.Key)]
	if g.Keys == nil {
		value, known = g.Other, wordOf(o.Key, "-_")
	}
	switch {
	case !known && g.Keys == nil:
		return fmt.Sprintf("%q is not the name of a feature, such as gro or tx-udp-segmentation", o.Key)
	case !known:
		return fmt.Sprintf("%s has no %q: expected %s%s", g.Name, o.Key, source.Or(g.names()),
			source.DidYouMean(o.Key, g.names()))
	case len(o.Value) <= mostOptionValue && value.why != nil:
		return value.why(o.Value)
	case len(o.Value) > mostOptionValue || value.wrong(o.Value):
		return fmt.Sprintf("%.40q is not %s", o.Value, value.Doc)
	}
	return ""
}

// mostOptionValue limits the bytes of a value. An indirection table has up to some thousand
// entries.
const mostOptionValue = 16 << 10

// baseKey returns the documented form of a key: rps_cpus for rx-0/rps_cpus, and location for a
// number in the group steering.
func baseKey(group, key string) string {
	if group == "steering" {
		if _, err := strconv.ParseUint(key, 10, 31); err == nil {
			return location
		}
		return ""
	}
	object, file, several := strings.Cut(key, "/")
	if !several {
		return key
	}
	switch number, queue := strings.CutPrefix(object, "rx-"); {
	case group == "irqs" && isNumber(object),
		group == "queues" && queue && isNumber(number) && strings.HasPrefix(file, "rps_"):
		return file
	}
	if number, queue := strings.CutPrefix(object, "tx-"); group == "queues" && queue && isNumber(number) &&
		strings.HasPrefix(file, "xps_") {
		return file
	}
	return key
}

func isNumber(text string) bool { _, err := strconv.ParseUint(text, 10, 16); return err == nil }

func wordOf(text, also string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(also, r))
	})
}

// isBitmap reports whether text has groups of up to eight hexadecimal digits, separated by commas.
func isBitmap(text string) bool {
	for word := range strings.SplitSeq(text, ",") {
		if _, err := strconv.ParseUint(word, 16, 64); err != nil || len(word) > 8 && strings.Contains(text, ",") {
			return false
		}
	}
	return true
}

// Bitmap normalises a bitmap: no leading zeros, groups of eight digits. Equal sets of CPUs have the
// same text.
func Bitmap(text string) string {
	var digits strings.Builder
	for i, word := range strings.Split(text, ",") {
		if i > 0 {
			digits.WriteString(strings.Repeat("0", max(0, 8-len(word))))
		}
		digits.WriteString(strings.ToLower(word))
	}
	all := strings.TrimLeft(digits.String(), "0")
	if all == "" {
		return "0"
	}
	var groups []string
	for len(all) > 8 {
		groups = append(groups, all[len(all)-8:])
		all = all[:len(all)-8]
	}
	slices.Reverse(groups)
	return strings.Join(append([]string{all}, groups...), ",")
}

// mostCPU is the highest CPU number (CONFIG_NR_CPUS of distributions).
const mostCPU = 8191

// ParseCPUs parses a list of CPUs such as "0-3,8". The result is sorted without duplicates.
func ParseCPUs(text string) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		first, last, several := strings.Cut(part, "-")
		if !several {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err != nil || err2 != nil || from > to || to > mostCPU {
			return nil, fmt.Errorf("%.40q is not a list of CPUs such as 0-3,8", text)
		}
		for n := from; n <= to; n++ {
			list = append(list, int(n))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// CPUs formats a list of CPUs like the kernel.
func CPUs(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if part := strconv.Itoa(list[i]); j > i {
			parts = append(parts, part+"-"+strconv.Itoa(list[j]))
		} else {
			parts = append(parts, part)
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// CPUGovernor is the Name of the Change that sets the governor of all CPUs.
const CPUGovernor = "cpu governor"

// CPU sets options of all CPUs.
type CPU struct {
	Governor string `yaml:"governor,required" json:"governor" doc:"the frequency governor, such as performance; machine-wide (Documentation/admin-guide/pm/cpufreq.rst)"`
}

// Check returns what is wrong. Empty: nothing.
func (c CPU) Check() string {
	if !wordOf(c.Governor, "_") {
		return fmt.Sprintf("%q is not the name of a governor, such as performance or schedutil", c.Governor)
	}
	return ""
}
