package settingfile

import (
	"regexp"
	"strings"
)

var _ = register(&format{
	name: "interfaces", label: "interfaces", manual: "interfaces(5)", by: "`interfaces`, `interfaces.d`",
	yields: "`offload-…`, `hardware-dma-ring-…`, `mtu`, `up ethtool …`",
	named:  func(base, dir string) bool { return base == "interfaces" || dir == "interfaces.d" },
	read:   (*File).interfaces,
})

// interfacesKeys has the interfaces(5) options of Debian's ethtool package.
var interfacesKeys = []struct{ prefix, group string }{
	{"offload-", "features"}, {"hardware-dma-ring-", "rings"}, {"ethernet-pause-", "pause"},
	{"ethernet-coalesce-", "coalesce"}, {"hardware-irq-coalesce-", "coalesce"}, {"hardware-channels-", "channels"},
}

// hook matches the options of interfaces(5) that execute commands.
var hook = regexp.MustCompile(`^(pre-|post-)?(up|down)$`)

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
		if hook.MatchString(words[0]) {
			f.apart(Unread, n, line, "a command that is not known here")
			continue
		}
		if words[0] == "mtu" && len(words) == 2 {
			f.addLink(n, iface, "mtu", words[1])
		}
		for _, k := range interfacesKeys {
			if key, ok := strings.CutPrefix(words[0], k.prefix); ok && len(words) == 2 {
				f.add(n, iface, k.group, strings.TrimPrefix(key, "autoneg-"), words[1])
				break
			}
		}
	}
}
