package sciencetest

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
)

func address(format string, args ...any) topology.Address {
	p := netip.MustParsePrefix(fmt.Sprintf(format, args...))
	return topology.Address{First: p.Addr(), Last: p.Addr(), Bits: p.Bits()}
}

// Fabric returns a topology of two servers, each on this many spines. Both hash with this
// fib_multipath_hash_policy; empty: it is not set.
func Fabric(spines int, policy string) topology.Topology {
	var t topology.Topology
	for s := 1; s <= 2; s++ {
		h := topology.Host{Name: fmt.Sprint("server", s)}
		if policy != "" {
			h.Sysctls = []setting.Sysctl{{Key: "net.ipv4.fib_multipath_hash_policy", Value: policy}}
		}
		route := setting.Route{To: fmt.Sprintf("10.0.200.%d/32", 3-s)}
		for p := range spines {
			port := topology.Interface{Name: fmt.Sprint("eth", p), Addresses: []topology.Address{
				address("10.%d.%d.1/30", s, p)}}
			if p == 0 {
				port.Addresses = append(port.Addresses, address("10.0.200.%d/32", s))
			}
			h.Interfaces = append(h.Interfaces, port)
			route.Nexthops = append(route.Nexthops, setting.Nexthop{Via: fmt.Sprintf("10.%d.%d.2", s, p),
				Interface: port.Name})
		}
		h.Routes = []setting.Route{route}
		t.Hosts = append(t.Hosts, h)
	}
	for p := range spines {
		h := topology.Host{Name: fmt.Sprint("spine", p+1), Forward: true}
		for s := 1; s <= 2; s++ {
			down := fmt.Sprint("down", s)
			h.Interfaces = append(h.Interfaces,
				topology.Interface{Name: down, Addresses: []topology.Address{address("10.%d.%d.2/30", s, p)}})
			h.Routes = append(h.Routes, setting.Route{To: fmt.Sprintf("10.0.200.%d/32", s),
				Via: fmt.Sprintf("10.%d.%d.1", s, p), Interface: down})
			t.Links = append(t.Links,
				topology.Link{From: topology.End{Node: fmt.Sprint("server", s), Interface: fmt.Sprint("eth", p)},
					To:         topology.End{Node: h.Name, Interface: down},
					Impairment: topology.Impairment{Rate: 1e9, MTU: 9000}})
		}
		t.Hosts = append(t.Hosts, h)
	}
	t.Complete()
	return t
}

// hashedLinkBps is the most that one of the links of Hashed carries.
const hashedLinkBps = 992e6

// Hashed returns a trial of the servers of Fabric, whose flows took the spines in on, counted from
// 0. Used links carry a little less than they can.
func Hashed(treatment string, spines int, ports string, on ...int) record.Trial {
	t := record.Trial{Treatment: treatment, LimitBps: hashedLinkBps * float64(min(spines, len(on)))}
	sharing := map[int]float64{}
	for _, s := range on {
		sharing[s]++
	}
	for i, s := range on {
		t.Flows = append(t.Flows, record.Flow{
			From: "server1", To: "server2", Paths: spines, SourcePorts: ports, Connected: true, LimitBps: hashedLinkBps,
			GoodputBps: 0.995 * hashedLinkBps / sharing[s], Source: fmt.Sprintf("10.0.200.1:%d", 40000+i),
			Destination: "10.0.200.2:5201",
			Path: []string{fmt.Sprint("server1.eth", s), fmt.Sprintf("spine%d.down1", s+1),
				fmt.Sprintf("spine%d.down2", s+1), fmt.Sprint("server2.eth", s)},
			Observed: []string{fmt.Sprintf("spine%d.down1", s+1), fmt.Sprint("server2.eth", s)},
		})
		t.Flows[i].Predicted = t.Flows[i].Path
	}
	t.GoodputBps = 0.995 * hashedLinkBps * float64(len(sharing))
	return t
}

// Curve returns a run of the servers of Fabric, over each number of links with each number of
// flows. place draws the link of every flow. The factors links and flows are conditions.
func Curve(links, flows []int, trials int, place func(links int) int) *record.Run {
	run := &record.Run{
		Study: "ecmp-curve", Unit: "bit/s", Status: "complete", Confidence: 0.95, Margin: 0.02,
		Topology: Fabric(slices.Max(links), "1"),
		Factors:  []record.Factor{{Name: "links", Role: "condition"}, {Name: "flows", Role: "condition"}},
	}
	for _, n := range links {
		over := Fabric(n, "1")
		run.Factors[0].Levels = append(run.Factors[0].Levels, record.Level{Name: fmt.Sprint(n, " links")})
		for i, k := range flows {
			if n == links[0] {
				run.Factors[1].Levels = append(run.Factors[1].Levels, record.Level{Name: fmt.Sprint(k, " flows")})
			}
			levels := map[string]string{"links": fmt.Sprint(n, " links"), "flows": run.Factors[1].Levels[i].Name}
			name := levels["links"] + ", " + levels["flows"]
			run.Treatments = append(run.Treatments, record.Treatment{Name: name, Levels: levels, Baseline: true,
				Trials: trials})
			for block := range trials {
				on := make([]int, k)
				for j := range on {
					on[j] = place(n)
				}
				t := Hashed(name, n, "drawn", on...)
				t.Levels, t.Topology, t.Block, t.Order = levels, &over, block+1, len(run.Trials)+1
				t.PlacementLimitBps = t.GoodputBps / 0.995
				run.Trials = append(run.Trials, t)
			}
		}
	}
	return run
}
