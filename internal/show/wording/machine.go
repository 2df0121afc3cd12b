package wording

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

const resolvConf = "resolv.conf(5)"

var _ = later(func() {
	say(cause.SoftirqOneCore, words[cause.Core]{
		summary: func(_ record.Finding, a cause.Core) string {
			return fmt.Sprintf("CPU %d serves %s of the network's receive softirqs and is fully busy", a.CPU,
				unit.FormatPercent(a.Share))
		},
		fix: []string{"spread the interface's queues: ethtool -X DEV equal N, irqbalance, or /proc/irq/*/smp_affinity",
			"with one queue: echo CPUS > /sys/class/net/DEV/queues/rx-0/rps_cpus"},
		read:     "https://docs.kernel.org/networking/scaling.html",
		anywhere: true,
		found: "A CPU was at least 95 % busy, half of it with interrupts and softirqs, served 95 % of all " +
			"NET_RX softirqs, and all CPUs together were at most 80 % busy; not every flow was held back by a full " +
			"link; certain when its budget ran out or its backlog overflowed, and most packets of softnet_stat " +
			"were the hosts', possible when these were other network namespaces'.",
	})
	say(cause.RingOverrun, words[cause.None]{
		summary: about("DEV dropped packets because the host did not empty its receive ring in time"),
		fix: []string{"ethtool -G DEV rx N, with N up to the maximum that ethtool -g DEV shows",
			nowhere + "serve the ring from a CPU that has time: more queues (ethtool -L), irqbalance or " +
				"/proc/irq/*/smp_affinity"},
		read: "https://docs.kernel.org/networking/statistics.html; ethtool(8)",
		found: "rx_missed_errors of a NIC grew, of the kernel or of its driver: its receive ring was full. A bond " +
			"or VLAN interface that counts the same packets again is left out.",
	})
	say(cause.SoftnetDrop, words[cause.Raised]{
		summary: func(_ record.Finding, a cause.Raised) string {
			if a.Foreign {
				return backlogDropped + ", perhaps packets of other network namespaces"
			}
			return backlogDropped
		},
		fixed: raise("more CPUs for the interface's interrupts", "net.core.netdev_max_backlog"),
		read:  "https://docs.kernel.org/admin-guide/sysctl/net.html",
		found: "The second column of softnet_stat grew: a CPU's backlog was full; possible where the CPUs took " +
			"over three times the packets that the hosts' interfaces received, since softnet_stat is of all " +
			"network namespaces.",
	})
	say(cause.MemoryPressure, words[cause.Pressure]{
		summary: func(_ record.Finding, a cause.Pressure) string {
			if a.Programs {
				return "programs waited for memory"
			}
			return "TCP reached the bound of its memory"
		},
		fixed: func(_ record.Finding, a cause.Pressure) []string {
			if a.Programs {
				return []string{"end what else needs memory, or measure with fewer flows and smaller buffers"}
			}
			return []string{"raise net.ipv4.tcp_mem (in pages, of the whole machine), or have fewer or smaller buffers"}
		},
		readFor: func(a cause.Pressure) string {
			if a.Programs {
				return "https://docs.kernel.org/accounting/psi.html"
			}
			return "https://docs.kernel.org/networking/ip-sysctl.html"
		},
		anywhere: true,
		found: "TcpExt.TCPMemoryPressures grew (certain), or programs waited for memory for a tenth of the time " +
			"(likely).",
	})
	say(cause.CPUSaturated, words[cause.CPUs]{
		summary: func(_ record.Finding, a cause.CPUs) string {
			if a.Of == 0 {
				return "the CPUs have no time left: what needs them waits"
			}
			return fmt.Sprintf("%d of %d CPUs have no time left: what needs them waits", a.Full, a.Of)
		},
		fix: []string{"top -1 and mpstat -P ALL 1 show what takes it; move programs (taskset) and interrupts " +
			"(irqbalance, /proc/irq/N/smp_affinity_list) apart"},
		read: "proc_stat(5); Linux Documentation/networking/scaling.rst",
		found: "A CPU was at least 97 % busy between the readings, which are at least half a second apart; the " +
			"time of programs with a nice value above 0, which make room, is not counted.",
	})
	say(cause.CPUStolen, words[cause.None]{
		text: "the hypervisor takes CPU time from this machine: packets wait for it",
		fix: []string{"fewer or smaller neighbours on the machine below, or a type of machine with CPUs of " +
			"its own"},
		read:     "proc_stat(5) (steal)",
		anywhere: true,
		found:    "At least 5 % of a CPU's time between the readings was taken by the hypervisor (steal).",
	})
	say(cause.MemoryShort, words[cause.None]{
		text:  "the machine has hardly any memory left: buffers of the network do not grow, and packets are dropped",
		fix:   []string{"ps aux --sort=-rss shows what takes it"},
		read:  "proc_meminfo(5) (MemAvailable)",
		found: "Less than 3 % of the machine's memory is available to programs.",
	})
	say(cause.ConntrackFull, words[cause.None]{
		text:  "the connection tracking table is nearly full: packets of further connections are dropped",
		fix:   []string{"no tracking for what needs none (nft notrack); or:", theSteps},
		read:  conntrackSysctl,
		found: "The connection tracking table is at least 90 % full.",
	})
	say(cause.FilesExhausted, words[cause.None]{
		text:  "the machine has nearly as many open files as it may: further connections are refused",
		read:  "Linux Documentation/admin-guide/sysctl/fs.rst",
		found: "The machine's open files are at least 90 % of fs.file-max.",
	})
	say(cause.SlowClockSource, words[cause.Source]{
		text: "the clock is read from a slow source, and each packet's time stamp costs more",
		fixed: func(_ record.Finding, a cause.Source) []string {
			return []string{"echo " + a.Faster +
				" > /sys/devices/system/clocksource/clocksource0/current_clocksource; " +
				"the kernel's log says whether it was found unstable"}
		},
		read:  "Linux Documentation/admin-guide/kernel-parameters.txt (clocksource=)",
		found: "The clock source is hpet, acpi_pm, jiffies or pit, and a faster one is available.",
	})
	say(cause.ClockUnsynchronised, words[cause.None]{
		text:  "the clock is not synchronised: logs of several hosts cannot be compared",
		fix:   []string{"run chrony or systemd-timesyncd; none where the hypervisor sets the clock"},
		read:  "adjtimex(2)",
		found: "The kernel says that its clock is not synchronised (STA_UNSYNC).",
	})
	say(cause.PowersaveGovernor, words[cause.None]{
		text:  "CPUs save power, which makes them slow to answer and slower at work",
		fix:   []string{"if it matters (linerate prove powersave-governor):", theSteps},
		read:  "Linux Documentation/admin-guide/pm/cpufreq.rst",
		found: "CPUs have the frequency governor powersave.",
	})
	say(cause.ResolverAbsent, words[cause.None]{
		text:  "names cannot be resolved: no name server is configured that could answer",
		fix:   []string{"start the local resolver, or name a server in /etc/resolv.conf"},
		read:  resolvConf,
		found: "resolv.conf names no server, or only local ones while nothing listens on UDP port 53.",
	})
	say(cause.ResolverUnresolved, words[cause.NameServer]{
		summary: func(_ record.Finding, a cause.NameServer) string {
			if a.First {
				return fmt.Sprintf("the first name server, %s, is not on its link: each look-up waits for it, "+
					"until ARP or the resolver gives up after seconds", a.Server)
			}
			return fmt.Sprintf("the name server %s is not on its link", a.Server)
		},
		fix: []string{"name a server that answers first in /etc/resolv.conf; until then: options timeout:1 " +
			"attempts:2"},
		read: resolvConf + "; RFC 826",
		found: "A name server of resolv.conf that is on a link of the host is FAILED or INCOMPLETE in the " +
			"neighbour table; certain for the first.",
	})
	say(cause.ResolverSearchLong, words[cause.None]{
		text:  "each name is looked up in several domains before it is tried as it is",
		fix:   []string{"write names with a dot at the end, or set ndots:1"},
		read:  resolvConf,
		found: "resolv.conf has at least three search domains and ndots:5.",
	})
	say(cause.PacketsSqueezed, words[cause.Raised]{
		text:  "CPUs ran out of their budget for packets before the queues were empty",
		fixed: raise("more queues on more CPUs", "net.core.netdev_budget"),
		read:  netSysctl + " (netdev_budget)",
		found: "time_squeeze of softnet_stat grew by at least 100 and one in 1,000 packets.",
	})
	say(cause.ReceiveOnOneCPU, words[cause.Core]{
		summary: func(_ record.Finding, c cause.Core) string {
			return fmt.Sprintf("CPU %d takes %s of all received packets from the queues, and does not finish in "+
				"time: the other CPUs receive hardly any", c.CPU, unit.FormatPercent(c.Share))
		},
		fix: []string{"spread them: more receive queues (ethtool -l IF, ethtool -L IF combined N)",
			"their interrupts on different CPUs (irqbalance, or /proc/irq/N/smp_affinity)",
			"with a single queue, Receive Packet Steering: the CPUs as a mask into " +
				"/sys/class/net/IF/queues/rx-0/rps_cpus"},
		read: "https://docs.kernel.org/networking/scaling.html; softnet_stat of proc_net(5)",
		found: "Of at least four CPUs one processed 80 % of a million packets or more (softnet_stat), and its " +
			"time_squeeze grew by at least 100.",
	})

	spell(func(_ string, c fact.BusyCPU) string {
		return fmt.Sprintf("CPU %d was %s busy, %s with interrupts; all %d CPUs together were %s busy", c.CPU,
			unit.FormatPercent(c.Busy), unit.FormatPercent(c.Interrupts), c.CPUs, unit.FormatPercent(c.Together))
	})
	spell(func(_ string, s fact.Softirqs) string {
		return fmt.Sprintf("%.0f receive softirqs and %.0f interrupts a second on it", s.ReceivePerS, s.InterruptsPerS)
	})
	spell(func(string, fact.OtherNamespaces) string {
		return "most of its packets are of other network namespaces (softnet_stat)"
	})
	spell(func(_ string, b fact.Budget) string {
		return fmt.Sprintf("it ran out of its budget %.0f times and dropped %.0f packets (softnet_stat)", b.Squeezed,
			b.Dropped)
	})
	spell(func(host string, r fact.RingMissed) string {
		if r.Driver != "" {
			return fmt.Sprintf("%s.%s: rx_missed_errors of %s grew by %.0f%s", host, r.Interface, r.Driver, r.Missed,
				within(r.OverS, r.Boot))
		}
		since := ""
		if r.Boot {
			since = within(0, true)
		}
		text := fmt.Sprintf("%s.%s: %s grew by %.0f%s", host, r.Interface, cmp.Or(r.Printed, "rx_missed_errors"),
			r.Missed, since)
		if r.Received > 0 { // 0: perhaps not in the text
			text += fmt.Sprintf(", while it received %.0f packets", r.Received)
		}
		return text
	})
	spell(func(_ string, b fact.BacklogDropped) string {
		text := fmt.Sprintf("CPU %d dropped %.0f packets and took %.0f (softnet_stat)", b.CPU, b.Dropped, b.Took)
		if b.Busy != nil {
			text += "; it was " + unit.FormatPercent(*b.Busy) + " busy"
		}
		return text
	})
	spell(func(_ string, m fact.WholeMachine) string {
		return fmt.Sprintf("softnet_stat is of the whole machine: its CPUs took %.0f packets, and the interfaces "+
			"of %s received %.0f",
			m.Took, some(m.Hosts), m.Received)
	})
	spell(func(_ string, p fact.TCPPressure) string {
		return fmt.Sprintf("TcpExt.TCPMemoryPressures grew by %d; TCP's buffers had %.3g MB at the end", p.Grew,
			float64(p.Bytes)/1e6)
	})
	spell(func(_ string, w fact.MemoryWaits) string {
		return fmt.Sprintf("some program waited for memory %s of the window, all of them %s; %.3g GB were "+
			"available at its end",
			unit.FormatPercent(w.Some), unit.FormatPercent(w.All), float64(w.AvailableBytes)/1e9)
	})
	spell(func(_ string, c fact.CPUTime) string {
		return fmt.Sprintf("%s: %s idle in %s; programs %s, kernel %s, interrupts and softirqs %s", cpuName(c.CPU),
			percent(c.Idle), interval(c.OverS), percent(c.Programs), percent(c.Kernel), percent(c.Interrupts))
	})
	spell(func(_ string, s fact.StolenTime) string {
		return fmt.Sprintf("%s: %s of %s", cpuName(s.CPU), percent(s.Share), interval(s.OverS))
	})
	spell(func(_ string, m fact.Memory) string {
		return fmt.Sprintf("%.3g of %.3g GB are available", float64(m.AvailableBytes)/1e9, float64(m.Bytes)/1e9)
	})
	spell(func(_ string, c fact.Conntrack) string {
		return fmt.Sprintf("nf_conntrack_count is %d, nf_conntrack_max %d", c.Count, c.Most)
	})
	spell(func(_ string, f fact.OpenFiles) string {
		return fmt.Sprintf("%d open, fs.file-max is %d", f.Open, f.Most)
	})
	spell(func(_ string, c fact.ClockSource) string {
		return fmt.Sprintf("clock source %s; available: %s", c.Source, strings.Join(c.Available, ", "))
	})
	spell(func(_ string, c fact.ClockError) string {
		if c.ErrorS == 0 { // of timedatectl(1)
			return "the clock is not synchronised"
		}
		return fmt.Sprintf("STA_UNSYNC is set; the kernel bounds its error by %.1f s", c.ErrorS)
	})
	spell(func(_ string, p fact.Powersave) string {
		return fmt.Sprintf("%d CPUs have the governor powersave", p.CPUs)
	})
	spell(func(_ string, n fact.NameServers) string {
		text := "resolv.conf: nameserver " + cmp.Or(strings.Join(n.Servers, ", "), "absent")
		if n.NoLocal {
			text += "; nothing listens on UDP port 53 here"
		}
		return text
	})
	spell(func(_ string, s fact.SearchDomains) string {
		return fmt.Sprintf("%d search domains and ndots:5: up to %d queries for a name, in each family", s.Domains,
			s.Domains+1)
	})
	spell(func(_ string, r fact.ReceivedBy) string {
		return fmt.Sprintf("softnet_stat: CPU %d processed %s of %s packets%s, the other %d CPUs the rest; its "+
			"time_squeeze grew by %d", r.CPU, unit.FormatCount(int64(r.Packets)), unit.FormatCount(int64(r.Of)),
			within(r.OverS, r.Boot), r.CPUs-1, r.Squeezed)
	})
	spell(func(_ string, s fact.TimeSqueeze) string {
		return fmt.Sprintf("softnet_stat: time_squeeze grew by %d%s, for %d packets", s.Times, within(s.OverS, s.Boot),
			s.Packets)
	})
})

const (
	backlogDropped  = "packets were dropped because a CPU's backlog was full"
	conntrackSysctl = "Linux Documentation/networking/nf_conntrack-sysctl.rst"
)

// raise returns a fix that consists of advice or, as an alternative, a larger kernel parameter.
func raise(advice, key string) func(record.Finding, cause.Raised) []string {
	return func(f record.Finding, a cause.Raised) []string {
		switch {
		case a.Already > 0:
			return []string{fmt.Sprintf("%s; %s is %d already", advice, key, a.Already)}
		case len(f.Steps) == 0: // of no host that was read
			return []string{advice + "; or a larger " + key}
		}
		return []string{advice + "; or:", theSteps}
	}
}

// interval returns the length of an interval in seconds; 0: it is not known.
func interval(seconds float64) string {
	if seconds == 0 {
		return "the interval"
	}
	return unit.FormatSeconds(seconds)
}

// cpuName returns "CPU 3", or for -1 "all CPUs together".
func cpuName(cpu int) string {
	if cpu < 0 {
		return "all CPUs together"
	}
	return fmt.Sprint("CPU ", cpu)
}
