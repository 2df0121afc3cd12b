// Package showtest makes runs and measurements for tests of what people see: the
// first study with made-up figures, and runs at the edges of what a run can be.
package showtest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"

	"linerate/internal/science/conclude"
)

// wireRatio is what a shaped interface lets through of its rate as TCP payload.
const wireRatio = 1448.0 / 1514

// lab describes a made-up run: one server with several interfaces, some clients, a
// switch, and for every level how each condition spreads over the interfaces.
type lab struct {
	ports, clients, blocks int
	rate                   float64 // of a server port; 0: unknown
	conditions             []string
	levels                 []labLevel
	seed                   uint64
}

type labLevel struct {
	name, about string
	settings    []string
	// spread gives, for a condition and a block, each interface's part of its rate.
	spread func(condition string, block int) []float64
	// poisoned: the clients hold every address at one interface's MAC.
	poisoned bool
	// refused: flows to all addresses but the first cannot connect.
	refused bool
}

func only(port int) func(string, int) []float64 {
	return func(string, int) []float64 {
		out := make([]float64, 4)
		out[port] = 1
		return out
	}
}

func all(string, int) []float64 { return []float64{1, 1, 1, 1} }

func writesOnly(condition string, block int) []float64 {
	if condition == "reads" {
		return only(0)(condition, block)
	}
	return all(condition, block)
}

// ArpFlux is the built-in study's run, with figures as a lab gives them.
func ArpFlux() *record.Run {
	arp := []string{"server: sysctl net.ipv4.conf.all.arp_ignore=1", "server: sysctl net.ipv4.conf.all.arp_announce=2"}
	routing := slices.Clone(arp)
	for p := range 4 {
		routing = append(routing,
			fmt.Sprintf("server: route 192.168.1.0/24 dev eth%d src 192.168.1.%d table %d", p, 15+p, 100+p),
			fmt.Sprintf("server: rule from 192.168.1.%d table %d", 15+p, 100+p))
	}
	l := lab{ports: 4, clients: 2, blocks: 4, rate: 1e9, conditions: []string{"writes", "reads"}, seed: 7, levels: []labLevel{
		{name: "kernel defaults", about: "every NIC answers ARP for every address of the server", poisoned: true,
			spread: func(c string, b int) []float64 {
				if c == "reads" {
					return only(0)(c, b)
				}
				return only(1)(c, b)
			}},
		{name: "arp_ignore=1", about: "the NAS vendor's fix, a NIC answers only for its own address", settings: arp[:1],
			spread: func(c string, b int) []float64 {
				if c == "reads" {
					return only(0)(c, b)
				}
				return [][]float64{{1, 1, 1, 1}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 0, 1}}[(b-1)%4]
			}},
		{name: "static ARP entries", about: "the clients are told the right MAC address of each server address", spread: writesOnly,
			settings: []string{"client1: neighbour 192.168.1.15 lladdr server.eth0", "client2: neighbour 192.168.1.15 lladdr server.eth0"}},
		{name: "arp_ignore=1 + arp_announce=2", about: "the server's own ARP requests name the asking NIC's own address", settings: arp, spread: writesOnly},
		{name: "arp + source routing", about: "replies leave by the NIC that holds their source address", settings: routing, spread: all},
		{name: "arp + rp_filter=1", about: "strict reverse-path filter without source routing", settings: append(slices.Clone(arp), "server: sysctl net.ipv4.conf.all.rp_filter=1"),
			spread: only(0), refused: true},
		{name: "arp + source routing + rp_filter=1", about: "with source routing the strict reverse-path filter lets everything pass",
			settings: append(slices.Clone(routing), "server: sysctl net.ipv4.conf.all.rp_filter=1"), spread: all},
	}}
	run := l.run()
	run.ID, run.Study, run.Unit = "arp-flux-7", "arp-flux", "MB/s"
	run.Question = "Does a server with several NICs on one subnet use them all, and which settings make it, for writes and for reads?"
	run.Answer = "With kernel defaults the four-port server is written to through one interface: 119.5 of 478.2 MB/s. " +
		"arp + source routing uses all four, both ways: 4.00× (3.98–4.01)."
	run.Again = "linerate run arp-flux --seed 7"
	run.StudyFile = "study: arp-flux\nquestion: Does a server with several NICs on one subnet use them all?\nunit: MB/s\n"
	run.Findings = []record.Finding{{
		ID: "arp-flux", Host: "server", Confidence: record.Certain,
		Summary: "three of the server's four addresses are reached through one interface, because every interface answers ARP for every address",
		Evidence: []string{
			"client2 holds 192.168.1.15, 192.168.1.17 and 192.168.1.18 at the MAC address of server.eth1, 02:00:00:01:00:02",
			"server.eth1 received 100.0 % of the host's data, the other three interfaces 0.0 %",
			"server: net.ipv4.conf.all.arp_ignore is 0 and net.ipv4.conf.all.arp_filter is 0",
		},
		Fix:       []string{"sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2"},
		Reference: "https://docs.kernel.org/networking/ip-sysctl.html", Treatments: []string{"writes, kernel defaults", "reads, kernel defaults"},
	}, {
		ID: "same-subnet-one-egress", Host: "server", Confidence: record.Certain,
		Summary:    "everything the server sends to 192.168.1.0/24 leaves by eth0, whatever its source address",
		Evidence:   []string{"a packet from 192.168.1.16 to 192.168.1.101 leaves by eth0, which does not hold 192.168.1.16"},
		Fix:        []string{"ip route add 192.168.1.0/24 dev eth1 src 192.168.1.16 table 101", "ip rule add from 192.168.1.16 table 101"},
		Reference:  "https://man7.org/linux/man-pages/man8/ip-rule.8.html",
		Treatments: []string{"reads, kernel defaults", "reads, static ARP entries"},
	}}
	run.Notes = []record.Note{{Time: run.Started.Add(time.Hour), Text: "Before the switch was replaced."}}
	return run
}

