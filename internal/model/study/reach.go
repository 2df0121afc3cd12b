package study

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// paths checks the ends and paths of the flows in every treatment, with the topology of that
// treatment: a level may add the address or route that a flow requires. If the topology has
// mistakes (whole is false), only addresses are checked.
func (c *checker) paths(p *Plan, whole bool) {
	type question struct {
		over    *topology.Topology
		path    string
		mayFail bool
		mss     int
	}
	checked := map[question]bool{}
	wrong := map[string]bool{} // paths with a problem; it is reported for one treatment
	overs := map[string]*topology.Topology{}
	for _, t := range p.Treatments {
		if slices.ContainsFunc(c.chosen(t), func(l chosenLevel) bool { return c.broken[l.path] }) {
			continue
		}
		list, key := c.flowsPath(t), ""
		for _, l := range c.chosen(t) {
			if len(l.Settings) > 0 {
				key += l.path
			}
		}
		if overs[key] == nil {
			overs[key] = c.Topology.With(t.Settings)
		}
		for i, f := range t.Workload.Flows {
			q := question{overs[key], fmt.Sprintf("%s[%d]", list, i), t.Unreachable, f.MSS}
			if checked[q] || wrong[q.path] || c.unsound[q.path] {
				continue
			}
			checked[q] = true
			w := flowPath{c, q.over, q.path, c.written(t, q.path, "mss"), ""}
			if c.varied {
				w.where = fmt.Sprintf(" in treatment %q", t.Name)
			}
			wrong[q.path] = !w.check(f, t.Unreachable || !whole)
		}
	}
}

// chosenLevel is a level of a treatment with its path in the file.
type chosenLevel struct {
	Level
	path string
}

// levelPath returns the path of a level in the file.
func levelPath(factor, level int) string {
	return fmt.Sprintf("factors[%d].levels[%d]", factor, level)
}

// chosen returns the levels of a treatment in the order of the factors.
func (c *checker) chosen(t Treatment) (list []chosenLevel) {
	for i, f := range c.Factors {
		j := f.level(t.Levels[f.Name])
		list = append(list, chosenLevel{f.Levels[j], levelPath(i, j)})
	}
	return list
}

// written returns the path at which an option of a flow is set: a level overrides the flow, which
// overrides the workload.
func (c *checker) written(t Treatment, flow, key string) string {
	for _, l := range slices.Backward(c.chosen(t)) {
		if path := l.path + ".workload." + key; c.has(path) {
			return path
		}
	}
	if path := flow + "." + key; c.has(path) {
		return path
	}
	return "workload." + key
}

// flowPath is a flow to be checked in one topology.
type flowPath struct {
	*checker
	over    *topology.Topology
	path    string
	mssPath string
	where   string
}

// check reports addresses that their hosts do not have, and a flow without a path. A flow that may
// fail to connect needs no path, but both ends need their addresses to connect and to listen.
func (w flowPath) check(f Flow, mayFail bool) bool {
	from, _ := w.over.Host(f.From)
	to, _ := w.over.Host(f.To)
	sound := w.holds(from, f.Source, w.path+".source")
	// A destination that is missing in the file is selected from the addresses of the host.
	if w.has(w.path + ".destination") {
		sound = w.holds(to, f.Destination, w.path+".destination") && sound
	}
	switch {
	case !sound:
		return false
	case !f.Destination.IsValid():
		kind := "address"
		if f.Source.IsValid() {
			kind = "address of the kind of " + f.Source.String()
		}
		w.report(w.path+".to", "host %q has no %s to send to%s", f.To, kind, w.where)
		return false
	case mayFail:
		return true
	}
	there, err := w.over.Paths(f.From, f.Source, f.Destination)
	if err != nil {
		w.report(w.path, "unreachable flow%s: %v", w.where, err)
		return false
	}
	source := cmp.Or(f.Source, likelySource(w.over, f.From, f.Destination))
	if _, err := w.over.Paths(f.To, f.Destination, source); err != nil {
		w.report(w.path, "unreachable flow%s: answers do not come back: %v", w.where, err)
		return false
	}
	return w.segment(f, there)
}

// segment reports an mss that cannot take effect. The MTU of a real host is only known from the
// file.
func (w flowPath) segment(f Flow, paths [][]topology.End) bool {
	if h, _ := w.over.Host(f.From); f.MSS == 0 || len(h.Via) > 0 {
		return true
	}
	mtu := 0 // of the path with the largest one
	for _, path := range paths {
		least := topology.DefaultMTU
		for i := 0; i < len(path); i += 2 {
			l, ok := w.over.LinkAt(path[i])
			if !ok {
				return true
			}
			if s := l.Towards(path[i]); i == 0 || s.MTU < least {
				least = s.MTU
			}
		}
		mtu = max(mtu, least)
	}
	headers := 40 // RFC 6691: without options
	if f.Destination.Is6() {
		headers = 60
	}
	if f.MSS > mtu-headers {
		w.report(w.mssPath,
			"mss %d cannot take effect%s: with an MTU of %d, a segment from %s to %s has at most %d bytes",
			f.MSS, w.where, mtu, f.From, f.To, mtu-headers)
		return false
	}
	return true
}

// holds reports an address that its host does not have.
func (w flowPath) holds(h *topology.Host, addr netip.Addr, path string) bool {
	if !addr.IsValid() {
		return true
	}
	holder, held := w.over.Holder(addr)
	if held && holder.Node == h.Name {
		return true
	}
	if held {
		w.report(path, "%s is not an address of %q%s: %s has it", addr, h.Name, w.where, holder)
		return false
	}
	w.report(path, "%s is not an address of %q%s%s", addr, h.Name, w.where, addressesOf(h))
	return false
}

// addressesOf lists the host's addresses for a message.
func addressesOf(h *topology.Host) string {
	var list []string
	for _, a := range h.Addresses() {
		list = append(list, a.Range())
	}
	switch {
	case len(list) == 0:
		return ": it has none"
	case len(list) > 8:
		return fmt.Sprintf(": expected one of its %d, %s, …", len(list), list[0])
	}
	return ": expected " + source.Or(list)
}
