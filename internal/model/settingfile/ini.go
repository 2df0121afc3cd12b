package settingfile

import (
	"iter"
	"path"
	"strings"
)

// Formats with sections: "[name]" on a line of its own.
const iniFile = "ini"

var _, _, _ = register(&format{
	name: iniFile, label: "INI file", manual: "saptune(8)",
	by:     "the first line is a section, of no other format",
	yields: "the section `[sysctl]`, as saptune has it",
	read: func(f *File, text string) {
		for s := range sections(text) {
			switch {
			case s.line[0] == '[':
			case strings.EqualFold(s.section, "sysctl"):
				f.sysctl(s.n, s.line)
			case relevant(s.line):
				f.apart(Unread, s.n, s.line, "section ["+s.section+"] is not read here")
			}
		}
	},
}), register(&format{
	name: "nmconnection", label: "NetworkManager connection", manual: "nm-settings-keyfile(5)",
	by:     "`.nmconnection`, or `[connection]`",
	yields: "`[ethtool]` with `feature-…`, `ring-…`, `coalesce-…`, `channels-…`, `pause-…`, and `mtu`",
	named:  func(base, _ string) bool { return path.Ext(base) == ".nmconnection" },
	has:    func(text string) bool { return firstEntry(text) == "[connection]" },
	read:   (*File).keyfile,
}), register(&format{
	name: unitFile, label: "systemd unit", manual: "systemd.service(5), podman-systemd.unit(5)",
	by: "`.service`, `.container` and the like, or the sections `[Unit]`, `[Service]`, `[Container]`",
	yields: "`ExecStart`, `ExecStartPre` and `ExecStartPost` as commands, which systemd executes without a shell; " +
		"`Sysctl` of a container",
	named: func(base, _ string) bool {
		switch path.Ext(base) {
		case ".service", ".container", ".timer", ".socket", ".target":
			return true
		}
		return false
	},
	has: func(text string) bool {
		switch firstEntry(text) {
		case "[Unit]", "[Service]", "[Container]":
			return true
		}
		return false
	},
	read: (*File).unit,
})

// sectionLine is a line of a file with sections. That of a section itself is one of them.
type sectionLine struct {
	section    string
	n          int
	line       string
	key, value string // of "key = value"
}

// sections returns the lines of a file with sections, without comments. A line that ends with a backslash
// is continued.
func sections(text string) iter.Seq[sectionLine] {
	return func(yield func(sectionLine) bool) {
		section := ""
		for n, line := range joined(text) {
			if line[0] == '[' {
				section = strings.Trim(line, "[]")
			}
			key, value, _ := strings.Cut(line, "=")
			if !yield(sectionLine{section, n, line, strings.TrimSpace(key), strings.TrimSpace(value)}) {
				return
			}
		}
	}
}

// joined returns the lines of a text as entries does; one that ends with a backslash is joined with the
// next one, and has the number of the first.
func joined(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var parts []string
		first := 0
		for n, line := range entries(text) {
			if len(parts) == 0 {
				first = n
			}
			rest, more := strings.CutSuffix(line, `\`)
			if rest = strings.TrimSpace(rest); rest != "" {
				parts = append(parts, rest)
			}
			if more || len(parts) == 0 {
				continue
			}
			if !yield(first, strings.Join(parts, " ")) {
				return
			}
			parts = nil
		}
		if len(parts) > 0 {
			yield(first, strings.Join(parts, " "))
		}
	}
}

// keyfileGroups has the prefixes of NetworkManager's options of ethtool.
var keyfileGroups = []struct{ prefix, group string }{{"feature-", "features"}, {"ring-", "rings"},
	{"coalesce-", "coalesce"}, {"channels-", "channels"}, {"pause-", "pause"}}

// keyfileValue converts a value to that of ethtool(8). Adaptive coalescing is 0 or 1.
func keyfileValue(group, key, value string) string {
	if adaptive := strings.HasPrefix(key, "adaptive-"); group == "coalesce" && adaptive && value == "1" {
		return "on"
	} else if group == "coalesce" && adaptive && value == "0" {
		return "off"
	}
	return onOff(value)
}

// keyfile parses a connection of NetworkManager.
func (f *File) keyfile(text string) {
	iface := anyInterface
	for s := range sections(text) {
		if s.section == "connection" && s.key == "interface-name" {
			iface = s.value
		}
	}
	for s := range sections(text) {
		switch {
		case s.line[0] == '[':
		case (s.section == "ethernet" || s.section == "802-3-ethernet") && s.key == "mtu":
			f.addLink(s.n, iface, "mtu", s.value)
		case s.section == "ethtool":
			known := false
			for _, g := range keyfileGroups {
				if key, is := strings.CutPrefix(s.key, g.prefix); is {
					f.add(s.n, iface, g.group, key, keyfileValue(g.group, key, s.value))
					known = true
				}
			}
			if !known {
				f.apart(Unread, s.n, s.line, "this option of ethtool is not known here")
			}
		case s.section == "tc":
			f.apart(Unread, s.n, s.line, "a queueing discipline or filter, which is not read of a connection")
		}
	}
}
