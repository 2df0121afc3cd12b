// Package machine has the rules about a machine: CPUs, memory, clock, resolver, log, and what other programs
// report.
package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about the machine, its clock and its resolver.
var Rules = []rule.Rule{
	{ID: "conntrack-full", Host: true, Own: true, About: "The connection tracking table is at least 90 % full.",
		Parts: []string{"conntrack"}, Find: rule.Each(rule.EveryHost, conntrackFull),
		Explains: []string{"syn-unanswered",
			"connect-fails", "tcp-retransmissions"}, AtPeers: []string{"syn-unanswered"}},
	{ID: "files-exhausted", Host: true, Own: true, About: "The machine's open files are at least 90 % of fs.file-max.",
		Parts: []string{"open files"}, Find: rule.Each(rule.EveryHost, filesExhausted),
		Explains: []string{"accept-queue-full"}},
	{ID: "slow-clock-source", Host: true, Own: true,
		About: "The clock source is hpet, acpi_pm, jiffies or pit, and a faster one is available.",
		Parts: []string{"clock"}, Find: rule.Each(rule.EveryHost, slowClock)},
	{ID: "clock-unsynchronised", Host: true, Own: true,
		About: "The kernel says that its clock is not synchronised (STA_UNSYNC).", Parts: []string{"clock"},
		Find: rule.Each(rule.EveryHost, clockUnsynchronised)},
	{ID: "powersave-governor", Host: true, Own: true, About: "CPUs have the frequency governor powersave.",
		Parts: []string{"frequency governors"}, Find: rule.Each(rule.EveryHost, powersave)},
	{ID: "resolver-absent", Host: true, Own: true,
		About: "resolv.conf names no server, or only local ones while nothing listens on UDP port 53.",
		Parts: []string{"resolver", "sockets"}, Find: rule.Each(rule.EveryHost, resolverAbsent)},
	{ID: "resolver-unresolved", Host: true,
		About: "A name server of resolv.conf that is on a link of the host is FAILED or INCOMPLETE in the neighbour table; certain for the first.",
		Parts: []string{"resolver", "neighbours"}, Find: rule.Each(rule.EveryHost, resolverUnresolved),
		Explains: []string{"resolver-dead", "neighbour-failed"}},
	{ID: "resolver-search-long", Host: true, Own: true,
		About: "resolv.conf has at least three search domains and ndots:5.", Parts: []string{"resolver"},
		Find: rule.Each(rule.EveryHost, resolverSearch)},
	{ID: "packets-squeezed", Host: true, Own: true,
		About: "time_squeeze of softnet_stat grew by at least 100 and one in 1,000 packets.", Growth: true,
		Find: rule.Each(rule.EveryHost, squeezed), Parts: []string{"softnet"}},
}

func conntrackFull(_ facts.Trial, h *facts.Host) *record.Finding {
	c := h.State.Conntrack
	if c == nil || c.Most <= 0 || c.Count*10 < c.Most*9 {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Confidence: record.Certain,
		Summary:   "the connection tracking table is nearly full: packets of further connections are dropped",
		Reference: "Linux Documentation/networking/nf_conntrack-sysctl.rst",
		Evidence:  []string{fmt.Sprintf("nf_conntrack_count is %d, nf_conntrack_max %d", c.Count, c.Most)}}
	finding.Fix, finding.Settings = fix.Fixed(h, []string{"no tracking for what needs none (nft notrack); or:"},
		"net.netfilter.nf_conntrack_max", fmt.Sprint(2*c.Most))
	return finding
}

func filesExhausted(_ facts.Trial, h *facts.Host) *record.Finding {
	if h.State.MostFiles <= 0 || h.State.OpenFiles*10 < h.State.MostFiles*9 {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Certain,
		Summary:   "the machine has nearly as many open files as it may: further connections are refused",
		Reference: "Linux Documentation/admin-guide/sysctl/fs.rst",
		Evidence:  []string{fmt.Sprintf("%d open, fs.file-max is %d", h.State.OpenFiles, h.State.MostFiles)},
		Fix:       said.On(h.Name, h.Alone, fmt.Sprintf("sysctl -w fs.file-max=%d", 2*h.State.MostFiles))}
}

// slowSources are read by a register of a device, which takes about a microsecond.
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
	return &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary:   "the clock is read from a slow source, and each packet's time stamp costs more",
		Reference: "Linux Documentation/admin-guide/kernel-parameters.txt (clocksource=)",
		Evidence:  []string{fmt.Sprintf("clock source %s; available: %s", c.Source, strings.Join(c.Available, ", "))},
		Fix: said.On(h.Name, h.Alone, "echo "+
			c.Available[i]+" > /sys/devices/system/clocksource/clocksource0/current_clocksource; the kernel's log says whether it was found unstable")}
}

