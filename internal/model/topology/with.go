package topology

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// With returns the topology with settings applied: their addresses, routes, nexthop objects, rules
// and kernel parameters, the MTU and shaping of interfaces, and the hash of bonds. t is not
// modified, and is returned if the settings change nothing. A setting on a missing host or
// interface changes nothing; an interface that is set down remains.
func (t *Topology) With(settings []setting.Setting) *Topology {
	var w *Topology
	for _, s := range settings {
		if len(s.Sysctl) == 0 && s.Address == nil && s.Route == nil && s.Nexthop == nil && s.Rule == nil &&
			s.Qdisc == nil && (s.Link == nil || s.Link.MTU == 0 && s.Link.XmitHashPolicy == "") {
			continue
		}
		if w == nil {
			w = &Topology{slices.Clone(t.Hosts), t.Switches, slices.Clone(t.Links), t.ImpairedBy}
		}
		if h, ok := w.Host(s.Host); ok {
			w.apply(h, s)
		}
	}
	return cmp.Or(w, t)
}

// apply applies a setting to a host that is a shallow copy: it shares its lists with the original.
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
			p.Addresses = slices.Concat(p.Addresses, []Address{added(a)})
		}
	}
	if s.Route != nil {
		// It replaces a route with the same table, destination and metric.
		six := t.ipv6(h.Name, *s.Route)
		same := func(r setting.Route) bool {
			return r.To == s.Route.To && r.Number() == s.Route.Number() &&
				mainTable(r.Table) == mainTable(s.Route.Table) &&
				t.ipv6(h.Name, r) == six && r.Priority(six) == s.Route.Priority(six)
		}
		h.Routes = append(slices.DeleteFunc(slices.Clone(h.Routes), same), *s.Route)
	}
	if s.Nexthop != nil {
		same := func(n setting.NexthopObject) bool { return n.ID == s.Nexthop.ID }
		h.Nexthops = append(slices.DeleteFunc(slices.Clone(h.Nexthops), same), *s.Nexthop)
	}
	if s.Rule != nil {
		h.Rules = slices.Concat(h.Rules, []setting.Rule{*s.Rule})
	}
	if l := s.Link; l != nil && l.MTU != 0 {
		links := []string{l.Interface}
		if h.changeDevice(l.Interface, func(p *Interface) { p.MTU = l.MTU }) {
			links = nil
			if shape, _ := h.shape(l.Interface); shape.Members { // members get the MTU of the bond from the kernel
				links = shape.Slaves
			}
		}
		for _, name := range links {
			t.changeDirection(End{h.Name, name}, func(out *Impairment) { out.MTU = l.MTU })
		}
	}
	if l := s.Link; l != nil && l.XmitHashPolicy != "" {
		h.Interfaces = slices.Clone(h.Interfaces)
		if p, ok := h.Interface(l.Interface); ok && p.Bond != nil {
			bond := *p.Bond
			bond.Policy = l.XmitHashPolicy
			p.Bond = &bond
		}
	}
	shape := func(p *Interface) {
		p.Shaper = nil
		if q := s.Qdisc; q.Rate != 0 {
			p.Shaper = &Shaper{Kind: q.Kind, Rate: q.Rate, Burst: q.Burst}
		}
	}
	if q := s.Qdisc; q != nil && !h.changeDevice(q.Interface, shape) {
		made := len(h.Via) == 0
		t.changeDirection(End{h.Name, q.Interface}, func(out *Impairment) {
			if made && out.Rate != 0 {
				out.Queue = queueOf(*q, *out)
			}
			// The link keeps its rate behind its qdisc.
			if q.Rate != 0 && (out.Rate == 0 || q.Rate < out.Rate) {
				out.Rate, out.Burst, out.Bucket, out.Shaper = q.Rate, q.Burst, true, q.Kind
			}
		})
	}
}

// added returns the addresses of a setting as a range.
func added(a *setting.Address) Address {
	return Address{a.Address.Addr(), a.Last().Addr(), a.Address.Bits()}
}

