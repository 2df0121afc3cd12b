package record

import (
	"slices"

	"linerate/internal/model/setting"
)

// Confidences of a finding.
const (
	Certain  = "certain"
	Likely   = "likely"
	Possible = "possible"
)

// Finding is a named cause with its evidence and its fix.
type Finding struct {
	ID         string `json:"id"`
	Host       string `json:"host"`
	Confidence string `json:"confidence"`
	// Summary is the finding in one sentence.
	Summary  string   `json:"summary"`
	Evidence []string `json:"evidence"`
	Fix      []string `json:"fix"`
	// Settings are the fix as settings; none: it is not, or not only, settings of hosts.
	Settings []setting.Setting `json:"settings,omitempty"`
	// Reference is the kernel document or RFC.
	Reference string `json:"reference"`
	// Treatments are those in whose trials it was found; empty for a host's
	// own snapshot.
	Treatments []string `json:"treatments,omitempty"`
	// Subject is what it is about if that is of no one host, such as an address that several
	// may have; absent: its host.
	Subject string `json:"subject,omitempty"`
	// Toward is the other host to which all connections that it is about lead; absent: they lead
	// to several, or that is not known.
	Toward string `json:"toward,omitempty"`
	// Places are what it depends on, a list for each connection, neighbour or interface that it
	// is about: addresses, ports, routes, gateways and interfaces, such as "192.0.2.1",
	// "*:80", "via 192.0.2.254" and "dev eth0". A finding follows from another one only if they
	// have places in common; absent: it is not bound to some.
	Places [][]string `json:"places,omitempty"`
	// ExplainedBy is a finding from which this one follows: about the same, or of the host that it
	// is toward; absent: none.
	ExplainedBy string `json:"explained_by,omitempty"`
	// Boot: of a host's snapshot, by what it counted before the first reading alone.
	Boot bool `json:"since_boot,omitempty"`
}

// About reports whether two findings are about the same: a subject that both have, or else a host.
func (f Finding) About(o Finding) bool {
	if f.Subject != "" && o.Subject != "" {
		return f.Subject == o.Subject
	}
	return f.Host == o.Host
}

// Follows reports whether a finding was found to follow from another one.
func (f Finding) Follows(cause Finding) bool {
	return f.ExplainedBy == cause.ID && (f.About(cause) && f.Shares(cause, false, false) || f.Toward == cause.Host &&
		f.Shares(cause, true, false))
}

// Alike groups findings that say the same of several hosts, in the order of the first of each.
func Alike(findings []Finding) (groups [][]Finding) {
	for _, f := range findings {
		i := slices.IndexFunc(groups, func(group []Finding) bool {
			o := group[0]
			return f.ID == o.ID && f.Confidence == o.Confidence && f.Summary == o.Summary && f.Subject == o.Subject &&
				f.Toward == o.Toward && f.ExplainedBy == o.ExplainedBy
		})
		if i < 0 {
			groups = append(groups, []Finding{f})
		} else {
			groups[i] = append(groups[i], f)
		}
	}
	return groups
}
