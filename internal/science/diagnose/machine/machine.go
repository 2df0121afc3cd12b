// Package machine has the rules about a machine: CPUs, memory, clock, resolver, kernel log, and the
// reports of other programs.
package machine

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// Rules are about the machine, its clock and its resolver.
var Rules = []rule.Rule{
	{ID: cause.ConntrackFull.Code, Host: true, Own: true, Parts: []string{"conntrack"},
		Find: rule.Each(rule.EveryHost, conntrackFull),
		Explains: []string{"syn-unanswered",
			"connect-fails", "tcp-retransmissions"}, AtPeers: []string{"syn-unanswered"}},
	{ID: cause.FilesExhausted.Code, Host: true, Own: true, Parts: []string{"open files"},
		Find: rule.Each(rule.EveryHost, filesExhausted), Explains: []string{"accept-queue-full"}},
	{ID: cause.SlowClockSource.Code, Host: true, Own: true, Parts: []string{"clock sources"},
		Find: rule.Each(rule.EveryHost, slowClock)},
	{ID: cause.ClockUnsynchronised.Code, Host: true, Own: true, Parts: []string{"synchronisation"},
		Find: rule.Each(rule.EveryHost, clockUnsynchronised)},
	{ID: cause.PowersaveGovernor.Code, Host: true, Own: true, Parts: []string{"frequency governors"},
		Find: rule.Each(rule.EveryHost, powersave)},
	{ID: cause.ResolverAbsent.Code, Host: true, Own: true, Parts: []string{"resolver", "sockets", "first namespace"},
		Find: rule.Each(rule.EveryHost, resolverAbsent)},
	{ID: cause.ResolverUnresolved.Code, Host: true, Parts: []string{"resolver", "neighbours"},
		Find: rule.Each(rule.EveryHost, resolverUnresolved), Explains: []string{"resolver-dead", "neighbour-failed"}},
	{ID: cause.ResolverSearchLong.Code, Host: true, Own: true, Parts: []string{"resolver"},
		Find: rule.Each(rule.EveryHost, resolverSearch)},
	{ID: cause.PacketsSqueezed.Code, Host: true, Own: true, Growth: true, Parts: []string{"softnet"},
		Find: rule.Each(rule.EveryHost, squeezed)},
	{ID: cause.ReceiveOnOneCPU.Code, Host: true, Growth: true, Parts: []string{"softnet"},
		Find: rule.Each(rule.EveryHost, receiveOnOneCPU), Explains: []string{"packets-squeezed", "softnet-drop"}},
}

// found returns a finding about a host with one fact as evidence.
func found[A any](c cause.Of[A], h *facts.Host, confidence string, args A, is any) *record.Finding {
	return facts.Found(c, h, confidence, args).With(h.Name, is)
}

func conntrackFull(_ facts.Trial, h *facts.Host) *record.Finding {
	c := h.State.Conntrack
	if c == nil || c.Most <= 0 || c.Count*10 < c.Most*9 {
		return nil
	}
	return found(cause.ConntrackFull, h, record.Certain, cause.None{}, fact.Conntrack{Count: c.Count, Most: c.Most}).
		Fixed(fix.Parameter(h, "net.netfilter.nf_conntrack_max", fmt.Sprint(2*c.Most))...)
}

func filesExhausted(_ facts.Trial, h *facts.Host) *record.Finding {
	if h.State.MostFiles <= 0 || h.State.OpenFiles*10 < h.State.MostFiles*9 {
		return nil
	}
	return found(cause.FilesExhausted, h, record.Certain, cause.None{},
		fact.OpenFiles{Open: h.State.OpenFiles, Most: h.State.MostFiles}).Fixed(record.Step{Host: h.Name,
		Command: []string{"sysctl", "-w", fmt.Sprintf("fs.file-max=%d", 2*h.State.MostFiles)}})
}

// slowSources are clock sources that are read from a register of a device, in about a microsecond.
var slowSources = []string{"hpet", "acpi_pm", "jiffies", "pit"}

func slowClock(_ facts.Trial, h *facts.Host) *record.Finding {
	c := h.State.Clock
	if c == nil || !slices.Contains(slowSources, c.Source) {
		return nil
	}
	i := slices.IndexFunc(c.Available, func(s string) bool { return !slices.Contains(slowSources, s) })
	if i < 0 {
		return nil
	}
	return found(cause.SlowClockSource, h, record.Likely, cause.Source{Faster: c.Available[i]},
		fact.ClockSource{Source: c.Source, Available: c.Available})
}

func clockUnsynchronised(_ facts.Trial, h *facts.Host) *record.Finding {
	c := h.State.Clock
	if c == nil || c.Synchronised {
		return nil
	}
	return found(cause.ClockUnsynchronised, h, record.Possible, cause.None{},
		fact.ClockError{ErrorS: float64(c.MaxErrorUs) / 1e6})
}

