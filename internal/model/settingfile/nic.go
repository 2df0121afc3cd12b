package settingfile

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/model/setting"
	"linerate/internal/model/source"
)

// This file parses options of NICs and CPUs in the files where administrators keep them: ethtool(8)
// commands in scripts, udev rules, ifcfg and interfaces(5); systemd.link(5); [net] and [cpu] of
// tuned; netplan.

// anyInterface means every interface of a host, like "*" in [Match] of systemd.link(5).
const anyInterface = "*"

// nicKey is the prefix of the keys of lines with options of a NIC, as in setting.Lines ("nic eth0
// features gro"). The key of CPU options is setting.CPUGovernor.
const nicKey = "nic "

// IsOption reports whether the line is an option of a NIC or of CPUs. False: it is a kernel
// parameter.
func (l Line) IsOption() bool {
	return strings.HasPrefix(l.Key, nicKey) || l.Key == setting.CPUGovernor
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
	iface, _, _ := Line{Key: key}.option()
	if iface == anyInterface {
		return ""
	}
	return iface
}

// Each returns a copy of the line for each of the interfaces if the line applies to every
// interface. Otherwise it returns only the line itself.
func (l Line) Each(interfaces []string) (list []Line) {
	iface, o, _ := l.option()
	if iface != anyInterface {
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
	iface, o, ok := l.option()
	if !ok {
		return ""
	}
	_, why := setting.NIC{Interface: iface}.With(o).Check()
	return why
}

// add appends an option found in line n of the file.
func (f *File) add(n int, iface, group, key, value string) {
	f.Lines = append(f.Lines, Line{File: f.Name, Line: n, Key: nicKey + iface + " " + group + " " + key, Value: value})
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
var variables = regexp.MustCompile(`^["']?(?:\$\{?[A-Za-z_]\w*\}?|%k|\$name|\*)["']?$`)

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
			f.Apart = append(f.Apart, Apart{f.Name, n, strings.Join(words, " "),
				"a rule that is to be undone needs a location: add loc and a number", nil, false})
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
	ethtoolCommand = regexp.MustCompile(`(?:^|[\s"'/=;&])ethtool\s+([^;&|"#]+)`)
	// sysfsWrite matches a value that is written to a file of an interface or of the CPUs.
	sysfsWrite = regexp.MustCompile(
		`echo\s+(?:-n\s+)?["']?([^\s"'|>]+)["']?\s*(?:>|\|\s*(?:sudo\s+)?tee)\s*["']?/sys/(\S+?)["']?$`)
	governor = regexp.MustCompile(`cpupower\s+(?:-c\s+\S+\s+)?frequency-set\s+(?:-g|--governor)\s+(\w+)`)
	cpuFile  = regexp.MustCompile(`^devices/system/cpu/.*/scaling_governor$`)
	netFile  = regexp.MustCompile(`^class/net/([^/]+)/(?:(queues)/)?(.+)$`)
)

// commands parses the commands in a line that change options of a NIC or of CPUs. It reports
// whether there were any.
func (f *File) commands(n int, line, iface string) bool {
	before := len(f.Lines)
	for _, m := range ethtoolCommand.FindAllStringSubmatch(line, -1) {
		f.ethtool(n, strings.Fields(m[1]), iface)
	}
	if m := governor.FindStringSubmatch(line); m != nil {
		f.Lines = append(f.Lines, Line{File: f.Name, Line: n, Key: setting.CPUGovernor, Value: m[1]})
	}
	if m := sysfsWrite.FindStringSubmatch(line); m != nil {
		switch file := netFile.FindStringSubmatch(m[2]); {
		case cpuFile.MatchString(m[2]):
			f.Lines = append(f.Lines, Line{File: f.Name, Line: n, Key: setting.CPUGovernor, Value: m[1]})
		case file != nil:
			dev, group, key := file[1], "napi", file[3]
			if variables.MatchString(dev) {
				dev = iface
			}
			if file[2] != "" {
				group, key = "queues", strings.TrimPrefix(strings.TrimPrefix(key, "rx-*/"), "tx-*/")
			}
			f.add(n, dev, group, key, m[1])
		}
	}
	return len(f.Lines) > before
}

// script parses shell commands that change options of a NIC or of CPUs, or kernel parameters.
func (f *File) script(text string) {
	for n, line := range entries(text) {
		if f.commands(n, line, anyInterface) {
			continue
		}
		corrected, _ := intended(line)
		for _, one := range corrected {
			f.sysctl(n, one)
		}
	}
}

// udev parses rules (udev(7)): commands in RUN, and ATTR{queues/rx-0/rps_cpus}="f".
func (f *File) udev(text string) {
	attribute := regexp.MustCompile(`ATTR\{(?:(queues)/)?([^}]+)\}\s*=\s*"([^"]*)"`)
	name := regexp.MustCompile(`(?:NAME|KERNEL)\s*==\s*"([^"*?|\[]+)"`)
	for n, line := range entries(text) {
		iface := anyInterface
		if m := name.FindStringSubmatch(line); m != nil {
			iface = m[1]
		}
		found := f.commands(n, line, iface)
		for _, m := range attribute.FindAllStringSubmatch(line, -1) {
			group := "napi"
			if m[1] != "" {
				group = m[1]
			}
			f.add(n, iface, group, m[2], m[3])
			found = true
		}
		if !found {
			f.Apart = append(f.Apart, Apart{f.Name, n, line, "it changes no option of a NIC that is known here",
				nil, false})
		}
	}
}

// ifcfg parses ETHTOOL_OPTS in files of network-scripts: options of ethtool(8), separated by
// semicolons, with or without the interface.
func (f *File) ifcfg(text string) {
	iface := strings.TrimPrefix(f.Name[strings.LastIndex(f.Name, "/")+1:], "ifcfg-")
	for n, line := range entries(text) {
		key, value, _ := strings.Cut(line, "=")
		value = unquoted(strings.TrimSpace(value))
		switch {
		case key == "DEVICE":
			iface = value
		case strings.HasPrefix(key, "ETHTOOL_OPTS"):
			for options := range strings.SplitSeq(value, ";") {
				if words := strings.Fields(options); len(words) > 1 && !f.ethtool(n, words, iface) {
					f.Apart = append(f.Apart, Apart{f.Name, n, line, "these options of ethtool are not known here",
						nil, false})
				}
			}
		}
	}
}

// interfacesKeys has the interfaces(5) options of Debian's ethtool package.
var interfacesKeys = []struct{ prefix, group string }{
	{"offload-", "features"}, {"hardware-dma-ring-", "rings"}, {"ethernet-pause-", "pause"},
	{"ethernet-coalesce-", "coalesce"}, {"hardware-irq-coalesce-", "coalesce"}, {"hardware-channels-", "channels"},
}

// interfaces parses interfaces(5).
func (f *File) interfaces(text string) {
	iface := anyInterface
	for n, line := range entries(text) {
		words := strings.Fields(line)
		if words[0] == "iface" && len(words) > 1 {
			iface = words[1]
			continue
		}
		if f.commands(n, line, iface) {
			continue
		}
		for _, k := range interfacesKeys {
			if key, ok := strings.CutPrefix(words[0], k.prefix); ok && len(words) == 2 {
				f.add(n, iface, k.group, strings.TrimPrefix(key, "autoneg-"), words[1])
				break
			}
		}
	}
}

// linkKeys maps keys of systemd.link(5) to a group and its key.
var linkKeys = map[string][2]string{
	"GenericReceiveOffload": {"features", "gro"}, "GenericReceiveOffloadHardware": {"features", "rx-gro-hw"},
	"LargeReceiveOffload":        {"features", "lro"},
	"GenericSegmentationOffload": {"features", "gso"}, "TCPSegmentationOffload": {"features", "tx-tcp-segmentation"},
	"TCP6SegmentationOffload": {"features", "tx-tcp6-segmentation"},
	"ReceiveChecksumOffload":  {"features", "rx"}, "TransmitChecksumOffload": {"features", "tx"},
	"NTupleFilter": {"features", "ntuple"},
	"RxBufferSize": {"rings", "rx"}, "RxMiniBufferSize": {"rings", "rx-mini"},
	"RxJumboBufferSize": {"rings", "rx-jumbo"}, "TxBufferSize": {"rings", "tx"},
	"RxChannels": {"channels", "rx"}, "TxChannels": {"channels", "tx"}, "CombinedChannels": {"channels", "combined"},
	"RxFlowControl": {"pause", "rx"}, "TxFlowControl": {"pause", "tx"}, "AutoNegotiationFlowControl": {"pause",
		"autoneg"},
	"UseAdaptiveRxCoalesce": {"coalesce", "adaptive-rx"}, "UseAdaptiveTxCoalesce": {"coalesce", "adaptive-tx"},
	"RxMaxCoalescedFrames": {"coalesce", "rx-frames"}, "TxMaxCoalescedFrames": {"coalesce", "tx-frames"},
	"ReceivePacketSteeringCPUMask": {"queues", "rps_cpus"},
}

// link parses systemd.link(5).
func (f *File) link(text string) {
	iface, section := anyInterface, ""
	for n, line := range entries(text) {
		if line[0] == '[' {
			section = line
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch option, known := linkKeys[key]; {
		case section == "[Match]" && (key == "OriginalName" || key == "Name") && !strings.ContainsAny(value, "*? "):
			iface = value
		case section == "[Link]" && known:
			f.add(n, iface, option[0], option[1], onOff(value))
		}
	}
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

// netplanKeys has the offloads of devices in netplan.
var netplanKeys = map[string]string{
	"receive-checksum-offload": "rx", "transmit-checksum-offload": "tx",
	"tcp-segmentation-offload": "tx-tcp-segmentation", "tcp6-segmentation-offload": "tx-tcp6-segmentation",
	"generic-segmentation-offload": "gso", "generic-receive-offload": "gro", "large-receive-offload": "lro",
}

// netplan parses the offloads in a netplan file.
func (f *File) netplan(text string) {
	doc, problems := source.Parse(f.Name, []byte(text))
	if doc == nil || problems.Err() != nil {
		f.Apart = append(f.Apart, Apart{f.Name, 1, "", "it is not a file of netplan: " + problems.Err().Error(),
			nil, true})
		return
	}
	each := func(n *source.Node, key string, do func(source.Entry)) {
		for _, e := range n.Entries {
			if key == "" || e.Key.Text == key {
				do(e)
			}
		}
	}
	each(doc.Root, "network", func(network source.Entry) {
		each(network.Value, "", func(kind source.Entry) {
			each(kind.Value, "", func(device source.Entry) {
				each(device.Value, "", func(e source.Entry) {
					if feature, ok := netplanKeys[e.Key.Text]; ok {
						f.add(e.Key.At.Line, device.Key.Text, "features", feature, onOff(e.Value.Text))
					}
				})
			})
		})
	})
}

// tunedKeys are those of tuned's [net] that are pairs of a key and a value of ethtool(8).
var tunedKeys = map[string]string{"coalesce": "coalesce", "channels": "channels", "ring": "rings", "pause": "pause",
	"features": "features"}

// tunedNet parses a line of [net] or [cpu]. Devices are those that the section names. It reports
// whether the line is an option.
func (f *File) tunedNet(n int, section, key, value string, devices []string) bool {
	switch group, known := tunedKeys[key]; {
	case section == "cpu" && key == "governor":
		name, _, _ := strings.Cut(value, "|") // the first one that exists
		f.Lines = append(f.Lines, Line{File: f.Name, Line: n, Key: setting.CPUGovernor, Value: name})
		return true
	case section == "net" && known:
		words := strings.Fields(strings.ReplaceAll(value, ",", " "))
		for i := 0; i+1 < len(words); i += 2 {
			for _, dev := range devices {
				f.add(n, dev, group, words[i], words[i+1])
			}
		}
		return true
	}
	return false
}
