package connection

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/rule"
)

// PortRules are about local ports and file descriptors.
var PortRules = []rule.Rule{
	{ID: cause.PortsExhausted.Code, Find: portsExhausted},
	{ID: cause.DescriptorsExhausted.Code, Find: descriptorsExhausted},
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
	var listed []int
	for _, fl := range f.Trial.Flows {
		if fl.Exhausted == nil {
			continue
		}
		finding := exhausted(fl, *fl.Exhausted)
		i := slices.IndexFunc(findings, finding.Same)
		if i < 0 {
			i, findings, listed = len(findings), append(findings, finding), append(listed, 0)
		} else if listed[i] < maxPairs {
			findings[i].Facts = record.Distinct(append(findings[i].Facts, finding.Facts...))
		}
		listed[i]++
	}
	return findings
}

func exhausted(fl record.Flow, p record.PortsExhausted) record.Finding {
	finding := record.Finding{ID: cause.PortsExhausted.Code, Host: fl.OpenedBy, Confidence: record.Certain,
		Args: cause.Ports{Bound: p.Bound}}
	failed := fact.Failed{Call: "connect(2)", Error: "EADDRNOTAVAIL"}
	if p.Bound {
		failed = fact.Failed{Call: "bind(2)", Error: "EADDRINUSE"}
	}
	finding.With(fl.OpenedBy, fact.NoPort{Source: p.Source, Destination: p.Destination, Open: p.Open, Wanted: p.Wanted},
		failed)
	if p.Ports() > 0 {
		finding.With(fl.OpenedBy, fact.LocalPorts{First: p.FirstPort, Last: p.LastPort})
	}
	if p.Ports() < widePorts {
		finding.Fixed(record.Settings(fix.Parameters(fl.OpenedBy, "net.ipv4.ip_local_port_range", wideRange)...)...)
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
		found := fact.NoDescriptor{Flow: fl.ID, Open: d.Open, Wanted: d.Wanted}
		i := slices.IndexFunc(findings, func(o record.Finding) bool { return o.Host == fl.OpenedBy })
		if i >= 0 {
			if len(findings[i].Facts) < maxPairs {
				findings[i].With(fl.OpenedBy, found)
			}
			continue
		}
		finding := record.Finding{ID: cause.DescriptorsExhausted.Code, Host: fl.OpenedBy, Confidence: record.Certain}
		finding.With(fl.OpenedBy, found)
		if d.Limit > 0 {
			finding.With(fl.OpenedBy, fact.DescriptorLimit{Limit: d.Limit})
		}
		findings = append(findings, finding)
	}
	return findings
}
