package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/science/hostload"
)

// Rules about the machine, its clock and its resolver.
var hostRules = []rule{
	{id: "conntrack-full", host: true, own: true, about: "The connection tracking table is at least 90 % full.",
		parts: []string{"conntrack"}, find: each(everyHost, conntrackFull), explains: []string{"syn-unanswered",
			"connect-fails", "tcp-retransmissions"}, atPeers: []string{"syn-unanswered"}},
	{id: "files-exhausted", host: true, own: true, about: "The machine's open files are at least 90 % of fs.file-max.",
		parts: []string{"open files"}, find: each(everyHost, filesExhausted), explains: []string{"accept-queue-full"}},
	{id: "slow-clock-source", host: true, own: true,
		about: "The clock source is hpet, acpi_pm, jiffies or pit, and a faster one is available.",
		parts: []string{"clock"}, find: each(everyHost, slowClock)},
	{id: "clock-unsynchronised", host: true, own: true,
		about: "The kernel says that its clock is not synchronised (STA_UNSYNC).", parts: []string{"clock"},
		find: each(everyHost, clockUnsynchronised)},
	{id: "powersave-governor", host: true, own: true, about: "CPUs have the frequency governor powersave.",
		parts: []string{"frequency governors"}, find: each(everyHost, powersave)},
	{id: "resolver-absent", host: true, own: true,
		about: "resolv.conf names no server, or only local ones while nothing listens on UDP port 53.",
		parts: []string{"resolver", "sockets"}, find: each(everyHost, resolverAbsent)},
	{id: "resolver-unresolved", host: true,
		about: "A name server of resolv.conf that is on a link of the host is FAILED or INCOMPLETE in the neighbour table; certain for the first.",
		parts: []string{"resolver", "neighbours"}, find: each(everyHost, resolverUnresolved),
		explains: []string{"resolver-dead", "neighbour-failed"}},
	{id: "resolver-search-long", host: true, own: true,
		about: "resolv.conf has at least three search domains and ndots:5.", parts: []string{"resolver"},
		find: each(everyHost, resolverSearch)},
	{id: "packets-squeezed", host: true, own: true,
		about: "time_squeeze of softnet_stat grew by at least 100 and one in 1,000 packets.", growth: true,
		find: each(everyHost, squeezed), parts: []string{"softnet"}},
}

func conntrackFull(_ observed, h *host) *record.Finding {
	c := h.state.Conntrack
	if c == nil || c.Most <= 0 || c.Count*10 < c.Most*9 {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: record.Certain,
		Summary:   "the connection tracking table is nearly full: packets of further connections are dropped",
		Reference: "Linux Documentation/networking/nf_conntrack-sysctl.rst",
		Evidence:  []string{fmt.Sprintf("nf_conntrack_count is %d, nf_conntrack_max %d", c.Count, c.Most)}}
	finding.Fix, finding.Settings = h.fixed([]string{"no tracking for what needs none (nft notrack); or:"},
		"net.netfilter.nf_conntrack_max", fmt.Sprint(2*c.Most))
	return finding
}

func filesExhausted(_ observed, h *host) *record.Finding {
	if h.state.MostFiles <= 0 || h.state.OpenFiles*10 < h.state.MostFiles*9 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Certain,
		Summary:   "the machine has nearly as many open files as it may: further connections are refused",
		Reference: "Linux Documentation/admin-guide/sysctl/fs.rst",
		Evidence:  []string{fmt.Sprintf("%d open, fs.file-max is %d", h.state.OpenFiles, h.state.MostFiles)},
		Fix:       on(h.name, h.alone, fmt.Sprintf("sysctl -w fs.file-max=%d", 2*h.state.MostFiles))}
}

// slowSources are read by a register of a device, which takes about a microsecond.
var slowSources = []string{"hpet", "acpi_pm", "jiffies", "pit"}

func slowClock(_ observed, h *host) *record.Finding {
	c := h.state.Clock
	if c == nil || !slices.Contains(slowSources, c.Source) {
		return nil
	}
	i := slices.IndexFunc(c.Available, func(s string) bool { return !slices.Contains(slowSources, s) })
	if i < 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary:   "the clock is read from a slow source, and each packet's time stamp costs more",
		Reference: "Linux Documentation/admin-guide/kernel-parameters.txt (clocksource=)",
		Evidence:  []string{fmt.Sprintf("clock source %s; available: %s", c.Source, strings.Join(c.Available, ", "))},
		Fix: on(h.name, h.alone, "echo "+
			c.Available[i]+" > /sys/devices/system/clocksource/clocksource0/current_clocksource; the kernel's log says whether it was found unstable")}
}

func clockUnsynchronised(_ observed, h *host) *record.Finding {
	c := h.state.Clock
	if c == nil || c.Synchronised {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Possible,
		Summary: "the clock is not synchronised: logs of several hosts cannot be compared", Reference: "adjtimex(2)",
		Evidence: []string{fmt.Sprintf("STA_UNSYNC is set; the kernel bounds its error by %.1f s",
			float64(c.MaxErrorUs)/1e6)},
		Fix: on(h.name, h.alone, "run chrony or systemd-timesyncd; none where the hypervisor sets the clock")}
}

