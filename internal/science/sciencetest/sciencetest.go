// Package sciencetest generates records for tests: trials and runs of the study arp-flux as a lab
// would record them. It models what the settings do to ARP, routes and interfaces, with a seed for
// what is left to chance. It measures nothing; only tests may import it.
package sciencetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// Fixes are the levels of the factor "fix", the baseline first.
var Fixes = []string{
	"kernel defaults",
	"arp_ignore=1",
	"static ARP entries",
	"arp_ignore=1 + arp_announce=2",
	"arp + source routing",
	"arp + rp_filter=1",
	"arp + source routing + rp_filter=1",
}

// fix describes what a level changes.
type fix struct {
	ignore, announce, rpFilter int
	static, sourceRouting      bool
	about                      string
}

var fixes = map[string]fix{
	Fixes[0]: {about: "every NIC answers ARP for every address of the server"},
	Fixes[1]: {ignore: 1, about: "the NAS vendor's fix, a NIC answers only for its own address"},
	Fixes[2]: {static: true,
		about: "the clients have a permanent entry with the right MAC address of each server address"},
	Fixes[3]: {ignore: 1, announce: 2, about: "the server's own ARP requests name the asking NIC's own address"},
	Fixes[4]: {ignore: 1, announce: 2, sourceRouting: true,
		about: "replies leave by the NIC that holds their source address"},
	Fixes[5]: {ignore: 1, announce: 2, rpFilter: 1, about: "strict reverse-path filter without source routing"},
	Fixes[6]: {ignore: 1, announce: 2, rpFilter: 1, sourceRouting: true,
		about: "with source routing the strict reverse-path filter lets everything pass"},
}

// Lab is a server with several ports of 1 Gbit/s, and some clients, on one switch.
type Lab struct{ Ports, Clients int }

// Study is the lab of the study.
var Study = Lab{Ports: 4, Clients: 2}

const (
	portRate  = 1e9
	shaped    = 1448.0 / 1514
	headers   = 66    // Ethernet, IPv4, TCP with timestamps
	gso       = 62264 // payload of one GSO packet on a veth: 43 segments
	windowS   = 1.0
	intervals = 10
)

// Limit is the study's limit: four interfaces of 1 Gbit/s.
const Limit = 4 * portRate * shaped

func eth(p int) string      { return fmt.Sprintf("eth%d", p) }
func client(c int) string   { return fmt.Sprintf("client%d", c+1) }
func serverIP(p int) string { return ip(15 + p) }

// clientIP returns an address beyond those of all server ports.
func (l Lab) clientIP(c int) string { return ip(max(101, 15+l.Ports) + c) }

func ip(n int) string { return fmt.Sprintf("192.168.%d.%d", 1+n/256, n%256) }

// Topology returns the lab's topology.
func (l Lab) Topology() topology.Topology {
	t := topology.Topology{Switches: []topology.Switch{{Name: "switch"}}}
	server := topology.Host{Name: "server"}
	for p := range l.Ports {
		server.Interfaces = append(server.Interfaces,
			topology.Interface{Name: eth(p), Addresses: []topology.Address{address("%s/24", serverIP(p))}})
	}
	t.Hosts = append(t.Hosts, server)
	for c := range l.Clients {
		t.Hosts = append(t.Hosts, topology.Host{Name: client(c), Interfaces: []topology.Interface{
			{Name: "eth0", Addresses: []topology.Address{address("%s/24", l.clientIP(c))}}}})
	}
	join := func(node, port string, rate float64) {
		link := topology.Link{
			From: topology.End{Node: node, Interface: port},
			To:   topology.End{Node: "switch", Interface: "p-" + node + "-" + port},
		}
		link.Rate = unit.BitRate(rate)
		t.Links = append(t.Links, link)
	}
	for p := range l.Ports {
		join("server", eth(p), portRate)
	}
	for c := range l.Clients {
		join(client(c), "eth0", 1.25*portRate*float64(l.Ports)/float64(l.Clients))
	}
	return t
}

