package showtest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/sciencetest"
)

// Variants returns unusual runs. Creating them takes seconds, and all tests share them: they must
// not be modified.
var Variants = sync.OnceValue(makeVariants)

func makeVariants() map[string]*record.Run {
	few := func(ports, clients, blocks int, fixes ...int) *record.Run {
		return concluded(sciencetest.Lab{Ports: ports, Clients: clients}.Few(blocks, fixes...))
	}
	out := map[string]*record.Run{
		"arp-flux":       ArpFlux(),
		"no-condition":   few(4, 2, 4, 0, 4),
		"one-treatment":  few(4, 2, 4, 0),
		"one-trial":      few(4, 2, 1, 0),
		"one-port":       few(1, 1, 4, 0),
		"no-limit":       few(4, 2, 4, 0, 4),
		"no-difference":  few(4, 2, 4, 2, 3),
		"empty":          {Schema: record.RunSchema, ID: "empty", Study: "empty"},
		"many-hosts":     few(4, 39, 4, 0, 4),
		"hosts-100":      few(4, 100, 4, 0, 4),
		"interfaces-100": few(100, 2, 4, 1, 4),
		"treatments-30":  thirty(),
	}
	for i := range out["no-limit"].Treatments {
		t := &out["no-limit"].Treatments[i]
		t.LimitBps, t.Efficiency, t.LimitWhy = 0, 0, ""
		for p := range t.Interfaces {
			t.Interfaces[p].LimitBps = 0
		}
	}
	for name, change := range map[string]func(*record.Run){
		"in-doubt": func(run *record.Run) {
			for order := 5; order <= 56; order += 5 {
				run.Trust = append(run.Trust, record.Check{Check: "limit", Trial: order,
					Detail: "goodput 993 Mbit/s is 103.8 % of the limit 956.4 Mbit/s (allowed 100.5 %)"})
			}
		},
		"interrupted": func(run *record.Run) { run.Status = "interrupted" },
		"budget":      func(run *record.Run) { run.Status, run.Design.Replicates = "budget", 6 },
		"wide":        func(run *record.Run) { run.Status, run.Design.Until = "budget", 1e-9 },
		"blocks":      func(run *record.Run) { run.Status, run.Design.Until = "blocks", 1e-9 },
	} {
		out[name] = ArpFlux()
		change(out[name])
	}
	out["hostile"] = Hostile()
	out["ipv6"] = ipv6()
	out["fabric"] = fabric()
	out["back-to-back"] = backToBack()
	out["two-factors"] = twoFactors()
	out["scattered"] = concluded(sciencetest.Levels("bit/s", 956e6, []string{""}, []string{"plain", "by chance"},
		func(_, level string, block int) float64 {
			return 956e6 * map[string][]float64{"plain": {0.25, 0.25, 0.25, 0.25},
				"by chance": {1, 0.25, 0.5, 0.25}}[level][block-1]
		}, 4))
	for name, responses := range map[string][]string{
		"loaded": {"latency_p99", "goodput"}, "loaded-goodput": {"goodput", "latency_p99", "transactions"},
		"loaded-alone": {"latency_p999"},
	} {
		out[name] = concluded(sciencetest.Loaded(3, 4, responses...))
	}
	out["lossy"] = lossy()
	out["ablated"] = Ablated()
	return out
}

// thirty returns a run with that many levels in each of three conditions.
func thirty() *record.Run {
	run, random := sciencetest.Run(7, 0), rand.New(rand.NewPCG(7, 1))
	direction, fix := &run.Factors[0], &run.Factors[1]
	direction.Levels = sciencetest.Named("writes", "reads", "both")
	fix.Levels = nil
	like := map[string]string{}
	for i := range 30 {
		l := record.Level{Name: fmt.Sprintf("net.ipv4.tcp_rmem=4096 %d", 87380*(i+1))}
		fix.Levels, like[l.Name] = append(fix.Levels, l), sciencetest.Fixes[i%len(sciencetest.Fixes)]
	}
	fix.Baseline = fix.Levels[0].Name
	return concluded(sciencetest.Factorial(run, 4, func(at map[string]string, block, order int) record.Trial {
		return sciencetest.Study.Trial(like[at["fix"]], at["direction"], block, order, random)
	}))
}

// twoFactors returns a run of two levels of fix with each of two levels of mtu, which has no
// effect.
func twoFactors() *record.Run {
	run, random := sciencetest.Few(0, 0, 4), rand.New(rand.NewPCG(2, 2))
	run.Factors = append(run.Factors, record.Factor{Name: "mtu", Role: "compare", Baseline: "1500",
		Levels: sciencetest.Named("1500", "9000")})
	return concluded(sciencetest.Factorial(run, 4, func(at map[string]string, block, order int) record.Trial {
		return sciencetest.Study.Trial(at["fix"], "writes", block, order, random)
	}))
}

// lossy returns a run in which only the deeper queue loses nothing, and in which requests at one
// level were never answered.
func lossy() *record.Run {
	run := sciencetest.Loaded(3, 4, "lost", "latency_p50")
	for i := range run.Trials {
		t := &run.Trials[i]
		t.Datagrams = &record.Datagrams{Sent: 1000, Received: 1000}
		if t.Treatment != sciencetest.Queues[0] {
			t.Datagrams.Lost, t.Datagrams.Received = int64(40+t.Block), int64(960-t.Block)
		}
		if t.Treatment == sciencetest.Queues[2] {
			t.Latency = nil
		}
	}
	return concluded(run)
}

