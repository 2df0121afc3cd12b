package multipath

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/ecmp"
)

// multipath is a route with several next hops, and the flows of a trial that it sent.
type multipath struct {
	host  *facts.Host
	to    netip.Prefix
	hops  []record.RouteNexthop
	flows []routedFlow
}

// routedFlow is a flow that a multipath route sent by one of its interfaces.
type routedFlow struct {
	record.Flow
	egress string
	// drawn: the hash has something that is drawn for each connection.
	drawn bool
	// before are the hosts on its path as far as the route's.
	before []string
}

// multipaths lists the routes with several next hops that flows took whose paths are
// known.
func multipaths(f facts.Trial) []*multipath {
	var list []*multipath
	for _, flow := range f.Trial.Flows {
		if !flow.Placed() {
			continue
		}
		var before []string
		ends := flow.Ends()
		for i := 0; i+1 < len(ends); i++ {
			node := ends[i].Node
			h := f.Host(node)
			if h == nil || node == ends[i+1].Node {
				continue
			}
			to, hops := h.Route(flow.DestinationAddr())
			if len(hops) > 1 {
				at := slices.IndexFunc(list, func(o *multipath) bool { return o.host == h && o.to == to })
				if at < 0 {
					at, list = len(list), append(list, &multipath{host: h, to: to, hops: hops})
				}
				list[at].flows = append(list[at].flows, routedFlow{flow, ends[i].Interface,
					ecmp.PerConnection(&f.Trial, f.Topology, node, flow), slices.Clone(before)})
			}
			before = append(before, node)
		}
	}
	return list
}

// family names the route's sysctls: each address family has its own.
func (k *multipath) family() string {
	if k.to.Addr().Is4() {
		return "ipv4"
	}
	return "ipv6"
}

// parameter reads one of these sysctls; false: it was not recorded.
func (k *multipath) parameter(name string) (int, bool) {
	value, err := strconv.ParseInt(strings.TrimSpace(k.host.Reading.Snapshot.Sysctls["net."+k.family()+"."+name]), 0,
		64)
	return int(value), err == nil
}

// pairs are the pairs of addresses of the flows.
func (k *multipath) pairs() int { return pairs(k.flows) }

func pairs(flows []routedFlow) int {
	seen := map[[2]netip.Addr]bool{}
	for _, f := range flows {
		seen[[2]netip.Addr{f.SourceAddr(), f.DestinationAddr()}] = true
	}
	return len(seen)
}

// placements are how many hashes there were to place; false: the policy is not
// known.
func (k *multipath) placements() (n int, known bool) {
	policy, known := k.parameter("fib_multipath_hash_policy")
	fields, _ := k.parameter("fib_multipath_hash_fields")
	fixed := slices.DeleteFunc(slices.Clone(k.flows), func(f routedFlow) bool { return f.drawn })
	return len(k.flows) - len(fixed) + ecmp.Distinct(policy, uint32(fields), len(fixed), pairs(fixed)), known
}

// used are the interfaces that flows left by, with how many each had.
func (k *multipath) used() map[string]int {
	flows := map[string]int{}
	for _, f := range k.flows {
		flows[f.egress]++
	}
	return flows
}

// links are the next hops for the theory of hashing, all of one rate.
func (k *multipath) links() ecmp.Links {
	links := ecmp.Alike(len(k.hops), 1)
	for i, hop := range k.hops {
		links[i].Weight = float64(hop.Weight)
	}
	return links
}

// placed is how many flows each interface had, and what it sent of what all did.
func (k *multipath) placed() fact.Placed {
	used, total := k.used(), 0.0
	for _, hop := range k.hops {
		total += k.host.Deltas[hop.Interface].TxBytes
	}
	is := fact.Placed{To: k.to, Flows: len(k.flows)}
	for _, hop := range k.hops {
		by := fact.PlacedBy{Interface: hop.Interface, Flows: used[hop.Interface]}
		if total > 0 {
			share := k.host.Deltas[hop.Interface].TxBytes / total
			by.Share = &share
		}
		is.By = append(is.By, by)
	}
	return is
}

// rule is what the hash goes by; none: it is not known.
func (k *multipath) rule() (list []any) {
	policy, known := k.parameter("fib_multipath_hash_policy")
	if !known {
		return nil
	}
	is := fact.HashPolicy{Family: k.family(), Policy: policy}
	if fields, ok := k.parameter("fib_multipath_hash_fields"); ok && policy == 3 {
		is.Fields = &fields
	} else {
		is.Labels = (policy == 0 || policy == 2) && k.flows[0].drawn
	}
	return []any{is}
}

// rate is that of the link behind a next hop's interface; 0: not known.
func rate(f facts.Trial, k *multipath, netif string) float64 {
	end := topology.End{Node: k.host.Name, Interface: netif}
	if link, ok := f.Topology.LinkAt(end); ok {
		return float64(link.Towards(end).Rate)
	}
	return 0
}

// confidence is that of a cause that goes by where flows went: certain if the
// kernels had said so beforehand.
func (k *multipath) confidence() string {
	for _, f := range k.flows {
		if same, known := f.AsPredicted(); !same || !known {
			return record.Likely
		}
	}
	return record.Certain
}