func clockUnsynchronised(_ facts.Trial, h *facts.Host) *record.Finding {
	c := h.State.Clock
	if c == nil || c.Synchronised {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Possible,
		Summary: "the clock is not synchronised: logs of several hosts cannot be compared", Reference: "adjtimex(2)",
		Evidence: []string{fmt.Sprintf("STA_UNSYNC is set; the kernel bounds its error by %.1f s",
			float64(c.MaxErrorUs)/1e6)},
		Fix: said.On(h.Name, h.Alone, "run chrony or systemd-timesyncd; none where the hypervisor sets the clock")}
}

func powersave(_ facts.Trial, h *facts.Host) *record.Finding {
	n := h.State.Governors["powersave"]
	if n == 0 {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Confidence: record.Possible,
		Summary:   "CPUs save power, which makes them slow to answer and slower at work",
		Reference: "Linux Documentation/admin-guide/pm/cpufreq.rst",
		Evidence:  []string{fmt.Sprintf("%d CPUs have the governor powersave", n)}}
	finding.Fix, finding.Settings = fix.FixedBy(h, []string{"if it matters (linerate prove powersave-governor):"},
		setting.Setting{Host: h.Name, CPU: &setting.CPU{Governor: "performance"}})
	return finding
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
		if slices.ContainsFunc(h.State.Listeners, func(l record.Listener) bool {
			return l.Protocol == "udp" && strings.HasSuffix(l.Local, ":53")
		}) {
			return nil
		}
	}
	return &record.Finding{Host: h.Name, Confidence: record.Likely,
		Summary:   "names cannot be resolved: no name server is configured that could answer",
		Reference: "resolv.conf(5)",
		Evidence: []string{"resolv.conf: nameserver " + cmp.Or(strings.Join(r.Servers, ", "), "absent") +
			"; nothing listens on UDP port 53 here"},
		Fix: said.On(h.Name, h.Alone, "start the local resolver, or name a server in /etc/resolv.conf")}
}

// resolverUnresolved finds name servers that are neighbours and do not answer ARP or neighbour
// discovery. Others can only be asked (resolver-dead).
func resolverUnresolved(f facts.Trial, h *facts.Host) *record.Finding {
	r := h.State.Resolver
	if r == nil {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Reference: "resolv.conf(5); RFC 826",
		Fix: said.On(h.Name, h.Alone,
			"name a server that answers first in /etc/resolv.conf; until then: options timeout:1 attempts:2")}
	for i, server := range r.Servers {
		address, _, _ := strings.Cut(server, "%")
		for _, n := range h.Reading.Snapshot.Neighbours {
			if n.Address != address || !facts.Failed(n) || f.Filtered(h, n) {
				continue
			}
			finding.Places = append(finding.Places, []string{n.Address, "via " + n.Address})
			if finding.Evidence = append(finding.Evidence, said.FailedRow(n)); finding.Confidence != "" {
				continue
			}
			finding.Confidence, finding.Summary = record.Possible,
				fmt.Sprintf("the name server %s is not on its link", server)
			if i == 0 {
				finding.Confidence, finding.Summary = record.Certain,
					fmt.Sprintf(
						"the first name server, %s, is not on its link: each look-up waits for it, until ARP or the resolver gives up after seconds", server)
			}
		}
	}
	if len(finding.Evidence) == 0 {
		return nil
	}
	finding.Evidence = append([]string{"resolv.conf: nameserver " + strings.Join(r.Servers, ", ")}, finding.Evidence...)
	return finding
}

func resolverSearch(_ facts.Trial, h *facts.Host) *record.Finding {
	r := h.State.Resolver
	if r == nil || len(r.Search) < 3 || !slices.Contains(r.Options, "ndots:5") {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Possible,
		Summary: "each name is looked up in several domains before it is tried as it is", Reference: "resolv.conf(5)",
		Evidence: []string{fmt.Sprintf("%d search domains and ndots:5: up to %d queries for a name, in each family",
			len(r.Search), len(r.Search)+1)},
		Fix: said.On(h.Name, h.Alone, "write names with a dot at the end, or set ndots:1")}
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
	finding := &record.Finding{Host: h.Name, Confidence: record.Possible,
		Summary: "CPUs ran out of their budget for packets before the queues were empty", Reference: said.NetSysctl +
			" (netdev_budget)",
		Evidence: []string{fmt.Sprintf("softnet_stat: time_squeeze grew by %d%s, for %d packets", n, said.Within(h),
			processed)}}
	for _, m := range f.Machines() {
		if slices.Contains(m.Hosts, h.Name) && m.Foreign() {
			finding.Evidence = append(finding.Evidence, said.ForeignRow(m))
		}
	}
	finding.Fix, finding.Settings = fix.Raised(h, "more queues on more CPUs", "net.core.netdev_budget", 600, 10_000)
	return finding
}