// Hostile returns a run with markup, formulas, control characters and long words in every string
// that a user can write.
func Hostile() *record.Run {
	run := ArpFlux()
	evil := `<script>alert("x")</script>` + "\x1b[31m" + `&'"><img src=x onerror=alert(1)>` + strings.Repeat("long", 40)
	run.Study, run.Question, run.Answer, run.StudyFile, run.Again = evil, evil, evil, evil, evil
	run.Notes[0].Text = evil
	run.Environment.Version, run.Environment.Mode, run.Environment.Hosts[0].Kernel = evil, evil, evil
	run.Findings[0] = record.Finding{ID: evil, Host: evil, Confidence: evil, Summary: evil, Evidence: []string{evil},
		Fix: []string{evil}, Reference: `javascript:alert(1)`}
	old := run.Factors[1].Levels[1].Name
	run.Factors[1].Levels[1].Name, run.Factors[1].Levels[1].About, run.Factors[1].Levels[1].SettingLines = "="+evil,
		evil, []string{evil}
	for i := range run.Treatments {
		if run.Treatments[i].Levels["fix"] == old {
			run.Treatments[i].Levels["fix"] = "=" + evil
		}
	}
	for i := range run.Effects {
		run.Effects[i].Why = evil
	}
	run.Topology.Hosts[0].Name = "server"
	run.Topology.Switches[0].Name = evil
	for i := range run.Topology.Links {
		run.Topology.Links[i].To.Node = evil
	}
	for i := range run.Trust {
		run.Trust[i].Detail = evil
	}
	run.Trust[3].Pass = false
	for i := range run.Trials {
		for h := range run.Trials[i].Hosts {
			for n := range run.Trials[i].Hosts[h].Snapshot.Neighbours {
				run.Trials[i].Hosts[h].Snapshot.Neighbours[n].State = evil
			}
		}
	}
	return run
}

func ipv6() *record.Run {
	run := ArpFlux()
	for h := range run.Topology.Hosts {
		for p := range run.Topology.Hosts[h].Interfaces {
			addr := netip.MustParseAddr(fmt.Sprintf("2001:db8:85a3:8d3:1319:8a2e:%x:%x", h+0x7000, p+0x1000))
			run.Topology.Hosts[h].Interfaces[p].Addresses = []topology.Address{{First: addr, Last: addr, Bits: 64}}
		}
	}
	for i := range run.Trials {
		for h := range run.Trials[i].Hosts {
			host := &run.Trials[i].Hosts[h]
			for p := range host.Snapshot.Interfaces {
				host.Snapshot.Interfaces[p].Addresses = nil
			}
			for n := range host.Snapshot.Neighbours {
				if host.Host == "server" {
					continue
				}
				host.Snapshot.Neighbours[n].Address = run.Topology.Hosts[0].Interfaces[n].Addresses[0].First.String()
			}
		}
	}
	return run
}

// fabric returns a topology of two servers and two clients behind two leaves and two spines, which
// are routers: five columns.
func fabric() *record.Run {
	run := concluded(sciencetest.Lab{Ports: 2, Clients: 2}.Few(3, 0, 4))
	t := &run.Topology
	for i := range 2 {
		t.Hosts = append(t.Hosts, topology.Host{Name: fmt.Sprintf("spine%d", i+1), Forward: true,
			Interfaces: []topology.Interface{{Name: "swp1"}, {Name: "swp2"}}})
	}
	t.Links = nil
	link := func(a, ap, b, bp string) {
		t.Links = append(t.Links, topology.Link{From: topology.End{Node: a, Interface: ap},
			To: topology.End{Node: b, Interface: bp}, Impairment: topology.Impairment{Rate: 1e9}})
	}
	link("server", "eth0", "spine1", "swp1")
	link("server", "eth1", "spine2", "swp1")
	link("spine1", "swp2", "switch", "p1")
	link("spine2", "swp2", "switch", "p2")
	link("client1", "eth0", "switch", "p3")
	link("client2", "eth0", "switch", "p4")
	for i := range run.Treatments {
		tr := &run.Treatments[i]
		for k := range 2 {
			tr.Interfaces = append(tr.Interfaces, record.TreatmentInterface{Host: fmt.Sprintf("spine%d", k+1),
				Interface: "swp2", RxBps: tr.Interfaces[k].RxBps, LimitBps: 1e9, Share: 1})
		}
	}
	return run
}

func backToBack() *record.Run {
	run := concluded(sciencetest.Lab{Ports: 2, Clients: 1}.Few(3, 4))
	t := &run.Topology
	t.Switches = nil
	t.Hosts[1].Interfaces = append(t.Hosts[1].Interfaces, topology.Interface{Name: "eth1"})
	t.Links = []topology.Link{
		{From: topology.End{Node: "server", Interface: "eth0"}, To: topology.End{Node: "client1", Interface: "eth0"},
			Impairment: topology.Impairment{Rate: 1e9}},
		{From: topology.End{Node: "server", Interface: "eth1"}, To: topology.End{Node: "client1", Interface: "eth1"},
			Impairment: topology.Impairment{Rate: 1e9}},
	}
	return run
}