func powersave(_ facts.Trial, h *facts.Host) *record.Finding {
	n := h.State.Governors["powersave"]
	if n == 0 {
		return nil
	}
	return found(cause.PowersaveGovernor, h, record.Possible, cause.None{}, fact.Powersave{CPUs: n}).
		Fixed(record.Settings(setting.Setting{Host: h.Name, CPU: &setting.CPU{Governor: "performance"}})...)
}

func resolverAbsent(_ facts.Trial, h *facts.Host) *record.Finding {
	r := h.State.Resolver
	if r == nil || !h.State.FirstNamespace {
		return nil
	}
	for _, server := range r.Servers {
		if !strings.HasPrefix(server, "127.") && server != "::1" {
			return nil
		}
		if slices.ContainsFunc(h.State.Listeners, func(l netstate.Listener) bool {
			return l.Protocol == "udp" && strings.HasSuffix(l.Local, ":53")
		}) {
			return nil
		}
	}
	return found(cause.ResolverAbsent, h, record.Likely, cause.None{},
		fact.NameServers{Servers: r.Servers, NoLocal: true})
}

// resolverUnresolved finds name servers on the link that answer neither ARP nor neighbour
// discovery. Others have to be asked (resolver-dead).
func resolverUnresolved(f facts.Trial, h *facts.Host) *record.Finding {
	r := h.State.Resolver
	if r == nil {
		return nil
	}
	var finding *record.Finding
	for i, server := range r.Servers {
		address, _, _ := strings.Cut(server, "%")
		for _, n := range h.Reading.Snapshot.Neighbours {
			if n.Address != address || !facts.Failed(n) || f.Filtered(h, n) {
				continue
			}
			if finding == nil {
				confidence := map[bool]string{true: record.Certain, false: record.Possible}[i == 0]
				finding = found(cause.ResolverUnresolved, h, confidence,
					cause.NameServer{Server: server, First: i == 0}, fact.NameServers{Servers: r.Servers})
			}
			at := facts.Parse(n.Address)
			finding.With(h.Name, facts.FailedEntry(n)).At(record.Touch{Address: at}, record.Touch{Via: at})
		}
	}
	return finding
}

func resolverSearch(_ facts.Trial, h *facts.Host) *record.Finding {
	r := h.State.Resolver
	if r == nil || len(r.Search) < 3 || !slices.Contains(r.Options, "ndots:5") {
		return nil
	}
	return found(cause.ResolverSearchLong, h, record.Possible, cause.None{}, fact.SearchDomains{Domains: len(r.Search)})
}

func squeezed(f facts.Trial, h *facts.Host) *record.Finding {
	var n, processed uint64
	for i, end := range h.Reading.End.Softnet {
		if i < len(h.Reading.Begin.Softnet) {
			n += end.Squeezed - min(end.Squeezed, h.Reading.Begin.Softnet[i].Squeezed)
			processed += end.Processed - min(end.Processed, h.Reading.Begin.Softnet[i].Processed)
		} else {
			n, processed = n+end.Squeezed, processed+end.Processed
		}
	}
	if n < 100 || float64(n) < 1e-3*float64(processed) {
		return nil
	}
	steps, already := raised(h, "net.core.netdev_budget", 600, 10_000)
	finding := found(cause.PacketsSqueezed, h, record.Possible, cause.Raised{Already: already},
		fact.TimeSqueeze{Times: n, Packets: processed, Time: h.Time()}).Fixed(steps...)
	for _, m := range f.Machines() {
		if slices.Contains(m.Hosts, h.Name) && m.Foreign() {
			finding.With(h.Name, wholeMachine(m))
		}
	}
	return finding
}

// receiveOnOneCPU finds hosts of which one CPU takes nearly all packets from the receive queues, and so
// much that it uses up its budget. A few packets say nothing about the others' share.
func receiveOnOneCPU(_ facts.Trial, h *facts.Host) *record.Finding {
	const packets, squeezes, most = 1_000_000, 100, 0.8
	var all, busiest fact.ReceivedBy
	for i, end := range h.Reading.End.Softnet {
		var begin netstate.SoftnetCounters
		if i < len(h.Reading.Begin.Softnet) {
			begin = h.Reading.Begin.Softnet[i]
		}
		processed := end.Processed - min(end.Processed, begin.Processed)
		if all.Packets += processed; processed > busiest.Packets {
			busiest = fact.ReceivedBy{CPU: end.CPU, Packets: processed,
				Squeezed: end.Squeezed - min(end.Squeezed, begin.Squeezed)}
		}
	}
	busiest.CPUs, busiest.Of, busiest.Time = len(h.Reading.End.Softnet), all.Packets, h.Time()
	share := float64(busiest.Packets) / float64(max(1, all.Packets))
	if busiest.CPUs < 4 || all.Packets < packets || busiest.Squeezed < squeezes || share < most {
		return nil
	}
	return found(cause.ReceiveOnOneCPU, h, record.Likely, cause.Core{CPU: busiest.CPU, Share: share}, busiest)
}
