// Package diagnose returns findings: a cause, the evidence for it, and the commands
// that remove it. It reads records, of a trial or of a host's
// snapshot, and the topology they were made on. Whether a figure can be believed is
// for package trust; nothing is measured here.
//
// A rule detects a mechanism, not an example: it goes by what the kernel did, and
// finds nothing where another rule's cause explains the same evidence. There is one
// file for each family of rules.
package diagnose

import (
	"cmp"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// rule finds one cause on all hosts of a trial. Each family's file has its own list
// of them; a new finding is a line there, a function, and its section of
// docs/findings.md.
type rule struct {
	id   string
	find func(observed) []record.Finding
	// stops reports whether the cause keeps flows from connecting: then such flows
	// of its host are not unreachable for an unknown reason as well.
	stops bool
	// sameCause reports whether two findings of one host are the same one, which
	// Merge unites; nil: any two are.
	sameCause func(a, b record.Finding) bool

	// about says when it finds something.
	about string
	// host: the rule is for snapshots of hosts (Hosts), and not for trials.
	host bool
	// growth: it goes by counters that grew, so that with readings since boot it is possible
	// at most.
	growth bool
	// own: it goes by what the host is by itself, its parameters, memory and programs, and not
	// by its links and their traffic. Of a lab's hosts, whose links the study makes, only such
	// rules are evaluated in a run.
	own bool
	// load: traffic that fills its path brings it about, as a trial's own does; around a run it
	// says something if it holds a flow back alone.
	load bool
	// holds, of a rule about a buffer or queue: whether that holds a flow of a trial back, or
	// nearly; around a run without such a flow the rule is left out. nil: it is about none.
	holds func(*host, record.Flow) bool
	// parts are those of a host's state that it needs.
	parts []string
	// explains are the rules whose findings of the same host follow from this one's; atPeers are
	// those whose findings follow from it on other hosts, whose connections lead to this one.
	explains, atPeers []string
}

// each makes a rule's find of a function that looks at one of several subjects, such as a
// host, and returns nil where it finds nothing.
func each[T any](subjects func(observed) []T, find func(observed, T) *record.Finding) func(observed) []record.Finding {
	return func(f observed) (findings []record.Finding) {
		for _, subject := range subjects(f) {
			if finding := find(f, subject); finding != nil {
				findings = append(findings, *finding)
			}
		}
		return findings
	}
}

func everyHost(f observed) []*host { return f.hosts }

// rules are in the order in which a reader should meet their findings.
var rules = slices.Concat(arpRules, routeRules, portRules, ecmpRules, carrierRules, switchRules, bondRules, vlanRules,
	pathMTURules, windowRules, machineRules, toolRules,
	interfaceRules, lldpRules, driverRules, tunedRules, addressRules, policyRules, parameterRules, socketRules,
	probeRules, hostRules, logRules, firewallRules, dropRules, growthRules)

// unnamed is the rule for flows that could not connect for none of those reasons.
var unnamed = rule{id: "unreachable", sameCause: sameSummary}

func sameSummary(a, b record.Finding) bool { return a.Summary == b.Summary }

// Diagnose applies every rule to one trial.
func Diagnose(trial record.Trial, t *topology.Topology) []record.Finding {
	f := gather(trial, t)
	var findings []record.Finding
	add := func(id string, found []record.Finding) {
		for _, finding := range found {
			if finding.ID = id; trial.Treatment != "" {
				finding.Treatments = []string{trial.Treatment}
			}
			findings = append(findings, finding)
		}
	}
	for _, r := range rules {
		if !r.host {
			add(r.id, r.find(f))
		}
	}
	add(unnamed.id, unreachable(f, findings))
	return findings
}

// Merge groups the findings of several trials by cause and host. The evidence of
// a merged finding is that of the trial with the highest confidence, as a whole: lines
// of different trials together would describe a state that did not exist.
func Merge(findings []record.Finding) []record.Finding {
	var merged []record.Finding
	for _, f := range findings {
		i := slices.IndexFunc(merged, func(m record.Finding) bool { return alike(m, f) })
		if i < 0 {
			f.Treatments = slices.Clone(f.Treatments)
			merged = append(merged, f)
			continue
		}
		treatments := union(merged[i].Treatments, f.Treatments...)
		if surer(f, merged[i]) {
			merged[i] = f
		}
		merged[i].Treatments = treatments
	}
	for i := range merged {
		evidence := union(nil, merged[i].Evidence...)
		merged[i].Evidence = evidence[:min(len(evidence), maxEvidence)]
	}
	slices.SortStableFunc(merged, func(a, b record.Finding) int {
		return cmp.Or(rank(a.Confidence)-rank(b.Confidence), place(a.ID)-place(b.ID))
	})
	return merged
}

// alike reports whether two findings have one cause and one fix.
func alike(a, b record.Finding) bool {
	if a.ID != b.ID || a.Host != b.Host {
		return false
	}
	r := ruleOf(a.ID)
	return r.sameCause == nil || r.sameCause(a, b)
}

// ruleOf is the rule with an ID; that of an unknown ID is unnamed.
func ruleOf(id string) rule {
	if i := place(id); i < len(rules) {
		return rules[i]
	}
	return unnamed
}

func place(id string) int {
	if i := slices.IndexFunc(rules, func(r rule) bool { return r.id == id }); i >= 0 {
		return i
	}
	return len(rules)
}

// surer reports whether a has the higher confidence, or as high and more evidence.
func surer(a, b record.Finding) bool {
	if a.Confidence != b.Confidence {
		return rank(a.Confidence) < rank(b.Confidence)
	}
	return len(a.Evidence) > len(b.Evidence)
}

func rank(confidence string) int {
	return slices.Index([]string{record.Certain, record.Likely, record.Possible}, confidence)
}

// maxEvidence is how many different lines of evidence a merged finding has at most.
const maxEvidence = 8
