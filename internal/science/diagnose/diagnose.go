// Package diagnose names causes. It reads records, of a trial or of a host's
// snapshot, and the topology they were made on, and returns findings: a cause,
// the evidence for it, and the commands that remove it. It judges no figure's
// truth (package trust) and measures nothing.
//
// A rule tells a mechanism, not an example: it fires on what the kernel did, and
// stays silent where another rule's cause explains the same traces. One file per
// family; the families are listed in rules.
package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// rule finds one cause on all hosts of a trial.
type rule struct {
	id   string
	find func(facts) []record.Finding
}

// unnamed is the rule for what the others leave: it looks at their findings.
const unnamed = "unreachable"

// rules are in the order in which a reader should meet their findings.
var rules = []rule{
	{"arp-flux", arpFlux},
	{"arp-wrong-source", arpWrongSource},
	{"same-subnet-one-egress", sameSubnetOneEgress},
	{"rp-filter-drop", rpFilterDrop},
	{"ports-exhausted", portsExhausted},
	{"ecmp-l3-hash", ecmpL3Hash},
	{"ecmp-few-flows", ecmpFewFlows},
	{"ecmp-polarization", ecmpPolarization},
	{"ecmp-weight-mismatch", ecmpWeightMismatch},
	{"ecmp-dead-nexthop", ecmpDeadNexthop},
	{"ecmp-source-mismatch", ecmpSourceMismatch},
	{"softirq-one-core", softirqOneCore},
	{"rx-missed", rxMissed},
	{"softnet-drop", softnetDrop},
	{"memory-pressure", memoryPressure},
	{"tool-surplus", toolSurplus},
}

// Diagnose applies every rule to one trial.
func Diagnose(trial record.Trial, t *topology.Topology) []record.Finding {
	f := gather(trial, t)
	var findings []record.Finding
	for _, r := range rules {
		for _, finding := range r.find(f) {
			finding.ID = r.id
			if trial.Treatment != "" {
				finding.Treatments = []string{trial.Treatment}
			}
			findings = append(findings, finding)
		}
	}
	for _, finding := range unreachable(f, findings) {
		finding.ID = unnamed
		if trial.Treatment != "" {
			finding.Treatments = []string{trial.Treatment}
		}
		findings = append(findings, finding)
	}
	return findings
}

// Merge groups the findings of several trials by cause and host. The evidence of
// a merged finding is that of the surest trial, as a whole: rows of different
// trials next to each other would describe a state that never was.
func Merge(findings []record.Finding) []record.Finding {
	var merged []record.Finding
	for _, f := range findings {
		i := slices.IndexFunc(merged, func(m record.Finding) bool { return alike(m, f) })
		if i < 0 {
			f.Treatments = slices.Clone(f.Treatments)
			merged = append(merged, f)
			continue
		}
		treatments := merged[i].Treatments
		for _, t := range f.Treatments {
			if !slices.Contains(treatments, t) {
				treatments = append(treatments, t)
			}
		}
		if surer(f, merged[i]) {
			merged[i] = f
		}
		merged[i].Treatments = treatments
	}
	for i := range merged {
		merged[i].Evidence = shorten(merged[i].Evidence)
	}
	slices.SortStableFunc(merged, func(a, b record.Finding) int {
		if a.Confidence != b.Confidence {
			return rank(a.Confidence) - rank(b.Confidence)
		}
		return place(a.ID) - place(b.ID)
	})
	return merged
}

// alike findings have one cause and one fix: ARP flux under arp_filter needs
// another than without, and hosts are unreachable for many reasons.
func alike(a, b record.Finding) bool {
	tool := func(f record.Finding) string {
		if len(f.Fix) == 0 {
			return ""
		}
		word, _, _ := strings.Cut(f.Fix[0], " ")
		return word + fmt.Sprint(strings.Contains(f.Fix[0], "arp_filter"))
	}
	switch {
	case a.ID != b.ID || a.Host != b.Host:
		return false
	case a.ID == "arp-flux" && len(a.Fix) > 0 && len(b.Fix) > 0:
		return tool(a) == tool(b)
	case a.ID == "ecmp-dead-nexthop" && len(a.Fix) > 0 && len(b.Fix) > 0:
		// A group of objects needs another remedy than a route.
		return strings.Contains(a.Fix[0], " sysctl ") == strings.Contains(b.Fix[0], " sysctl ")
	case a.ID == unnamed, a.ID == "rx-missed", a.ID == "ports-exhausted", a.ID == "memory-pressure":
		return a.Summary == b.Summary
	case a.ID == "tool-surplus":
		first, _, _ := strings.Cut(a.Summary, " ")
		second, _, _ := strings.Cut(b.Summary, " ")
		return first == second
	}
	return true
}

func place(id string) int {
	if i := slices.IndexFunc(rules, func(r rule) bool { return r.id == id }); i >= 0 {
		return i
	}
	return len(rules)
}

// surer prefers confidence, then the fuller evidence.
func surer(a, b record.Finding) bool {
	if a.Confidence != b.Confidence {
		return rank(a.Confidence) < rank(b.Confidence)
	}
	return len(a.Evidence) > len(b.Evidence)
}

func rank(confidence string) int {
	return slices.Index([]string{record.Certain, record.Likely, record.Possible}, confidence)
}

// maxEvidence is what a reader takes in.
const maxEvidence = 8

// shorten drops repeated lines, and lines beyond maxEvidence.
func shorten(evidence []string) []string {
	var short []string
	for _, line := range evidence {
		if !slices.Contains(short, line) && len(short) < maxEvidence {
			short = append(short, line)
		}
	}
	return short
}
