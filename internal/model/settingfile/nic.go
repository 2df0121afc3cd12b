package settingfile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"linerate/internal/model/pattern"
	"linerate/internal/model/setting"
)

// This file has what the formats share that have options of NICs and CPUs: the lines of such options,
// and commands of ethtool(8) and writes to sysfs within a line of text.

// anyInterface means every interface of a host, like "*" in [Match] of systemd.link(5).
const anyInterface = "*"

// nicKey is the prefix of the keys of lines with options of a NIC, as in setting.Lines ("nic eth0
// features gro"). The key of CPU options is setting.CPUGovernor.
const nicKey = "nic "

// IsOption reports whether the line is an option of a NIC, an interface or of CPUs. False: it is a
// kernel parameter.
func (l Line) IsOption() bool {
	return strings.HasPrefix(l.Key, nicKey) || l.Key == setting.CPUGovernor || !l.Tried()
}

// option returns the interface and the option of a line about a NIC. The interface "*" means every
// one.
func (l Line) option() (iface string, o setting.NICOption, ok bool) {
	words := strings.SplitN(l.Key, " ", 4)
	if len(words) != 4 || words[0]+" " != nicKey {
		return "", o, false
	}
	return words[1], setting.NICOption{Group: words[2], Option: setting.Option{Key: words[3], Value: l.Value}}, true
}

// InterfaceOf returns the interface in the key of a NIC option. Empty: the key is no such option,
// or applies to every interface.
func InterfaceOf(key string) string {
	iface, _, is := Line{Key: key}.option()
	if !is {
		iface, _ = device(key)
	}
	if iface == anyInterface {
		return ""
	}
	return iface
}

// Each returns a copy of the line for each of the interfaces if the line applies to every
// interface. Otherwise it returns only the line itself.
func (l Line) Each(interfaces []string) (list []Line) {
	iface, o, is := l.option()
	if !is || iface != anyInterface {
		return []Line{l}
	}
	for _, name := range interfaces {
		l.Key = strings.Join([]string{"nic", name, o.Group, o.Key}, " ")
		list = append(list, l)
	}
	return list
}

// On returns the line as a setting of a host.
func (l Line) On(host string) setting.Setting {
	if l.Key == setting.CPUGovernor {
		return setting.Setting{Host: host, CPU: &setting.CPU{Governor: l.Value}}
	}
	if iface, o, ok := l.option(); ok {
		n := setting.NIC{Interface: iface}.With(o)
		return setting.Setting{Host: host, NIC: &n}
	}
	return setting.Setting{Host: host, Sysctl: []setting.Sysctl{{Key: l.Key, Value: l.Value}}}
}

// MachineWide reports whether the option concerns CPUs or interrupts.
func (l Line) MachineWide() bool {
	_, o, _ := l.option()
	return l.Key == setting.CPUGovernor || o.Group == "irqs"
}

// Wrong returns what is wrong with an option of a NIC or of CPUs. Empty: nothing that is known.
func (l Line) Wrong() string {
	if l.Key == setting.CPUGovernor {
		return setting.CPU{Governor: l.Value}.Check()
	}
	if !l.Tried() {
		return l.wrongDevice()
	}
	iface, o, ok := l.option()
	if !ok {
		return ""
	}
	_, why := setting.NIC{Interface: iface}.With(o).Check()
	return why
}

// add appends an option found in line n of the file.
func (f *File) add(n int, iface, group, key, value string) {
	f.option(n, nicKey+iface+" "+group+" "+key, value)
}

// option appends an option found in line n of the file.
func (f *File) option(n int, key, value string) {
	if value = strings.Join(strings.Fields(value), " "); value == "" || strings.ContainsAny(key, "\t\n") {
		f.apart(Wrong, n, key, "expected a value")
		return
	}
	f.Lines = append(f.Lines, Line{File: f.Name, Line: n, Key: key, Value: value})
}

// longFlags maps the long options of ethtool(8) to the short ones of setting.NICGroups.
var longFlags = map[string]string{
	"--offload": "-K", "--features": "-K", "--set-ring": "-G", "--set-channels": "-L", "--coalesce": "-C",
	"--pause": "-A",
	"--rxfh":  "-X", "--set-rxfh-indir": "-X", "--config-nfc": "-N", "--config-ntuple": "-N", "-U": "-N",
}

// groupOf returns the group that an ethtool(8) option changes by pairs of keys and values. Empty:
// there is none.
func groupOf(flag string) string {
	for _, g := range setting.NICGroups {
		if g.Flag != "" && g.Flag == flag {
			return g.Name
		}
	}
	return ""
}

// variables matches a placeholder for the interface in scripts, rules and hooks.
var variables = pattern.MustCompile(`^["']?(?:\$\{?[A-Za-z_]\w*\}?|%k|\$name|\*)["']?$`)