// factors repeats the factors of the study file.
func (l Lab) factors() []record.Factor {
	f := record.Factor{Name: "fix", Role: "compare", Baseline: Fixes[0]}
	for _, name := range Fixes {
		lines := l.settingLines(fixes[name])
		f.Levels = append(f.Levels, record.Level{Name: name, About: fixes[name].about, Settings: len(lines),
			SettingLines: lines})
	}
	return []record.Factor{
		{Name: "direction", Role: "condition", Baseline: "writes", Levels: []record.Level{{Name: "writes"},
			{Name: "reads"}}},
		f,
	}
}

func (l Lab) settingLines(f fix) []string {
	var lines []string
	sysctl := func(name string, value int) {
		if value != 0 {
			lines = append(lines, fmt.Sprintf("server: sysctl net.ipv4.conf.all.%s=%d", name, value))
		}
	}
	sysctl("arp_ignore", f.ignore)
	sysctl("arp_announce", f.announce)
	sysctl("rp_filter", f.rpFilter)
	for p := range l.Ports {
		if f.static {
			for c := range l.Clients {
				lines = append(lines, fmt.Sprintf("%s: neighbour %s lladdr server.%s dev eth0", client(c),
					serverIP(p), eth(p)))
			}
		}
		if f.sourceRouting {
			lines = append(lines,
				fmt.Sprintf("server: route 192.168.1.0/24 dev %s src %s table %d", eth(p), serverIP(p), 100+p),
				fmt.Sprintf("server: rule from %s lookup %d", serverIP(p), 100+p))
		}
	}
	return lines
}

// started is when every run began.
var started = time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)

// Run returns a run of the study with all its trials and without conclusions.
func Run(seed uint64, blocks int) *record.Run { return Study.Run(seed, blocks) }

// Run returns such a run in the lab.
func (l Lab) Run(seed uint64, blocks int) *record.Run {
	random := rand.New(rand.NewPCG(seed, 1))
	run := &record.Run{
		Schema: record.RunSchema, ID: fmt.Sprintf("arp-flux-%d", seed), Study: "arp-flux", Seed: seed,
		Question: "Does a server with several NICs on one subnet use them all, and which settings make it, for " +
			"writes and for reads?",
		Started:   started,
		DurationS: float64(blocks*len(Fixes)*2) * 2,
		Status:    "complete", Unit: "MB/s",
		Factors: l.factors(), Topology: l.Topology(), Confidence: 0.95, Margin: 0.02,
		StudyFile: "study: arp-flux\n",
		Again:     fmt.Sprintf("linerate run arp-flux --seed %d", seed),
		Environment: record.Environment{
			Version: "test", Mode: "lab, rootless",
			Hosts: []netstate.HostEnvironment{{Host: "conductor", OS: "linux", Kernel: "6.18.0", Arch: "amd64", CPUs: 2,
				CongestionControl: "cubic"}},
		},
	}
	order := 0
	for block := 1; block <= blocks; block++ {
		for _, pick := range random.Perm(len(Fixes) * 2) {
			order++
			direction := []string{"writes", "reads"}[pick%2]
			run.Trials = append(run.Trials, l.Trial(Fixes[pick/2], direction, block, order, random))
		}
	}
	return run
}

// Few returns a run in the study's lab with only some levels of the factor fix, in one direction,
// without the factor direction.
func Few(blocks int, fixes ...int) *record.Run { return Study.Few(blocks, fixes...) }

// Few returns such a run in this lab.
func (l Lab) Few(blocks int, fixes ...int) *record.Run {
	run, random := l.Run(1, 0), rand.New(rand.NewPCG(2, 2))
	all := run.Factors[1]
	f := all
	f.Levels, f.Baseline = nil, Fixes[fixes[0]]
	for _, i := range fixes {
		f.Levels = append(f.Levels, all.Levels[i])
	}
	run.Factors = []record.Factor{f}
	Factorial(run, blocks, func(levels map[string]string, block, order int) record.Trial {
		return l.Trial(levels["fix"], "writes", block, order, random)
	})
	if len(fixes) == 1 {
		run.Factors = nil
	}
	return run
}
