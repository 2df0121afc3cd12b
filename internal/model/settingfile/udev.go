package settingfile

import (
	"path"
	"strings"

	"linerate/internal/model/pattern"
)

var _ = register(&format{
	name: "udev", label: "udev rules", manual: "udev(7)", by: "`.rules`",
	yields: "commands of `RUN`, `ATTR{queues/rx-0/rps_cpus}=\"f\"` and other files of an interface, `SYSCTL{…}=\"…\"`",
	named:  func(base, _ string) bool { return path.Ext(base) == ".rules" },
	read:   (*File).udev,
})

// udevPart matches a part of a rule: a key with an attribute, an operator and a value. udevName is a name
// that is no pattern.
var (
	udevPart = pattern.MustCompile(`([A-Z]+)(?:\{([^}]*)\})?\s*(==|!=|\+=|:=|=)\s*"((?:[^"\\]|\\.)*)"`)
	udevName = pattern.MustCompile(`^[^*?|\[$%]+$`)
)

// udev parses rules (udev(7)).
func (f *File) udev(text string) {
	s := newScript(f, "#!/bin/sh")
	for n, line := range joined(text) {
		iface, before := anyInterface, len(f.Lines)
		var when []string // what else must match
		parts := udevPart.Regexp().FindAllStringSubmatch(line, -1)
		for _, m := range parts {
			if (m[1] == "NAME" || m[1] == "KERNEL") && m[3] == "==" && udevName.MatchString(m[4]) {
				iface = m[4]
			} else if (m[3] == "==" || m[3] == "!=") && m[1] != "ACTION" && m[1] != "SUBSYSTEM" {
				when = append(when, m[0])
			}
		}
		changes := false
		for _, m := range parts {
			key, attribute, value := m[1], m[2], strings.ReplaceAll(m[4], `\"`, `"`)
			if m[3] == "==" || m[3] == "!=" {
				continue
			}
			switch {
			case key == "RUN" && attribute != "builtin":
				s.run(interfaceName.Regexp().ReplaceAllLiteralString(value, iface), func(int) int { return n })
			case key == "SYSCTL":
				name := interfaceName.Regexp().ReplaceAllLiteralString(attribute, iface)
				f.set(Line{Line: n, Key: dotted(name), Value: value}, line)
			case key == "ATTR" && f.sysfs(n, "class/net/"+iface+"/"+attribute, value, iface):
			case key == "ATTR" || key == "RUN":
				f.apart(Unread, n, line, key+"{"+attribute+"} changes nothing that is known here")
			default:
				continue
			}
			changes = true
		}
		for i := before; i < len(f.Lines); i++ {
			f.Lines[i].When = strings.Join(when, ", ")
		}
		if !changes && sets(line) {
			f.apart(Unread, n, line, "it changes nothing that is known here")
		}
	}
	s.finish()
}
