package diagnose

import (
	"linerate/internal/model/record"
)

// rule finds one cause on all hosts of a trial. Each family's file has its own list
// of them; a new finding is a line there, a function, and its section of
// docs/findings.md.
type rule struct {
	id   string
	find func(observed) []record.Finding
	// after, instead of find, is for flows that could not connect for none of the reasons that the
	// other rules named; stops is as below, of a rule by its ID.
	after func(f observed, named []record.Finding, stops func(id string) bool) []record.Finding
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

func sameSummary(a, b record.Finding) bool { return a.Summary == b.Summary }

// Rule describes a rule for snapshots of hosts.
type Rule struct {
	ID    string `json:"id"`
	About string `json:"about"`
	// Trial: it is evaluated in trials, and in snapshots if they have what it needs;
	// docs/findings.md describes it.
	Trial bool `json:"trial,omitempty"`
	// Growth: it goes by counters that grew between two readings.
	Growth bool `json:"growth,omitempty"`
	// Parts are those of a snapshot that it needs besides interfaces, addresses and routes.
	Parts []string `json:"parts,omitempty"`
	// Explains are rules whose findings follow from this one's.
	Explains []string `json:"explains,omitempty"`
	// AtPeers are rules whose findings follow from this one's on hosts whose connections lead to
	// its host.
	AtPeers []string `json:"at_peers,omitempty"`
}

// described are the rules as they are listed.
func (s *set) described() (list []Rule) {
	for _, r := range s.rules {
		list = append(list, Rule{r.id, r.about, !r.host, r.growth, r.parts, r.explains, r.atPeers})
	}
	return list
}
