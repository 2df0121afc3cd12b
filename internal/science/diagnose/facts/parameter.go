package facts

import (
	"cmp"
	"strconv"
	"strings"

	"linerate/internal/model/fact"
)

// Sysctl returns net.ipv4.conf.SCOPE.NAME; -1 if it was not recorded.
func (h *Host) Sysctl(scope, name string) int {
	value, err := strconv.Atoi(
		strings.TrimSpace(h.Reading.Snapshot.Sysctls["net.ipv4.conf."+strings.ReplaceAll(scope, ".", "/")+"."+name]))
	if err != nil {
		return -1
	}
	return value
}

// Effective returns the value of arp_ignore, arp_announce, arp_filter or rp_filter that applies to
// an interface: the larger of conf.all and the interface's own value; -1 if neither is known.
func (h *Host) Effective(name string, p *Interface) int {
	return max(h.Sysctl("all", name), h.Sysctl(p.Name, name))
}

// Scopes returns where a parameter below net.ipv4.conf has a value: "all" and names of interfaces,
// with "/" in place of ".".
func (h *Host) Scopes(name string, value int) []string {
	var list []string
	if h.Sysctl("all", name) == value {
		list = append(list, "all")
	}
	for _, p := range h.Interfaces {
		if h.Sysctl(p.Name, name) == value {
			list = append(list, strings.ReplaceAll(p.Name, ".", "/"))
		}
	}
	return list
}

// Number returns one number of a parameter's value, counted from 0; -1 if it is not known, or if the
// value is none of numbers alone.
func (h *Host) Number(key string, field int) int64 {
	number := int64(-1)
	for i, word := range strings.Fields(cmp.Or(h.State.Parameters[key], h.Reading.Snapshot.Sysctls[key])) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return -1
		}
		if i == field {
			number = n
		}
	}
	return number
}

// Parameter returns the value of a kernel parameter as evidence.
func (h *Host) Parameter(key string) fact.Parameter {
	return fact.Parameter{Key: key, Value: h.State.Parameters[key]}
}

// Scoped returns a parameter below net.ipv4.conf, for all interfaces and for one, as evidence; none
// if it is not known.
func (h *Host) Scoped(name string, p *Interface) (list []any) {
	all, own := h.Sysctl("all", name), h.Sysctl(p.Name, name)
	if all >= 0 || own >= 0 {
		is := fact.Scoped{Name: name, Interface: p.Name, All: max(all, 0), Own: max(own, 0)}
		switch {
		case all < 0:
			is.Unread = "all"
		case own < 0:
			is.Unread = "own"
		}
		list = []any{is}
	}
	return list
}
