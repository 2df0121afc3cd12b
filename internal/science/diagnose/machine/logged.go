package machine

import (
	"fmt"
	"regexp"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// Rules about what the kernel wrote into its log.
var LogRules = []rule.Rule{
	{ID: "fault-logged", Host: true, Own: true, Parts: []string{"kernel log"}, SameCause: rule.SameSummary,
		Find:  loggedFaults,
		About: "The kernel's log has a line about a fault of the network: " + strings.Join(faultNames(), ", ") + "."},
}

// fault is what lines of the kernel's log are about that are written only when something is
// wrong. The texts are those of net/ in the kernel.
type fault struct {
	name, lines        string
	summary, reference string
	fix                string
}

var faultsLogged = []fault{
	{"a transmit queue that timed out", `(?i)netdev watchdog|transmit queue \d+ timed out`,
		"a NIC did not send for seconds, and its driver was to reset it",
		"Linux net/sched/sch_generic.c (dev_watchdog)",
		"a newer driver or firmware; ethtool -a DEV: pause frames of the other end stop a queue as well"},
	{"a full connection tracking table", `nf_conntrack: .*table full`,
		"the connection tracking table was full: packets of further connections were dropped",
		"Linux Documentation/networking/nf_conntrack-sysctl.rst",
		"no tracking for what needs none (nft notrack), or a larger net.netfilter.nf_conntrack_max"},
	{"a full neighbour table", `(?i)neighbou?r(:.*)? table overflow`,
		"the neighbour table was full: addresses could not be resolved", said.IPSysctl + " (neigh/default/gc_thresh3)",
		"a larger net.ipv4.neigh.default.gc_thresh3 (net.ipv6 for IPv6), or smaller subnets"},
	{"a full queue of half-open connections", `(?i)possible syn flooding`,
		"the queue of half-open connections of a listener was full", said.IPSysctl + " (tcp_syncookies)",
		"a larger backlog in listen(2) and net.core.somaxconn, unless it is an attack: ss -tn state syn-recv"},
	{"TCP out of memory", `(?i)tcp: (out of memory|too many orphaned)`,
		"TCP had no memory for its sockets", said.IPSysctl + " (tcp_mem, tcp_max_orphans)",
		"raise net.ipv4.tcp_mem (in pages), or have fewer or smaller buffers"},
	{"an address that another host has", `(?i)duplicate address detected`,
		"another host of the link has an IPv6 address of this one, which does not use it", "RFC 4862, section 5.4",
		"another address for one of the two"},
	{"a link that is half duplex", `(?i)link (is )?up\b.*half.duplex`,
		"a link came up half duplex", "IEEE 802.3, clause 28",
		"autonegotiation at both ends: ethtool DEV"},
	{"memory for packets that could not be allocated", `(?i)page allocation failure`,
		"the kernel could not allocate memory at once, as a driver does for received packets",
		"Linux Documentation/admin-guide/sysctl/vm.rst (min_free_kbytes)",
		"a larger vm.min_free_kbytes"},
}

func faultNames() (names []string) {
	for _, f := range faultsLogged {
		names = append(names, f.name)
	}
	return names
}

var faultLines = func() (list []*regexp.Regexp) {
	for _, f := range faultsLogged {
		list = append(list, regexp.MustCompile(f.lines))
	}
	return list
}()

// loggedFaults finds lines of the log since the boot.
func loggedFaults(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		if h.State.Log == nil {
			continue
		}
		for i, fault := range faultsLogged {
			var rows []string
			n := 0
			for _, line := range h.State.Log.Lines {
				if !faultLines[i].MatchString(line.Text) {
					continue
				}
				if n++; len(rows) < 3 {
					rows = append(rows, line.Text)
				}
			}
			if n > len(rows) {
				rows = append(rows, fmt.Sprintf("%d such lines", n))
			}
			if n > 0 && !h.State.FirstNamespace && len(h.Pasted) == 0 {
				rows = append(rows,
					"the kernel's log is of the whole machine, and this is another network namespace than its first one: the lines may be of others")
			}
			if n > 0 {
				findings = append(findings, record.Finding{Host: h.Name, Confidence: record.Possible, Boot: true,
					Summary: fault.summary, Evidence: rows,
					Fix: said.On(h.Name, h.Alone, fault.fix), Reference: fault.reference})
			}
		}
	}
	return findings
}
