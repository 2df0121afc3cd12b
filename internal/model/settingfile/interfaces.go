package settingfile

import (
	"strings"

	"linerate/internal/model/pattern"
)

var _ = register(&format{
	name: "interfaces", label: "interfaces", manual: "interfaces(5)", by: "`interfaces`, `interfaces.d`",
	yields: "`offload-…`, `hardware-dma-ring-…`, `mtu`, commands of `up`, `pre-up` and `post-up` as a script",
	named:  func(base, dir string) bool { return base == "interfaces" || dir == "interfaces.d" },
	read:   (*File).interfaces,
})

// interfacesKeys has the interfaces(5) options of Debian's ethtool package.
var interfacesKeys = []struct{ prefix, group string }{
	{"offload-", "features"}, {"hardware-dma-ring-", "rings"}, {"ethernet-pause-", "pause"},
	{"ethernet-coalesce-", "coalesce"}, {"hardware-irq-coalesce-", "coalesce"}, {"hardware-channels-", "channels"},
}

// hook matches the options of interfaces(5) that execute commands.
var hook = pattern.MustCompile(`^(pre-|post-)?(up|down)$`)

// interfaces parses interfaces(5).
func (f *File) interfaces(text string) {
	iface := anyInterface
	s := newScript(f, "#!/bin/sh")
	for n, line := range joined(text) {
		words := strings.Fields(line)
		switch m := hook.FindStringSubmatch(words[0]); {
		case words[0] == "iface" && len(words) > 1:
			iface = words[1]
		case words[0] == "source" || words[0] == "source-directory":
			f.apart(Unread, n, line, "another file: give that as well")
		case m != nil && m[2] == "down":
			if command := strings.TrimPrefix(line, words[0]); sets(command) {
				f.apart(Note, n, line, "is done when the interface is taken down")
			}
		case m != nil:
			command := strings.TrimSpace(strings.TrimPrefix(line, words[0]))
			s.run(interfaceName.Regexp().ReplaceAllLiteralString(command, iface), func(int) int { return n })
		case words[0] == "mtu" && len(words) == 2:
			f.addLink(n, iface, "mtu", words[1])
		default:
			for _, k := range interfacesKeys {
				if key, ok := strings.CutPrefix(words[0], k.prefix); ok && len(words) == 2 {
					f.add(n, iface, k.group, strings.TrimPrefix(key, "autoneg-"), words[1])
					break
				}
			}
		}
	}
	s.finish()
}

// interfaceName matches the name of the interface in commands of interfaces(5) and rules of udev(7).
var interfaceName = pattern.MustCompile(`"?(\$\{?IFACE\}?|--IFACE--|%k|\$kernel|\$name|\$env\{INTERFACE\})"?`)
