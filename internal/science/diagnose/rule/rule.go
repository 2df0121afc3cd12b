// Package rule defines what a rule is, and applies sets of rules to a trial, to snapshots of hosts,
// and to a finished run. It merges findings, marks those that follow from others, and separates
// accepted ones. It contains no rules: the families of package diagnose do.
package rule

import (
	"slices"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// Rule finds one cause on all hosts of a trial. Each family has lists of its rules.
type Rule struct {
	ID   string
	Find func(facts.Trial) []record.Finding
	// After is used instead of Find by the rule for flows that could not connect for a reason that no
	// other rule has found. named are the findings of the other rules, and stops reports Stops of a
	// rule by its ID.
	After func(f facts.Trial, named []record.Finding, stops func(id string) bool) []record.Finding
	// Stops reports whether the cause keeps flows from connecting. Such flows are then not reported as
	// unreachable for an unknown reason as well.
	Stops bool

	// Host reports whether the rule is for snapshots of hosts (Set.Hosts and Set.Around) and not for
	// trials.
	Host bool
	// Growth reports whether the rule is about counters that grew. Its findings from counts since the
	// boot are at most record.Possible.
	Growth bool
	// Own reports whether the rule is about the host itself, its parameters, memory and programs, and
	// not about its links and their traffic. For the hosts of a lab, whose links are set by the study,
	// Set.Around applies only such rules.
	Own bool
	// Load reports whether any traffic that fills its path has this effect, as that of a trial does.
	// Set.Around applies such a rule only if it has Holds.
	Load bool
	// Holds reports, for a rule about a buffer or queue, whether that holds back a flow of a trial, or
	// nearly does. Set.Around reports a finding of such a rule only if there is such a flow; nil: the
	// rule is not about a buffer or queue.
	Holds func(*facts.Host, record.Flow) bool
	// When is how much counters must grow for a finding; nil: the rule is not only about counters of Linux.
	When *Growing
	// If reports whether the rule is about a host: one of the BSDs or macOS (OtherSystem), or one whose text has a
	// tool's output. Of other hosts it is neither evaluated nor named as not evaluated. Nil: it is about all hosts.
	If func(*facts.Host) bool
	// Parts are the parts of a snapshot without which the rule is not evaluated, though some of them may be enough for
	// a finding, with details where it uses single values of a part (facts.SNMP, facts.Parameters). None: the
	// interfaces or, with Growth, their counters; of a rule for trials what only a measurement shows.
	Parts []string
	// Explains are the rules whose findings on the same host follow from those of this rule. AtPeers
	// are the rules whose findings follow from it on other hosts, whose connections lead to this one.
	Explains, AtPeers []string
}

// Each returns a Find that calls a function for each of several subjects, such as the hosts. The
// function returns nil if it finds nothing.
func Each[T any](subjects func(facts.Trial) []T, find func(facts.Trial, T) *record.Finding) func(
	facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		for _, subject := range subjects(f) {
			if finding := find(f, subject); finding != nil {
				findings = append(findings, *finding)
			}
		}
		return findings
	}
}

// EveryHost returns the hosts of a trial, for Each.
func EveryHost(f facts.Trial) []*facts.Host { return f.Hosts }

// Description describes a rule that is applied to snapshots of hosts.
type Description struct {
	ID string `json:"id"`
	// About is when the rule finds something, in words, which package wording adds.
	About string `json:"about"`
	// Trial reports whether the rule is for trials. Such rules are applied to snapshots as well if
	// those have what they need. docs/findings.md describes them.
	Trial bool `json:"trial,omitempty"`
	// Growth reports whether the rule is about counters that grew between two readings.
	Growth bool `json:"growth,omitempty"`
	// When is how much counters must grow for a finding; absent: the rule is not only about counters.
	When *Growing `json:"when,omitempty"`
	// Parts are the parts of a snapshot that the rule needs, besides interfaces, addresses and routes.
	Parts []string `json:"parts,omitempty"`
	// Explains are the rules whose findings follow from those of this rule.
	Explains []string `json:"explains,omitempty"`
	// AtPeers are the rules whose findings follow from this one's, on the hosts whose connections lead
	// to its host.
	AtPeers []string `json:"at_peers,omitempty"`
}

// Growing is how much counters must grow together for a finding.
type Growing struct {
	Counters []string `json:"counters"`
	Least    int64    `json:"least"`
	// Of are other counters. If they grew, Counters must have grown by at least Share of that.
	Of    []string `json:"of,omitempty"`
	Share float64  `json:"share,omitempty"`
	PerS  float64  `json:"per_s,omitempty"` // below this rate the finding is possible
}

// Described returns the descriptions of the rules, in their order.
func (s *Set) Described() (list []Description) {
	for _, r := range s.rules {
		var parts []string
		for _, part := range r.Parts {
			if part = facts.Base(part); !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
		list = append(list, Description{r.ID, "", !r.Host, r.Growth, r.When, parts, r.Explains, r.AtPeers})
	}
	return list
}

// EachInterface returns a Find that calls a function for each interface of each host.
func EachInterface(find func(facts.Port) *record.Finding) func(facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		for _, h := range f.Hosts {
			for _, i := range h.Reading.Snapshot.Interfaces {
				if finding := find(h.Port(i)); finding != nil {
					findings = append(findings, *finding)
				}
			}
		}
		return findings
	}
}

// EachNIC is EachInterface for interfaces that are up and whose driver's settings were read.
func EachNIC(find func(facts.Port) *record.Finding) func(facts.Trial) []record.Finding {
	return EachInterface(func(p facts.Port) *record.Finding {
		if p.NIC.Interface == "" || !p.Interface.Up {
			return nil
		}
		return find(p)
	})
}
