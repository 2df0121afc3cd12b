package settingfile

import (
	"path"
	"regexp"
)

var _ = register(&format{
	name: "udev", label: "udev rules", manual: "udev(7)", by: "`.rules`",
	yields: "`RUN` with ethtool(8), `ATTR{queues/rx-0/rps_cpus}=\"f\"`",
	named:  func(base, _ string) bool { return path.Ext(base) == ".rules" },
	read:   (*File).udev,
})

// udevAttribute matches a file of sysfs that is written, udevName the interface that a rule is for.
var (
	udevAttribute = regexp.MustCompile(`ATTR\{([^}]+)\}\s*=\s*"([^"]*)"`)
	udevName      = regexp.MustCompile(`(?:NAME|KERNEL)\s*==\s*"([^"*?|\[]+)"`)
)

// udev parses rules (udev(7)): commands in RUN, and ATTR{queues/rx-0/rps_cpus}="f".
func (f *File) udev(text string) {
	for n, line := range entries(text) {
		iface := anyInterface
		if m := udevName.FindStringSubmatch(line); m != nil {
			iface = m[1]
		}
		found := f.commands(n, line, iface)
		for _, m := range udevAttribute.FindAllStringSubmatch(line, -1) {
			found = f.sysfs(n, "class/net/"+iface+"/"+m[1], m[2], iface) || found
		}
		if !found {
			f.apart(Unread, n, line, "it changes no option of a NIC that is known here")
		}
	}
}