func powersave(_ observed, h *host) *record.Finding {
	n := h.state.Governors["powersave"]
	if n == 0 {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: record.Possible,
		Summary:   "CPUs save power, which makes them slow to answer and slower at work",
		Reference: "Linux Documentation/admin-guide/pm/cpufreq.rst",
		Evidence:  []string{fmt.Sprintf("%d CPUs have the governor powersave", n)}}
	finding.Fix, finding.Settings = h.fixedBy([]string{"if it matters (linerate prove powersave-governor):"},
		setting.Setting{Host: h.name, CPU: &setting.CPU{Governor: "performance"}})
	return finding
}

func resolverAbsent(_ observed, h *host) *record.Finding {
	r := h.state.Resolver
	if r == nil || !h.state.FirstNamespace {
		return nil
	}
	for _, server := range r.Servers {
		if !strings.HasPrefix(server, "127.") && server != "::1" {
			return nil
		}
		if slices.ContainsFunc(h.state.Listeners, func(l record.Listener) bool {
			return l.Protocol == "udp" && strings.HasSuffix(l.Local, ":53")
		}) {
			return nil
		}
	}
	return &record.Finding{Host: h.name, Confidence: record.Likely,
		Summary:   "names cannot be resolved: no name server is configured that could answer",
		Reference: "resolv.conf(5)",
		Evidence: []string{"resolv.conf: nameserver " + cmp.Or(strings.Join(r.Servers, ", "), "absent") +
			"; nothing listens on UDP port 53 here"},
		Fix: on(h.name, h.alone, "start the local resolver, or name a server in /etc/resolv.conf")}
}

