package topology

import "strconv"

// maxInterfaceName is the kernel's IFNAMSIZ without the final zero byte (linux/if.h).
const maxInterfaceName = 15

// Complete adds the routes that BGP will install, and what a valid file may omit at the ends of
// links: the interface of a host that has only one, and the names of switch ports. A switch port is
// named after the far end, server-eth0 for server.eth0, truncated to the kernel's limit and numbered
// if the name exists already. The names depend only on the file.
func (t *Topology) Complete() {
	t.completeLinks()
	for i := range t.Switches {
		if s := &t.Switches[i]; len(s.Via) > 0 && s.Bridge == "" {
			s.Bridge = s.Name
		}
	}
	t.learn()
}

// completeLinks adds what links omit.
func (t *Topology) completeLinks() {
	taken := map[End]bool{}
	for i := range t.Links {
		l := &t.Links[i]
		for _, e := range []*End{&l.From, &l.To} {
			*e = t.complete(*e)
			taken[*e] = true
		}
	}
	for i := range t.Links {
		l := &t.Links[i]
		l.From = t.name(l.From, l.To, taken)
		l.To = t.name(l.To, l.From, taken)
	}
}

// name sets the name of an unnamed switch port from the far end of its link.
func (t *Topology) name(e, far End, taken map[End]bool) End {
	if _, isSwitch := t.Switch(e.Node); !isSwitch || e.Interface != "" {
		return e
	}
	tail := ""
	if _, farIsHost := t.Host(far.Node); farIsHost {
		// The names of interfaces differ in their last characters.
		tail = "-" + far.Interface[max(0, len(far.Interface)-8):]
	}
	for n := 1; ; n++ {
		number := ""
		if n > 1 {
			number = strconv.Itoa(n)
		}
		head := far.Node[:min(len(far.Node), maxInterfaceName-len(number)-len(tail))]
		e.Interface = head + number + tail
		if !taken[e] && !reservedName(e.Interface) {
			taken[e] = true
			return e
		}
	}
}