// ethtool parses the arguments of a command: "-K eth0 gro off tso off". Iface replaces a variable
// in the place of the interface. It reports whether the command changes options.
func (f *File) ethtool(n int, words []string, iface string) bool {
	if len(words) < 4 {
		return false
	}
	flag, dev, rest := cmp.Or(longFlags[words[0]], words[0]), strings.Trim(words[1], `"'`), words[2:]
	if variables.MatchString(dev) {
		dev = iface
	}
	switch group := groupOf(flag); {
	case group != "":
		if len(rest)%2 != 0 {
			return false
		}
		for i := 0; i < len(rest); i += 2 {
			f.add(n, dev, group, rest[i], rest[i+1])
		}
	case flag == "-X":
		f.add(n, dev, "rss", "table", strings.Join(rest, " "))
	case flag == "-N" && len(rest) == 3 && rest[0] == "rx-flow-hash":
		f.add(n, dev, "rss", rest[1], rest[2])
	case flag == "-N" && len(rest) == 2 && rest[0] == "delete":
		f.add(n, dev, "steering", rest[1], setting.NoRule)
	case flag == "-N" && rest[0] == "flow-type":
		at := slices.Index(rest, "loc")
		if at < 0 || at+1 == len(rest) {
			f.apart(Unread, n, strings.Join(words, " "),
				"a rule that is to be undone needs a location: add loc and a number")
			return true
		}
		f.add(n, dev, "steering", rest[at+1], strings.Join(slices.Concat(rest[1:at], rest[at+2:]), " "))
	default:
		return false
	}
	return true
}

var (
	// ethtoolCommand matches a command anywhere in a line. Several are separated by ; or &&.
	ethtoolCommand = pattern.MustCompile(`(?:^|[\s"'/=;&])ethtool\s+([^;&|"#]+)`)
	// sysfsWrite matches a value that is written to a file of an interface or of the CPUs.
	sysfsWrite = pattern.MustCompile(
		`echo\s+(?:-n\s+)?["']?([^\s"'|>]+)["']?\s*(?:>|\|\s*(?:sudo\s+)?tee)\s*["']?/sys/(\S+?)["']?$`)
	governor = pattern.MustCompile(`cpupower\s+(?:-c\s+\S+\s+)?frequency-set\s+(?:-g|--governor)\s+(\w+)`)
	cpuFile  = pattern.MustCompile(`^devices/system/cpu/.*/scaling_governor$`)
	netFile  = pattern.MustCompile(`^class/net/([^/]+)/(?:(queues)/)?(.+)$`)
)

// commands parses the commands in a line that change options of a NIC or of CPUs. It reports
// whether there were any.
func (f *File) commands(n int, line, iface string) bool {
	before := len(f.Lines)
	for _, m := range ethtoolCommand.Regexp().FindAllStringSubmatch(line, -1) {
		f.ethtool(n, strings.Fields(m[1]), iface)
	}
	if m := governor.FindStringSubmatch(line); m != nil {
		f.option(n, setting.CPUGovernor, m[1])
	}
	if m := sysfsWrite.FindStringSubmatch(line); m != nil {
		f.sysfs(n, m[2], m[1], iface)
	}
	return len(f.Lines) > before
}

// sysfs parses a value that is written to a file below /sys. Iface replaces a variable in the place of
// the interface. It reports whether the file is known.
func (f *File) sysfs(n int, file, value, iface string) bool {
	m := netFile.FindStringSubmatch(file)
	if cpuFile.MatchString(file) {
		f.option(n, setting.CPUGovernor, value)
		return true
	}
	if m == nil {
		return false
	}
	dev, group, key := m[1], "napi", m[3]
	if variables.MatchString(dev) {
		dev = iface
	}
	if m[2] != "" {
		group, key = "queues", strings.TrimPrefix(strings.TrimPrefix(key, "rx-*/"), "tx-*/")
	}
	switch {
	case dev != anyInterface && strings.ContainsAny(dev, "*?[") || strings.ContainsAny(key, "*?["):
		return false
	case m[2] == "" && key == "mtu":
		f.addLink(n, dev, key, value)
	case m[2] == "" && key == "tx_queue_len":
		f.addLink(n, dev, "txqueuelen", value)
	case !hasKey(group, path.Base(key)):
		return false
	default:
		f.add(n, dev, group, key, value)
	}
	return true
}

// hasKey reports whether a group of options has a key.
func hasKey(group, key string) bool {
	for _, g := range setting.NICGroups {
		if _, has := g.Keys[key]; has && g.Name == group {
			return true
		}
	}
	return false
}

// onOff converts a boolean of systemd or YAML to ethtool(8)'s on or off. Other values are returned
// unchanged.
func onOff(value string) string {
	switch strings.ToLower(value) {
	case "yes", "true", "on":
		return "on"
	case "no", "false", "off":
		return "off"
	}
	return value
}
