package discover

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"time"

	"linerate/internal/model/deep"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// mostTried bounds how many hosts are tried as ends of the flows of Question.
const mostTried = 16

// Question returns the study ecmp-hash of a topology: do flows between two hosts use all equal-cost paths, and
// how many flows does it take? The hosts are those with the most paths. It returns an error if no host
// reaches another one.
func Question(t topology.Topology) (*study.Study, error) {
	from, to, paths := farthest(t)
	if paths == 0 {
		return nil, fmt.Errorf("no host reaches another one by the links and routes that are known")
	}
	s := &study.Study{
		Name:     "fabric",
		Question: "Does traffic between two hosts use all equal-cost links, and how many flows does it take?",
		Topology: t,
		Workload: study.Workload{Duration: unit.Duration(600 * time.Millisecond),
			Warmup: unit.Duration(300 * time.Millisecond),
			Flows:  []study.Flow{{From: from, To: to}}},
	}
	s.Workload.SourcePorts = "drawn"
	flows := study.Factor{Name: "flows", Role: "condition"}
	for _, n := range []int{1, 2, 4, 8, 16} {
		level := study.Level{Name: unit.Plural(n, "flow"), Workload: &study.Override{}}
		level.Workload.Streams = n
		flows.Levels = append(flows.Levels, level)
	}
	if hosts := hashing(t); len(hosts) > 0 {
		hash := study.Factor{Name: "hash", Levels: []study.Level{
			{Name: "policy 0", About: "the kernel's default, by source and destination address"},
			{Name: "policy 1", About: "by ports as well"}}}
		for i := range hash.Levels {
			for _, host := range hosts {
				hash.Levels[i].Settings = append(hash.Levels[i].Settings, setting.Setting{Host: host,
					Sysctl: []setting.Sysctl{{Key: hashPolicy, Value: strconv.Itoa(i)}}})
			}
		}
		if slices.Contains(hosts, from) {
			chosen := hash.Levels[1]
			chosen.Name, chosen.About = "chosen ports",
				"policy 1, and ports of which the kernels say that the flows spread evenly"
			chosen.Workload = &study.Override{}
			chosen.Workload.SourcePorts = "even"
			hash.Levels = append(hash.Levels, chosen)
		}
		s.Factors = append(s.Factors, hash)
	}
	s.Factors = append(s.Factors, flows)
	return s, nil
}

// farthest returns the two hosts with the most paths between them, of those with the most links on a path.
// paths is 0 if no host reaches another one.
func farthest(t topology.Topology) (from, to string, paths int) {
	links := whole(t)
	ends := candidates(links)
	length := 0
	for i, a := range ends {
		for _, z := range ends[i+1:] {
			address, is := first(z)
			if !is {
				continue
			}
			found, err := links.Paths(a.Name, netip.Addr{}, address)
			if err == nil && (len(found) > paths || len(found) == paths && len(found[0]) > length) {
				from, to, paths, length = a.Name, z.Name, len(found), len(found[0])
			}
		}
	}
	return from, to, paths
}

// candidates returns hosts that do not forward, first one of each that the first link leads to; any hosts if
// fewer than two do not.
func candidates(t *topology.Topology) (list []*topology.Host) {
	var rest, others []*topology.Host
	seen := map[string]bool{}
	for i := range t.Hosts {
		h := &t.Hosts[i]
		rack := ""
		for _, p := range h.Interfaces {
			if l, is := t.LinkAt(topology.End{Node: h.Name, Interface: p.Name}); is {
				rack = l.Other(topology.End{Node: h.Name, Interface: p.Name}).Node
				break
			}
		}
		switch {
		case h.Forward:
			others = append(others, h)
		case seen[rack]:
			rest = append(rest, h)
		default:
			list = append(list, h)
		}
		seen[rack] = seen[rack] || !h.Forward
	}
	if list = append(list, rest...); len(list) < 2 {
		list = append(list, others...)
	}
	return list[:min(len(list), mostTried)]
}

// first returns the first address of a host, to which flows connect.
func first(h *topology.Host) (netip.Addr, bool) {
	for _, a := range h.Addresses() {
		return a.First, true
	}
	return netip.Addr{}, false
}

// whole returns a copy of a topology with what its file leaves out.
func whole(t topology.Topology) *topology.Topology {
	made := deep.Copy(reflect.ValueOf(t), func(reflect.Value) bool { return false }).Interface().(topology.Topology)
	made.Complete()
	return &made
}

// hashing lists the hosts that have several next hops for a destination.
func hashing(t topology.Topology) (names []string) {
	for _, h := range whole(t).Hosts {
		for _, r := range h.Routes {
			if len(r.Nexthops) > 1 {
				names = append(names, h.Name)
				break
			}
		}
	}
	return names
}