// queueOf returns how long the queue of a single flow can become with a qdisc: its limit, or the
// length at which it drops or marks packets. Kinds without either keep the queue of the link.
func queueOf(q setting.Qdisc, link Impairment) unit.Depth {
	packets := func(n int) unit.Depth { return unit.Depth{Size: unit.Bytes(cmp.Or(q.Limit, n)) * link.Frame()} }
	switch q.Kind {
	case "codel", "fq_codel":
		return unit.Depth{Time: cmp.Or(q.Target, codelTarget)}
	case "cake":
		return unit.Depth{Time: codelTarget}
	case "red":
		low, _ := q.Thresholds()
		return unit.Depth{Size: low}
	case "fq":
		return packets(fqFlow)
	case "sfq":
		return packets(sfqLimit)
	case "tbf", "bfifo":
		if q.Limit != 0 {
			return unit.Depth{Size: unit.Bytes(q.Limit)}
		}
	case "pfifo":
		if q.Limit != 0 {
			return packets(0)
		}
	}
	return link.Queue
}

// Defaults of the kernel: the target of codel, packets of a flow in fq, and packets of all flows in
// sfq (tc-codel(8), tc-fq(8), tc-sfq(8)).
const (
	codelTarget = unit.Duration(5e6)
	fqFlow      = 100
	sfqLimit    = 127
)

// WithShaper returns the topology with a shaper that was found at an interface of a real host. t is
// not modified. A link that is slower than the shaper keeps its rate.
func (t *Topology) WithShaper(at End, s Shaper) *Topology {
	w := &Topology{slices.Clone(t.Hosts), t.Switches, slices.Clone(t.Links), t.ImpairedBy}
	if h, ok := w.Host(at.Node); ok && h.changeDevice(at.Interface, func(p *Interface) { p.Shaper = &s }) {
		return w
	}
	w.changeDirection(at, func(out *Impairment) {
		if out.Rate == 0 || s.Rate <= out.Rate {
			out.Rate, out.Burst, out.Bucket, out.Shaper, out.Overhead = s.Rate, s.Burst, true, s.Kind, s.Overhead
		}
	})
	return w
}

// changeDevice changes a device of a host that is a copy. It returns false if the interface is no
// device.
func (h *Host) changeDevice(name string, change func(*Interface)) bool {
	if _, is := h.shape(name); !is {
		return false
	}
	h.Interfaces = slices.Clone(h.Interfaces)
	p, _ := h.Interface(name)
	change(p)
	return true
}

// changeDirection changes the impairment of the direction that leaves an end. It sets both
// directions explicitly, since a direction inherits from the link.
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
	l.Impairment, l.Forward, l.Reverse = Impairment{}, &Direction{Impairment: forward}, &Direction{Impairment: reverse}
}

// mainTable returns the table, or 0 for 254, the number of the main routing table.
func mainTable(table int) int {
	if table == 254 {
		return 0
	}
	return table
}

// Sysctl returns the value of a host's kernel parameter in the topology, the last one if there are
// several. Empty: the topology has none.
func (h *Host) Sysctl(key string) string {
	for _, s := range slices.Backward(h.Sysctls) {
		if s.Key == key {
			return strings.TrimSpace(s.Value)
		}
	}
	return ""
}

// Makes reports whether linerate makes a switch.
func (t *Topology) Makes(name string) bool {
	s, ok := t.Switch(name)
	return ok && len(s.Via) == 0 && !s.Agentless()
}

// MTUAt returns the MTU of an interface in bytes. 0: unknown. Of a port that linerate does not make
// it is known between two switches, if the file has it.
func (t *Topology) MTUAt(e End) int {
	l, ok := t.LinkAt(e)
	if !ok {
		return 0
	}
	if _, isHost := t.Host(e.Node); isHost || t.Makes(e.Node) {
		return l.Towards(e).MTU
	}
	if _, isHost := t.Host(l.Other(e).Node); isHost {
		return 0
	}
	return l.towards(e).MTU
}
