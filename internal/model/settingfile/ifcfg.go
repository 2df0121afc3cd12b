package settingfile

import "strings"

var _ = register(&format{
	name: "ifcfg", label: "ifcfg", manual: "network-scripts of Red Hat", by: "`ifcfg-…`",
	yields: "`ETHTOOL_OPTS`, `MTU`",
	named:  func(base, _ string) bool { return strings.HasPrefix(base, "ifcfg-") },
	read:   (*File).ifcfg,
})

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
		case key == "MTU":
			f.addLink(n, iface, "mtu", value)
		case strings.HasPrefix(key, "ETHTOOL_OPTS"):
			for options := range strings.SplitSeq(value, ";") {
				if words := strings.Fields(options); len(words) > 1 && !f.ethtool(n, words, iface) {
					f.apart(Unread, n, line, "these options of ethtool are not known here")
				}
			}
		}
	}
}