// resolverUnresolved finds name servers that are neighbours and do not answer ARP or neighbour
// discovery. Others can only be asked (resolver-dead).
func resolverUnresolved(f observed, h *host) *record.Finding {
	r := h.state.Resolver
	if r == nil {
		return nil
	}
	finding := &record.Finding{Host: h.name, Reference: "resolv.conf(5); RFC 826",
		Fix: on(h.name, h.alone,
			"name a server that answers first in /etc/resolv.conf; until then: options timeout:1 attempts:2")}
	for i, server := range r.Servers {
		address, _, _ := strings.Cut(server, "%")
		for _, n := range h.reading.Snapshot.Neighbours {
			if n.Address != address || !failed(n) || f.filtered(h, n) {
				continue
			}
			finding.Places = append(finding.Places, []string{n.Address, "via " + n.Address})
			if finding.Evidence = append(finding.Evidence, failedRow(n)); finding.Confidence != "" {
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

func resolverSearch(_ observed, h *host) *record.Finding {
	r := h.state.Resolver
	if r == nil || len(r.Search) < 3 || !slices.Contains(r.Options, "ndots:5") {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Possible,
		Summary: "each name is looked up in several domains before it is tried as it is", Reference: "resolv.conf(5)",
		Evidence: []string{fmt.Sprintf("%d search domains and ndots:5: up to %d queries for a name, in each family",
			len(r.Search), len(r.Search)+1)},
		Fix: on(h.name, h.alone, "write names with a dot at the end, or set ndots:1")}
}

func squeezed(f observed, h *host) *record.Finding {
	var n, processed uint64
	for i, end := range h.reading.End.Softnet {
		if i < len(h.reading.Begin.Softnet) {
			n += end.Squeezed - min(end.Squeezed, h.reading.Begin.Softnet[i].Squeezed)
			processed += end.Processed - min(end.Processed, h.reading.Begin.Softnet[i].Processed)
		} else {
			n, processed = n+end.Squeezed, processed+end.Processed
		}
	}
	if n < 100 || float64(n) < 1e-3*float64(processed) {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: record.Possible,
		Summary: "CPUs ran out of their budget for packets before the queues were empty", Reference: netSysctl +
			" (netdev_budget)",
		Evidence: []string{fmt.Sprintf("softnet_stat: time_squeeze grew by %d%s, for %d packets", n, h.within(),
			processed)}}
	for _, m := range f.machines() {
		if slices.Contains(m.Hosts, h.name) && m.Foreign() {
			finding.Evidence = append(finding.Evidence, foreignRow(m))
		}
	}
	finding.Fix, finding.Settings = h.raised("more queues on more CPUs", "net.core.netdev_budget", 600, 10_000)
	return finding
}

// queue is a queueing discipline with what it counted between two readings.
type queue struct {
	record.QdiscCounters
	// innerOf: it counts what a qdisc around it counts as well.
	innerOf bool
}

// observe arranges snapshots for rules. Boot: what was counted before the first reading.
func observe(list []record.HostSnapshot, boot bool) observed {
	var t topology.Topology
	var trial record.Trial
	for _, s := range list {
		r := s.Reading
		r.Snapshot.Host = r.Host
		// Rules of trials compare each interface with each neighbour of other hosts.
		r.Snapshot.Neighbours = r.Snapshot.Neighbours[:min(len(r.Snapshot.Neighbours), mostNeighbours)]
		r.Before.Neighbours = r.Before.Neighbours[:min(len(r.Before.Neighbours), mostNeighbours)]
		r.Snapshot.FDB = r.Snapshot.FDB[:min(len(r.Snapshot.FDB), mostForwarded)]
		r.Snapshot.Answers = r.Snapshot.Answers[:min(len(r.Snapshot.Answers), mostNeighbours)]
		r.Snapshot.Interfaces = addressedFirst(r.Snapshot.Interfaces)
		if boot {
			r.Begin = born(r)
		} else if s.OverS == 0 {
			r.Begin = r.End // nothing grew, as far as is known
		}
		t.Hosts = append(t.Hosts, topology.Host{Name: r.Host, Via: []string{"snapshot"}}) // none that linerate made
		trial.Hosts = append(trial.Hosts, r)
	}
	f := gather(trial, &t)
	for i, h := range f.hosts {
		h.foreign = map[string]bool{}
		for _, other := range f.hosts {
			for _, p := range other.netifs {
				if other != h && p.mac != "" {
					h.foreign[p.mac] = true
				}
			}
		}
		s := list[i]
		h.state, h.overS, h.boot, h.cpus, h.pasted = s.State, s.OverS, boot, s.Host.CPUs, s.Pasted
		h.counted, h.queued = counted(h.reading), queued(h.reading)
		h.shared = hostload.ForeignAt(f.trial.Hosts, h.name)
		if k := s.State.KernelDrops; k != nil {
			h.trace(k.Rows)
		}
	}
	return f
}

// mostNeighbours and mostForwarded bound the neighbour entries of a host, and the entries of a
// switch's forwarding table, that are looked at.
const mostNeighbours, mostForwarded = 2000, 20_000

// addressedFirst are a host's interfaces, those with addresses before the others, at most
// mostInterfaces: a snapshot may be from elsewhere.
func addressedFirst(list []record.InterfaceSnapshot) []record.InterfaceSnapshot {
	if len(list) <= mostInterfaces {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b record.InterfaceSnapshot) int {
		return min(len(b.Addresses), 1) - min(len(a.Addresses), 1)
	})
	return list[:mostInterfaces]
}

// born is the reading of a host when it was booted: every counter is 0.
func born(r record.HostReading) (b record.Reading) {
	if len(r.Begin.Interfaces) > 0 {
		r.End = r.Begin
	}
	for _, i := range r.End.Interfaces {
		b.Interfaces = append(b.Interfaces, record.InterfaceCounters{Interface: i.Interface})
	}
	return b
}

// counted is what each interface counted between two readings.
func counted(r record.HostReading) (list []record.InterfaceCounters) {
	grown := func(before, after uint64) uint64 { return after - min(after, before) }
	for _, end := range r.End.Interfaces {
		i := slices.IndexFunc(r.Begin.Interfaces, func(b record.InterfaceCounters) bool {
			return b.Interface == end.Interface
		})
		if i < 0 {
			continue
		}
		b := r.Begin.Interfaces[i]
		list = append(list, record.InterfaceCounters{
			Interface: end.Interface, RxPackets: grown(b.RxPackets, end.RxPackets),
			TxPackets: grown(b.TxPackets, end.TxPackets),
			RxDropped: grown(b.RxDropped, end.RxDropped), TxDropped: grown(b.TxDropped, end.TxDropped),
			RxErrors: grown(b.RxErrors, end.RxErrors), TxErrors: grown(b.TxErrors, end.TxErrors),
			RxMissed: grown(b.RxMissed, end.RxMissed), RxOtherhost: grown(b.RxOtherhost, end.RxOtherhost),
			RxCRC: grown(b.RxCRC, end.RxCRC), RxLength: grown(b.RxLength, end.RxLength),
			TxCarrier: grown(b.TxCarrier, end.TxCarrier), Collisions: grown(b.Collisions, end.Collisions),
			RxNoHandler: grown(b.RxNoHandler, end.RxNoHandler),
		})
	}
	return list
}

// queued is what each queueing discipline counted between two readings.
func queued(r record.HostReading) (list []queue) {
	for _, end := range r.End.Qdiscs {
		q := queue{QdiscCounters: end}
		if b, ok := r.AtBegin(end); ok {
			q.Drops, q.Packets, q.Overlimits = end.Drops-min(end.Drops, b.Drops),
				end.Packets-min(end.Packets, b.Packets), end.Overlimits-min(end.Overlimits, b.Overlimits)
		} else if len(r.Begin.Qdiscs) > 0 {
			continue // it was made between the readings
		}
		q.innerOf = q.Queues() && slices.ContainsFunc(list, func(o queue) bool {
			return o.Queues() && o.Interface == q.Interface && o.Drops >= q.Drops && o.Drops > 0
		})
		list = append(list, q)
	}
	return list
}
