package showtest

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// Variants are runs at the edges of what a run can be. They take seconds to make, and
// all tests look at the same ones: they must not be changed.
var Variants = sync.OnceValue(makeVariants)

func makeVariants() map[string]*record.Run {
	even := func(n int) func(string, int) []float64 {
		return func(string, int) []float64 { return slices.Repeat([]float64{1}, n) }
	}
	plainLab := lab{ports: 4, clients: 2, blocks: 4, rate: 1e9, seed: 3, levels: []labLevel{{name: "as delivered", spread: only(1), poisoned: true}, {name: "fixed", spread: all}}}
	with := func(change func(*lab)) lab {
		l := plainLab
		change(&l)
		return l
	}
	out := map[string]*record.Run{
		"arp-flux":      ArpFlux(),
		"no-condition":  plainLab.run(),
		"one-treatment": with(func(l *lab) { l.levels = l.levels[:1] }).run(),
		"one-trial":     with(func(l *lab) { l.levels, l.blocks = l.levels[:1], 1 }).run(),
		"one-port":      with(func(l *lab) { l.ports, l.clients, l.levels = 1, 1, []labLevel{{name: "plain", spread: even(1)}} }).run(),
		"no-limit":      plainLab.run(),
		"no-difference": with(func(l *lab) { l.levels[1] = labLevel{name: "bigger buffers", spread: only(1)} }).run(),
		"empty":         {Schema: record.RunSchema, ID: "empty", Study: "empty"},
		"many-hosts":    with(func(l *lab) { l.clients = 39 }).run(),
		"hosts-100":     with(func(l *lab) { l.clients = 100 }).run(),
		"interfaces-100": with(func(l *lab) {
			l.ports = 100
			l.levels = []labLevel{{name: "as delivered", spread: func(string, int) []float64 {
				out := make([]float64, 100)
				for i := range 37 {
					out[i*2] = 0.2 + float64(i)/50
				}
				return out
			}}, {name: "spread", spread: even(100)}}
		}).run(),
		"treatments-30": with(func(l *lab) {
			l.conditions = []string{"writes", "reads", "both"}
			l.levels = nil
			for i := range 30 {
				l.levels = append(l.levels, labLevel{name: fmt.Sprintf("net.ipv4.tcp_rmem=4096 %d", 87380*(i+1)), spread: func(string, int) []float64 {
					return []float64{1, float64(i) / 30, 0, 0}
				}})
			}
		}).run(),
	}
	for i := range out["no-limit"].Treatments {
		t := &out["no-limit"].Treatments[i]
		t.LimitBps, t.Efficiency, t.LimitWhy = 0, 0, ""
		for p := range t.Interfaces {
			t.Interfaces[p].LimitBps = 0
		}
	}
	out["in-doubt"] = ArpFlux()
	for i := range out["in-doubt"].Trust {
		if c := &out["in-doubt"].Trust[i]; c.Check == "limit" && c.Trial%5 == 0 {
			c.Pass, c.Detail = false, "goodput 993 Mbit/s is 103.8 % of the limit 956.4 Mbit/s (allowed 100.5 %)"
		}
	}
	out["interrupted"] = ArpFlux()
	out["interrupted"].Status = "interrupted"
	out["budget"] = ArpFlux()
	out["budget"].Status = "budget"
	out["budget"].Design.Replicates = 6
	out["wide"] = ArpFlux()
	out["wide"].Status, out["wide"].Design.Until = "budget", 1e-9
	out["blocks"] = ArpFlux()
	out["blocks"].Status, out["blocks"].Design.Until = "blocks", 1e-9
	out["hostile"] = Hostile()
	out["ipv6"] = ipv6()
	out["fabric"] = fabric()
	out["back-to-back"] = backToBack()
	two := plainLab.run()
	two.Factors = append(two.Factors, record.Factor{Name: "mtu", Role: "compare", Baseline: "1500", Levels: []record.Level{{Name: "1500"}, {Name: "9000"}}})
	for i := range two.Treatments {
		two.Treatments[i].Levels["mtu"] = "1500"
	}
	more := plainLab.run().Treatments
	for i := range more {
		more[i].Levels["mtu"], more[i].Name, more[i].Baseline = "9000", more[i].Name+", 9000", false
		more[i].Best = false
	}
	two.Treatments = append(two.Treatments, more...)
	out["two-factors"] = two
	for name, responses := range map[string][]string{
		"loaded": {"latency_p99", "goodput"}, "loaded-goodput": {"goodput", "latency_p99", "transactions"}, "loaded-alone": {"latency_p999"},
	} {
		out[name] = sciencetest.Loaded(3, 4, responses...)
		conclude.Conclude(out[name])
	}
	out["lossy"] = lossy()
	out["ablated"] = Ablated()
	return out
}

