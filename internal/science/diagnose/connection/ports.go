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

// PortRules are about local ports and file descriptors that ran out.
var PortRules = []rule.Rule{
	{ID: cause.PortsExhausted.Code, Find: portsExhausted},
	{ID: cause.DescriptorsExhausted.Code, Find: descriptorsExhausted},
}

// maxPairs bounds the pairs of addresses, or flows, that one finding lists.
const maxPairs = 4

// wideRange is a range of local ports for outgoing connections. Most services listen below it: a
// service cannot bind a port that an outgoing connection uses. net.ipv4.ip_local_reserved_ports
// excludes single ports (ip-sysctl.rst).
const wideRange, widePorts = "16384 65535", 65535 - 16384 + 1

// portsExhausted finds hosts on which connections failed because no local port was left: for the
// pair of addresses if connect(2) chose the port (EADDRNOTAVAIL), or for the source address if
// bind(2) did (EADDRINUSE).
func portsExhausted(f facts.Trial) (findings []record.Finding) {
	var listed []int
	at := map[record.FindingKey]int{} // in findings
	for _, fl := range f.Trial.Flows {
		if fl.Exhausted == nil {
			continue
		}
		finding := exhausted(fl, *fl.Exhausted)
		key := finding.Key()
		i, known := at[key]
		if !known {
			i, findings, listed = len(findings), append(findings, finding), append(listed, 0)
			at[key] = i
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
