package connection

import (
	"fmt"
	"slices"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// PortRules are about local ports and file descriptors.
var PortRules = []rule.Rule{
	{ID: "ports-exhausted",
		About: "A flow could not bind or connect because no source port was left (EADDRNOTAVAIL, EADDRINUSE). Needs a measurement.",
		Find:  portsExhausted, SameCause: rule.SameSummary},
	{ID: "descriptors-exhausted",
		About: "A flow could not open a connection because the process had no file descriptor left (EMFILE). Needs a measurement.",
		Find:  descriptorsExhausted, SameCause: rule.SameSummary},
}

// maxPairs is how many pairs of addresses a finding lists.
const maxPairs = 4

// wideRange is a range of ports for connections that are opened. Most services listen on ports
// below it: one that is started later cannot bind a port that such a connection has.
// net.ipv4.ip_local_reserved_ports keeps single ports out of a range (ip-sysctl.rst).
const wideRange, widePorts = "16384 65535", 65535 - 16384 + 1

// portsExhausted finds hosts on which connections failed because no port was left: of the
// pair of addresses, where connect(2) chooses it (EADDRNOTAVAIL), or of the source
// address, where bind(2) does (EADDRINUSE).
func portsExhausted(f facts.Trial) (findings []record.Finding) {
	listed := map[string]int{}
	for _, fl := range f.Trial.Flows {
		p := fl.Exhausted
		if p == nil {
			continue
		}
		finding := exhausted(fl, *p, len(f.Hosts) == 1)
		i := slices.IndexFunc(findings, func(o record.Finding) bool {
			return o.Host == finding.Host && o.Summary == finding.Summary
		})
		if i < 0 {
			findings = append(findings, finding)
		} else if listed[finding.Host+finding.Summary] < maxPairs {
			findings[i].Evidence = facts.Union(findings[i].Evidence, finding.Evidence...)
		}
		listed[finding.Host+finding.Summary]++
	}
	return findings
}

func exhausted(fl record.Flow, p record.PortsExhausted, alone bool) record.Finding {
	source := "any address"
	if p.Source.IsValid() {
		source = p.Source.String()
	}
	finding := record.Finding{
		Host: fl.OpenedBy, Confidence: record.Certain,
		Evidence: []string{fmt.Sprintf("%s → %s: %d of %d connections are open", source, p.Destination, p.Open,
			p.Wanted)},
		Reference: "ip(7); Linux Documentation/networking/ip-sysctl.rst (ip_local_port_range)",
	}
	if p.Bound {
		finding.Summary = fmt.Sprintf(
			"%s has no port left to bind: bind(2) takes one of the source address for each connection, wherever it goes", fl.OpenedBy)
		finding.Evidence = append(finding.Evidence, "the next bind(2) failed with EADDRINUSE")
		finding.Fix = []string{
			"set IP_BIND_ADDRESS_NO_PORT before bind(2), so that connect(2) chooses (in a study: bind_no_port: true)",
			"or bind to further source addresses: each has as many ports",
		}
	} else {
		finding.Summary = fmt.Sprintf("%s has no port left between two addresses and one port of the other end",
			fl.OpenedBy)
		finding.Evidence = append(finding.Evidence, "the next connect(2) failed with EADDRNOTAVAIL")
		finding.Fix = []string{
			"connect to a further address of the other end (an alias), or from a further one of this host: each pair has as many connections",
			"or to a further port",
		}
	}
	if n := p.Ports(); n > 0 {
		finding.Evidence = append(finding.Evidence,
			fmt.Sprintf("%s: net.ipv4.ip_local_port_range = %d %d, which is %d ports", fl.OpenedBy, p.FirstPort,
				p.LastPort, n))
	}
	if p.Ports() < widePorts {
		finding.Settings = fix.Parameters(fl.OpenedBy, "net.ipv4.ip_local_port_range", wideRange)
		finding.Fix = append(finding.Fix,
			"or widen the range (net.ipv4.ip_local_reserved_ports keeps ports of services out of it): "+
				said.On(fl.OpenedBy, alone, hostconfig.Commands(finding.Settings)...)[0])
	}
	return finding
}

// descriptorsExhausted finds hosts on which connections failed because the process had no descriptor left.
func descriptorsExhausted(f facts.Trial) (findings []record.Finding) {
	for _, fl := range f.Trial.Flows {
		d := fl.NoDescriptors
		if d == nil {
			continue
		}
		evidence := fmt.Sprintf("flow %s: %d of %d connections are open, the next socket(2) failed with EMFILE", fl.ID,
			d.Open, d.Wanted)
		i := slices.IndexFunc(findings, func(o record.Finding) bool { return o.Host == fl.OpenedBy })
		if i >= 0 {
			if len(findings[i].Evidence) < maxPairs {
				findings[i].Evidence = append(findings[i].Evidence, evidence)
			}
			continue
		}
		finding := record.Finding{
			Host: fl.OpenedBy, Confidence: record.Certain, Evidence: []string{evidence},
			Summary:   fl.OpenedBy + " has no descriptor left for a further connection in the process that opens them",
			Reference: "getrlimit(2) (RLIMIT_NOFILE); Linux Documentation/admin-guide/sysctl/fs.rst (nr_open)",
			Fix: []string{
				"raise the limit of the process: ulimit -Hn, LimitNOFILE= of systemd.exec(5); as root up to fs.nr_open",
				"or open connections from further processes or hosts"},
		}
		if d.Limit > 0 {
			finding.Evidence = append(finding.Evidence, fmt.Sprintf("%s: RLIMIT_NOFILE is %d", fl.OpenedBy, d.Limit))
		}
		findings = append(findings, finding)
	}
	return findings
}