func (l lab) topology() topology.Topology {
	var t topology.Topology
	server := topology.Host{Name: "server"}
	for p := range l.ports {
		addr := netip.AddrFrom4([4]byte{192, 168, byte(1 + p/200), byte(15 + p%200)})
		server.Interfaces = append(server.Interfaces, topology.Interface{Name: fmt.Sprintf("eth%d", p), Addresses: []topology.Address{{First: addr, Last: addr, Bits: 24}}})
		t.Links = append(t.Links, topology.Link{From: topology.End{Node: "server", Interface: fmt.Sprintf("eth%d", p)},
			To: topology.End{Node: "switch", Interface: fmt.Sprintf("p-server-eth%d", p)}, Impairment: topology.Impairment{Rate: unit.BitRate(l.rate)}})
	}
	t.Hosts = append(t.Hosts, server)
	for c := range l.clients {
		name := fmt.Sprintf("client%d", c+1)
		addr := netip.AddrFrom4([4]byte{192, 168, 1, byte(101 + c)})
		t.Hosts = append(t.Hosts, topology.Host{Name: name, Interfaces: []topology.Interface{{Name: "eth0", Addresses: []topology.Address{{First: addr, Last: addr, Bits: 24}}}}})
		t.Links = append(t.Links, topology.Link{From: topology.End{Node: name, Interface: "eth0"},
			To: topology.End{Node: "switch", Interface: "p-" + name + "-eth0"}, Impairment: topology.Impairment{Rate: unit.BitRate(2.5 * l.rate)}})
	}
	t.Switches = []topology.Switch{{Name: "switch"}}
	return t
}

// Topology is a server with so many interfaces of 1 Gbit/s and so many clients at
// one switch.
func Topology(interfaces, clients int) topology.Topology {
	return lab{ports: interfaces, clients: clients, rate: 1e9}.topology()
}

func (l lab) run() *record.Run {
	random := rand.New(rand.NewPCG(l.seed, 1))
	started := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	run := &record.Run{Schema: record.RunSchema, ID: "study-7", Study: "study", Seed: l.seed, Started: started, DurationS: 112.4,
		Status: "complete", Unit: "bit/s", Confidence: 0.95, Margin: 0.02, Topology: l.topology(), Again: "linerate run study.yaml --seed 7",
		Environment: record.Environment{Version: "0.1.0", Mode: "lab, rootless", Hosts: []record.HostEnvironment{
			{Host: "server", OS: "linux", Kernel: "6.18.0", Arch: "amd64", CPUs: 2, CongestionControl: "cubic", Missing: []string{"netem: not in this kernel"}}}}}
	fix := record.Factor{Name: "fix", Role: "compare"}
	for i, level := range l.levels {
		if i == 0 {
			fix.Baseline = level.name
		}
		fix.Levels = append(fix.Levels, record.Level{Name: level.name, About: level.about, Settings: len(level.settings), SettingLines: level.settings})
	}
	conditions := l.conditions
	if len(conditions) > 0 {
		direction := record.Factor{Name: "direction", Role: "condition", Baseline: conditions[0]}
		for _, c := range conditions {
			direction.Levels = append(direction.Levels, record.Level{Name: c})
		}
		run.Factors = append(run.Factors, direction)
	} else {
		conditions = []string{""}
	}
	run.Factors = append(run.Factors, fix)
	order := 0
	for block := 1; block <= l.blocks; block++ {
		for _, level := range l.levels {
			for _, c := range conditions {
				order++
				t := l.trial(run, level, c, block, order, random)
				t.Started = started.Add(time.Duration(order) * 2 * time.Second)
				run.Trials = append(run.Trials, t)
			}
		}
	}
	// The made-up trials pass no check and show no cause: those are made up, too.
	conclude.Conclude(run)
	run.Trust, run.Findings, run.Conclusion = nil, nil, nil
	for _, t := range run.Trials {
		for _, check := range []string{"conservation", "wire", "limit", "connected", "alive", "steady", "generator"} {
			run.Trust = append(run.Trust, record.Check{Check: check, Pass: true, Trial: t.Order, Detail: "within tolerance"})
		}
	}
	run.Trust = append(run.Trust, record.Check{Check: "clock", Pass: true, Detail: "all hosts share one clock"})
	return run
}

func (l lab) name(condition, level string) string {
	if condition == "" {
		return level
	}
	return condition + ", " + level
}
