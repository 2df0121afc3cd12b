package limits

import (
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// TestFabricOfUnequalLinks: all hosts of a fabric send to all others.
func TestFabricOfUnequalLinks(t *testing.T) {
	const leaves, spines, hosts = 8, 8, 4
	top := &topology.Topology{}
	address := func(text string) []topology.Address {
		p := netip.MustParsePrefix(text)
		return []topology.Address{{First: p.Addr(), Last: p.Addr(), Bits: p.Bits()}}
	}
	join := func(a, b string, ai, bi string, rate unit.BitRate) {
		top.Links = append(top.Links, topology.Link{From: topology.End{Node: a, Interface: ai},
			To: topology.End{Node: b, Interface: bi}, Impairment: topology.Impairment{Rate: rate}})
	}
	for s := range spines {
		h := topology.Host{Name: fmt.Sprint("spine", s), Forward: true}
		for l := range leaves {
			h.Interfaces = append(h.Interfaces, topology.Interface{Name: fmt.Sprint("eth", l)})
			h.Routes = append(h.Routes, setting.Route{To: fmt.Sprintf("10.0.%d.0/24", l),
				Via: fmt.Sprintf("leaf%d.up%d", l, s), Interface: fmt.Sprint("eth", l)})
		}
		top.Hosts = append(top.Hosts, h)
	}
	var names []string
	for l := range leaves {
		leaf := topology.Host{Name: fmt.Sprint("leaf", l), Forward: true}
		var up []setting.Nexthop
		for s := range spines {
			leaf.Interfaces = append(leaf.Interfaces, topology.Interface{Name: fmt.Sprint("up", s)})
			up = append(up, setting.Nexthop{Via: fmt.Sprintf("spine%d.eth%d", s, l), Interface: fmt.Sprint("up", s)})
			join(leaf.Name, fmt.Sprint("spine", s), fmt.Sprint("up", s), fmt.Sprint("eth", l),
				unit.BitRate(1e9*float64(1+(3*l+5*s)%7)/16))
		}
		leaf.Routes = []setting.Route{{To: "10.0.0.0/16", Nexthops: up}}
		for k := range hosts {
			h := topology.Host{Name: fmt.Sprintf("h%d-%d", l, k), Interfaces: []topology.Interface{
				{Name: "eth0", Addresses: address(fmt.Sprintf("10.0.%d.%d/32", l, k+1))}},
				Routes: []setting.Route{{To: "10.0.0.0/16", Via: fmt.Sprintf("leaf%d.down%d", l, k),
					Interface: "eth0"}}}
			down := fmt.Sprint("down", k)
			leaf.Interfaces = append(leaf.Interfaces, topology.Interface{Name: down})
			leaf.Routes = append(leaf.Routes, setting.Route{To: fmt.Sprintf("10.0.%d.%d/32", l, k+1), Via: h.Name +
				".eth0", Interface: down})
			join(h.Name, leaf.Name, "eth0", down, 1e9)
			top.Hosts = append(top.Hosts, h)
			names = append(names, h.Name)
		}
		top.Hosts = append(top.Hosts, leaf)
	}
	n := Network{Topology: top}
	var within, across []Flow
	for i, from := range names {
		for k, to := range names {
			if i == k {
				continue
			}
			h, _ := top.Host(to)
			f, err := NewFlow(top, from, netip.Addr{}, h.Interfaces[0].Addresses[0].First, flow.Spec{})
			if err != nil {
				t.Fatal(err)
			}
			within = append(within, f)
			if i/hosts != k/hosts {
				across = append(across, f)
			}
		}
	}
	if got := n.Aggregate(within); math.Abs(got.Bps-32e9*1448/1514) > 1 || spelled(got) != "32 × 1 Gbit/s × 1448/1514" {
		t.Errorf("all to all: %+v, want what the hosts' links carry", got)
	}
	// To other leaves the flows fill every link from a leaf, or to one.
	up := 0.0
	for _, l := range top.Links {
		if strings.HasPrefix(l.To.Node, "spine") {
			up += float64(l.Rate)
		}
	}
	if got := n.Aggregate(across); math.Abs(got.Bps-up*1448/1514) > 1 {
		t.Errorf("to other leaves: %+v, want what all links from leaves carry, %g", got, up*1448/1514)
	}
}

// TestMemory: a programme beyond the bound of cells takes no memory for its tableau.
func TestMemory(t *testing.T) {
	// Hosts behind unequal links send to all others by unequal paths.
	const hosts, paths = 48, 6
	fabric := programme{}
	for i := range 2*hosts + paths {
		fabric.rows = append(fabric.rows, row{terms: map[int]float64{}, most: float64(1000 + i), link: true})
	}
	for from := range hosts {
		for to := range hosts {
			if from == to {
				continue
			}
			own := row{terms: map[int]float64{}, most: 1000, count: 1}
			for path := range paths {
				own.terms[fabric.columns] = 1
				for _, i := range []int{from, hosts + to, 2*hosts + path} {
					fabric.rows[i].terms[fabric.columns] = 1
				}
				fabric.columns++
			}
			fabric.rows = append(fabric.rows, own)
		}
	}
	// Links with one flow each, none of them alike.
	links := programme{columns: 4200}
	for i := range links.columns {
		links.rows = append(links.rows, row{terms: map[int]float64{i: 1}, most: float64(1 + i), link: true})
	}
	filled := 0.0 // all paths
	for _, r := range fabric.rows[2*hosts:][:paths] {
		filled += r.most
	}
	const most = 4 * 8 * maxCells
	for name, c := range map[string]struct {
		programme programme
		want      float64
	}{"without the flows' own rows": {fabric, filled}, "without a limit": {links, 0}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := c.programme.solve()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; math.Abs(got.Bps-c.want) > 1e-6*c.want || took > most {
			t.Errorf("%s: %+v with %d bytes, want %g with at most %d", name, got, took, c.want, most)
		}
	}
}
