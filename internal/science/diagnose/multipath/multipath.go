package multipath

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/ecmp"
)

// multipath is a route with several next hops, and the flows of a trial that used it.
type multipath struct {
	host  *facts.Host
	to    netip.Prefix
	hops  []netstate.RouteNexthop
	flows []routedFlow
}

// routedFlow is a flow that a route with several next hops sent by one of its interfaces.
type routedFlow struct {
	record.Flow
	egress string
	// drawn reports whether the hash includes a value that is chosen at random for each connection.
	drawn bool
	// before are the hosts on the flow's path before the route's host.
	before []string
}

// multipaths returns the routes with several next hops that sent flows, of the flows whose paths
// are known.
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

// family returns the family in the names of the route's kernel parameters.
func (k *multipath) family() string {
	if k.to.Addr().Is4() {
		return "ipv4"
	}
	return "ipv6"
}

// parameter returns the value of net.FAMILY.NAME; false: it was not recorded.
func (k *multipath) parameter(name string) (int, bool) {
	value, err := strconv.ParseInt(strings.TrimSpace(k.host.Reading.Snapshot.Sysctls["net."+k.family()+"."+name]), 0,
		64)
	return int(value), err == nil
}

// pairs returns the number of different pairs of addresses of the flows.
func (k *multipath) pairs() int { return pairs(k.flows) }

func pairs(flows []routedFlow) int {
	seen := map[[2]netip.Addr]bool{}
	for _, f := range flows {
		seen[[2]netip.Addr{f.SourceAddr(), f.DestinationAddr()}] = true
	}
	return len(seen)
}

// placements returns how many independent hashes the flows have; false: the hash policy is not
// known.
func (k *multipath) placements() (n int, known bool) {
	policy, known := k.parameter("fib_multipath_hash_policy")
	fields, _ := k.parameter("fib_multipath_hash_fields")
	fixed := slices.DeleteFunc(slices.Clone(k.flows), func(f routedFlow) bool { return f.drawn })
	return len(k.flows) - len(fixed) + ecmp.Distinct(policy, uint32(fields), len(fixed), pairs(fixed)), known
}

// used returns the number of flows of each interface that sent any.
func (k *multipath) used() map[string]int {
	flows := map[string]int{}
	for _, f := range k.flows {
		flows[f.egress]++
	}
	return flows
}

// links returns the next hops as links of the hash model, all with the same rate.
func (k *multipath) links() ecmp.Links {
	links := ecmp.Alike(len(k.hops), 1)
	for i, hop := range k.hops {
		links[i].Weight = float64(hop.Weight)
	}
	return links
}

// placed returns the number of flows of each interface and its share of what all sent, as evidence.
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

// rule returns the policy of the hash as evidence; none: it is not known.
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

// rate returns the rate of the link behind an interface, in bits per second; 0: not known.
func rate(f facts.Trial, k *multipath, netif string) float64 {
	end := topology.End{Node: k.host.Name, Interface: netif}
	if link, ok := f.Topology.LinkAt(end); ok {
		return float64(link.Towards(end).Rate)
	}
	return 0
}

// confidence returns how sure a finding about the placement of flows is: certain if each flow took
// the path that the kernels had predicted, otherwise likely.
func (k *multipath) confidence() string {
	for _, f := range k.flows {
		if same, known := f.AsPredicted(); !same || !known {
			return record.Likely
		}
	}
	return record.Certain
}
