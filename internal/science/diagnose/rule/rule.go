// Package rule says what a rule is, and evaluates sets of them: over a trial, over snapshots of hosts and
// around a run. It merges what is found, says which finding follows from which, and takes accepted ones
// out. It knows no rule itself: the families give theirs.
package rule

import (
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// Rule finds one cause on all hosts of a trial. Each family's file has its own list
// of them; a new finding is a line there, a function, and its section of
// docs/findings.md.
type Rule struct {
	ID   string
	Find func(facts.Trial) []record.Finding
	// After, instead of find, is for flows that could not connect for none of the reasons that the
	// other rules named; stops is as below, of a rule by its ID.
	After func(f facts.Trial, named []record.Finding, stops func(id string) bool) []record.Finding
	// Stops reports whether the cause keeps flows from connecting: then such flows
	// of its host are not unreachable for an unknown reason as well.
	Stops bool

	// About says when it finds something.
	About string
	// Host: the rule is for snapshots of hosts (Hosts), and not for trials.
	Host bool
	// Growth: it goes by counters that grew, so that with readings since boot it is possible
	// at most.
	Growth bool
	// Own: it goes by what the host is by itself, its parameters, memory and programs, and not
	// by its links and their traffic. Of a lab's hosts, whose links the study makes, only such
	// rules are evaluated in a run.
	Own bool
	// Load: traffic that fills its path brings it about, as a trial's own does; around a run it
	// says something if it holds a flow back alone.
	Load bool
	// Holds, of a rule about a buffer or queue: whether that holds a flow of a trial back, or
	// nearly; around a run without such a flow the rule is left out. nil: it is about none.
	Holds func(*facts.Host, record.Flow) bool
	// When is by how much counters grew where it finds something; nil: it goes by something else.
	When *Growing
	// Parts are those of a host's state that it needs.
	Parts []string
	// Explains are the rules whose findings of the same host follow from this one's; atPeers are
	// those whose findings follow from it on other hosts, whose connections lead to this one.
	Explains, AtPeers []string
}

// Each makes a rule's find of a function that looks at one of several subjects, such as a
// host, and returns nil where it finds nothing.
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

// EveryHost has Each look at each host.
func EveryHost(f facts.Trial) []*facts.Host { return f.Hosts }

// Description describes a rule for snapshots of hosts.
type Description struct {
	ID    string `json:"id"`
	About string `json:"about"`
	// Trial: it is evaluated in trials, and in snapshots if they have what it needs;
	// docs/findings.md describes it.
	Trial bool `json:"trial,omitempty"`
	// Growth: it goes by counters that grew between two readings.
	Growth bool `json:"growth,omitempty"`
	// When is by how much counters grew; absent: it goes by something else.
	When *Growing `json:"when,omitempty"`
	// Parts are those of a snapshot that it needs besides interfaces, addresses and routes.
	Parts []string `json:"parts,omitempty"`
	// Explains are rules whose findings follow from this one's.
	Explains []string `json:"explains,omitempty"`
	// AtPeers are rules whose findings follow from this one's on hosts whose connections lead to
	// its host.
	AtPeers []string `json:"at_peers,omitempty"`
}

// Growing is by how much counters grew together.
type Growing struct {
	Counters []string `json:"counters"`
	Least    int64    `json:"least"`
	// Of are counters of whose growth, if there is any, it is at least a share.
	Of    []string `json:"of,omitempty"`
	Share float64  `json:"share,omitempty"`
	PerS  float64  `json:"per_s,omitempty"` // below which a cause is possible
}

// Described are the rules as they are listed.
func (s *Set) Described() (list []Description) {
	for _, r := range s.rules {
		list = append(list, Description{r.ID, r.About, !r.Host, r.Growth, r.When, r.Parts, r.Explains, r.AtPeers})
	}
	return list
}

// EachInterface is a rule's find for each interface of each host.
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

// EachNIC is the same for interfaces that are up and of which the driver's settings were read.
func EachNIC(find func(facts.Port) *record.Finding) func(facts.Trial) []record.Finding {
	return EachInterface(func(p facts.Port) *record.Finding {
		if p.NIC.Interface == "" || !p.Interface.Up {
			return nil
		}
		return find(p)
	})
}

// SameSubject reports whether two findings are of one port or hop.
func SameSubject(a, b record.Finding) bool { return a.Subject == b.Subject }
