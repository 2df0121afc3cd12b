package hostconfig

import "strings"

// ifupdownPath is a file that /etc/network/interfaces sources at its end. ifup executes the stanzas
// of an interface in the order in which it reads them, and a route with a source address requires
// that address to exist. Debian's default file sources interfaces.d before its own stanzas, which
// would be too early.
const ifupdownPath = "etc/network/linerate"

// ifupdown collects commands for each interface (interfaces(5)). A stanza for an interface that
// already has one is added to that.
type ifupdown struct {
	names []string
	lines map[string][]string
}

func newIfupdown(*Host) writer { return &ifupdown{lines: map[string][]string{}} }

func (i *ifupdown) add(c change) bool {
	if c.on == "" {
		return false
	}
	if i.lines[c.on] == nil {
		i.names = append(i.names, c.on)
	}
	for _, l := range command(c.Setting) {
		i.lines[c.on] = append(i.lines[c.on], "up "+l)
	}
	if c.Rule != nil { // other changes belong to the interface
		i.lines[c.on] = append(i.lines[c.on], "down "+ruleLine("del", *c.Rule).String()+" || true")
	}
	return true
}

func (i *ifupdown) files(head []string) []File {
	text := comments(head)
	for _, name := range i.names {
		text += "\niface " + name + " inet manual\n    " + strings.Join(i.lines[name], "\n    ") + "\n"
	}
	return []File{{ifupdownPath, 0o644, text}}
}

func (i *ifupdown) apply() []string {
	const source = "source /" + ifupdownPath
	list := []string{"grep -qx '" + source + "' /etc/network/interfaces || echo '" + source +
		"' >> /etc/network/interfaces"}
	for _, name := range i.names {
		list = append(list, "ifdown "+Quote(name)+"; ifup "+Quote(name))
	}
	return list
}
