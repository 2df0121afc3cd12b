package topology

import (
	"slices"
	"strings"

	"linerate/internal/model/setting"
)

// With is the topology as it is while settings hold: with the addresses, routes
// and rules that they add, the MTU and the shaping that they give interfaces, and
// their kernel parameters. The topology itself is left as it is, and returned
// when nothing in it changes. A setting on a host or interface that is not there
// changes nothing; an interface that is set down stays in it.
func (t *Topology) With(settings []setting.Setting) *Topology {
	var w *Topology
	for _, s := range settings {
		if len(s.Sysctl) == 0 && s.Address == nil && s.Route == nil && s.Nexthop == nil && s.Rule == nil && s.Qdisc == nil && (s.Link == nil || s.Link.MTU == 0) {
			continue
		}
		if w == nil {
			w = &Topology{slices.Clone(t.Hosts), t.Switches, slices.Clone(t.Links)}
		}
		if h, ok := w.Host(s.Host); ok {
			w.apply(h, s)
		}
	}
	if w == nil {
		return t
	}
	return w
}

// apply changes a host that is a copy; the lists in it are still the original's.
func (t *Topology) apply(h *Host, s setting.Setting) {
	h.Sysctls = slices.Concat(h.Sysctls, s.Sysctl)
	for _, c := range s.Sysctl {
		switch c.Key {
		case "net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding", "net.ipv6.conf.all.forwarding":
			h.Forward = h.Forward || c.Value != "0"
		}
	}
	if a := s.Address; a != nil {
		h.Interfaces = slices.Clone(h.Interfaces)
		if p, ok := h.Interface(a.Interface); ok {
			p.Addresses = slices.Concat(p.Addresses, []Address{{a.Address.Addr(), a.Last().Addr(), a.Address.Bits()}})
		}
	}
	if s.Route != nil {
		// One that has the same table, destination and metric is replaced.
		same := func(r setting.Route) bool {
			return r.To == s.Route.To && mainTable(r.Table) == mainTable(s.Route.Table) && r.Metric == s.Route.Metric
		}
		h.Routes = append(slices.DeleteFunc(slices.Clone(h.Routes), same), *s.Route)
	}
	if s.Nexthop != nil {
		same := func(n setting.NexthopObject) bool { return n.ID == s.Nexthop.ID }
		h.Nexthops = append(slices.DeleteFunc(slices.Clone(h.Nexthops), same), *s.Nexthop)
	}
	if s.Rule != nil {
		// Without a priority a rule goes before those that are there.
		h.Rules = slices.Concat([]setting.Rule{*s.Rule}, h.Rules)
	}
	if l := s.Link; l != nil && l.MTU != 0 {
		t.changeDirection(End{h.Name, l.Interface}, func(out *Impairment) { out.MTU = l.MTU })
	}
	if q := s.Qdisc; q != nil {
		made := len(h.Via) == 0
		t.changeDirection(End{h.Name, q.Interface}, func(out *Impairment) { out.replaceQdisc(*q, made) })
	}
}

// replaceQdisc puts another queueing discipline in front of a link. In a lab it takes
// the place of the one that makes the link as slow as it is; a real link stays
// as it is behind it.
func (s *Impairment) replaceQdisc(q setting.Qdisc, made bool) {
	switch {
	case q.Kind != "tbf" && made:
		s.Rate, s.Burst = 0, 0
	case q.Kind == "tbf" && (made || s.Rate == 0 || q.Rate < s.Rate):
		s.Rate, s.Burst, s.Bucket = q.Rate, q.Burst, true
	}
}

// changeDirection changes what a link does in the direction that leaves an end. Both
// directions are written out, since what a direction leaves out is the link's.
func (t *Topology) changeDirection(leaving End, change func(*Impairment)) {
	l, ok := t.LinkAt(leaving)
	if !ok {
		return
	}
	forward, reverse := l.towards(l.From), l.towards(l.To)
	if leaving == l.From {
		change(&forward)
	} else {
		change(&reverse)
	}
	l.Impairment, l.Forward, l.Reverse = Impairment{}, &forward, &reverse
}

// mainTable gives the main routing table one number.
func mainTable(table int) int {
	if table == 254 {
		return 0
	}
	return table
}

// Sysctl is the value that the topology gives a host's kernel parameter, the
// last one where there are several; empty when it gives none.
func (h *Host) Sysctl(key string) string {
	for _, s := range slices.Backward(h.Sysctls) {
		if s.Key == key {
			return strings.TrimSpace(s.Value)
		}
	}
	return ""
}

// MTUAt is the MTU of an interface; 0: it limits nothing. Between two switches only an
// MTU in the file counts.
func (t *Topology) MTUAt(e End) int {
	l, ok := t.LinkAt(e)
	if !ok {
		return 0
	}
	if _, isHost := t.Host(e.Node); isHost {
		return l.Towards(e).MTU
	}
	if _, isHost := t.Host(l.Other(e).Node); isHost {
		return 0
	}
	return l.towards(e).MTU
}