// lossy is a run in which only the deeper queue loses nothing, and in which one
// level's requests were never answered.
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
	conclude.Conclude(run)
	return run
}

// Hostile has markup, formulas, control characters and long words wherever a
// user can write.
func Hostile() *record.Run {
	run := ArpFlux()
	evil := `<script>alert("x")</script>` + "\x1b[31m" + `&'"><img src=x onerror=alert(1)>` + strings.Repeat("long", 40)
	run.Study, run.Question, run.Answer, run.StudyFile, run.Again = evil, evil, evil, evil, evil
	run.Notes[0].Text = evil
	run.Environment.Version, run.Environment.Mode, run.Environment.Hosts[0].Kernel = evil, evil, evil
	run.Findings[0] = record.Finding{ID: evil, Host: evil, Confidence: evil, Summary: evil, Evidence: []string{evil}, Fix: []string{evil}, Reference: `javascript:alert(1)`}
	old := run.Factors[1].Levels[1].Name
	run.Factors[1].Levels[1].Name, run.Factors[1].Levels[1].About, run.Factors[1].Levels[1].SettingLines = "="+evil, evil, []string{evil}
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
				host.Snapshot.Neighbours[n].Address = run.Topology.Hosts[0].Interfaces[n].Addresses[0].First.String()
			}
		}
	}
	return run
}

// fabric is two servers and two clients behind two leaves and two spines that
// are routers: five columns.
func fabric() *record.Run {
	run := lab{ports: 2, clients: 2, blocks: 3, rate: 1e9, seed: 5, levels: []labLevel{
		{name: "one path", spread: func(string, int) []float64 { return []float64{1, 0} }},
		{name: "hash with ports", spread: func(string, int) []float64 { return []float64{0.9, 0.95} }}}}.run()
	t := &run.Topology
	for i := range 2 {
		t.Hosts = append(t.Hosts, topology.Host{Name: fmt.Sprintf("spine%d", i+1), Forward: true, Interfaces: []topology.Interface{{Name: "swp1"}, {Name: "swp2"}}})
	}
	t.Links = nil
	link := func(a, ap, b, bp string) {
		t.Links = append(t.Links, topology.Link{From: topology.End{Node: a, Interface: ap}, To: topology.End{Node: b, Interface: bp}, Impairment: topology.Impairment{Rate: 1e9}})
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
			tr.Interfaces = append(tr.Interfaces, record.TreatmentInterface{Host: fmt.Sprintf("spine%d", k+1), Interface: "swp2", RxBps: tr.Interfaces[k].RxBps, LimitBps: 1e9, Share: 1})
		}
	}
	return run
}

func backToBack() *record.Run {
	run := lab{ports: 2, clients: 1, blocks: 3, rate: 1e9, seed: 5, levels: []labLevel{{name: "plain", spread: func(string, int) []float64 { return []float64{1, 1} }}}}.run()
	t := &run.Topology
	t.Switches = nil
	t.Hosts[1].Interfaces = append(t.Hosts[1].Interfaces, topology.Interface{Name: "eth1"})
	t.Links = []topology.Link{
		{From: topology.End{Node: "server", Interface: "eth0"}, To: topology.End{Node: "client1", Interface: "eth0"}, Impairment: topology.Impairment{Rate: 1e9}},
		{From: topology.End{Node: "server", Interface: "eth1"}, To: topology.End{Node: "client1", Interface: "eth1"}, Impairment: topology.Impairment{Rate: 1e9}},
	}
	return run
}
