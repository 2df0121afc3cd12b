package record

import (
	"encoding/json"
	"net/netip"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/setting"
)

// Confidences of a finding.
const (
	Certain  = "certain"
	Likely   = "likely"
	Possible = "possible"
)

// Finding is a cause that was found, as data: what it is, what it is about, the evidence and the
// fix. Package wording says the same in words where a finding is shown.
//
// A finding that an earlier version stored has words alone.
type Finding struct {
	ID         cause.Code `json:"id"`
	Host       string     `json:"host"`
	Confidence string     `json:"confidence"` // Certain, Likely, Possible

	// Words, which are not stored. Summary is the finding in one sentence; Evidence has a line for
	// each of Facts; Fix has Steps and advice; Reference is the kernel document or RFC.
	Summary  string   `json:"summary,omitzero"`
	Evidence []string `json:"evidence,omitzero"`
	Fix      []string `json:"fix,omitzero"`
	// Settings are those of Steps; none: the fix is not, or not only, settings of hosts.
	Settings  []setting.Setting `json:"settings,omitempty"`
	Reference string            `json:"reference,omitzero"`
	// Advice is what Fix has beside settings and flushes.
	Advice []string `json:"-"`

	// Treatments are those in whose trials it was found; empty for a host's
	// own snapshot.
	Treatments []string `json:"treatments,omitempty"`
	// Subject is what it is about if that is of no one host, such as an address that several
	// may have; absent: its host. It is derived from About.
	Subject string `json:"subject,omitempty"`
	// Toward is the other host to which all connections that it is about lead; absent: they lead
	// to several, or that is not known.
	Toward string `json:"toward,omitempty"`
	// Places are Touches as texts, such as "192.0.2.1", "*:80", "via 192.0.2.254" and "dev eth0".
	// They are derived where the finding has Touches.
	Places [][]string `json:"places,omitempty"`
	// ExplainedBy is a finding from which this one follows: about the same, or of the host that it
	// is toward; absent: none.
	ExplainedBy string `json:"explained_by,omitempty"`
	// Boot: of a host's snapshot, by what it counted before the first reading alone.
	Boot bool `json:"since_boot,omitempty"`

	// Args are the arguments of the cause, of the type that package cause has for it.
	Args any `json:"args,omitempty"`
	// About is what it is about, beside its host.
	About Subject     `json:"about,omitzero"`
	Facts []fact.Fact `json:"facts,omitempty"`
	Steps []Step      `json:"steps,omitempty"`
	// Touches are what it depends on, a list for each connection, neighbour or interface that it
	// is about. A finding follows from another one only if they have some in common; absent: it is
	// not bound to some.
	Touches [][]Touch `json:"touches,omitempty"`
}

// Subject is what a finding is about, beside its host. It is comparable.
type Subject struct {
	Interface string       `json:"interface,omitempty"`
	Address   netip.Addr   `json:"address,omitzero"`
	Route     netip.Prefix `json:"route,omitzero"`
	Object    string       `json:"object,omitempty"` // another thing with a name, such as a switch's port
}

// UnmarshalJSON reads the arguments as those of the cause.
func (f *Finding) UnmarshalJSON(data []byte) error {
	type plain Finding
	read := struct {
		*plain
		Args json.RawMessage `json:"args"`
	}{plain: (*plain)(f)}
	if err := json.Unmarshal(data, &read); err != nil || read.Args == nil {
		return err
	}
	var err error
	f.Args, err = cause.Decode(f.ID, read.Args)
	return err
}

// With adds evidence of a host.
func (f *Finding) With(host string, facts ...any) *Finding {
	for _, is := range facts {
		f.Facts = append(f.Facts, fact.Fact{Host: host, Is: is})
	}
	return f
}

// Fixed adds steps of the fix.
func (f *Finding) Fixed(steps ...Step) *Finding { f.Steps = append(f.Steps, steps...); return f }

// At adds one thing that it depends on.
func (f *Finding) At(touches ...Touch) *Finding {
	if len(touches) > 0 {
		f.Touches = append(f.Touches, touches)
	}
	return f
}

// IsData reports whether the finding is data, and not words alone.
func (f Finding) IsData() bool {
	words := f.Summary != "" || f.Fix != nil || f.Settings != nil
	return f.Facts != nil || f.Args != nil || !words
}

// Older reports whether the finding is of an earlier version, which stored words alone, although
// its cause has arguments and facts now.
func (f Finding) Older() bool { return !f.IsData() && cause.Zero(f.ID) != nil }

// Changes are the settings of the fix.
func (f Finding) Changes() (list []setting.Setting) {
	if !f.IsData() {
		return f.Settings
	}
	for _, s := range f.Steps {
		if s.Setting != nil && !s.Instead {
			list = append(list, *s.Setting)
		}
	}
	return list
}

// Same reports whether two findings are one: of one cause and host, and of what that cause tells
// apart. Both are data.
func (f Finding) Same(o Finding) bool {
	return f.ID == o.ID && f.Host == o.Host && cause.Same(f.ID, f.About, f.Args, o.About, o.Args)
}

// Names are the kernel parameters and interfaces that the finding is about or names.
func (f Finding) Names() (list []string) {
	list = append(list, f.About.Interface)
	for _, touches := range f.Touches {
		for _, t := range touches {
			list = append(list, t.Parameter, t.Device, t.OnLink)
		}
	}
	for _, one := range f.Facts {
		if named, is := one.Is.(fact.Named); is {
			list = append(list, named.Names()...)
		}
	}
	for _, s := range f.Changes() {
		for _, k := range s.Sysctl {
			list = append(list, k.Key)
		}
		if s.Link != nil {
			list = append(list, s.Link.Interface)
		}
	}
	return slices.DeleteFunc(list, func(name string) bool { return name == "" })
}

// Of is what a finding is about if that is of no one host, such as an address; empty: its host.
func (f Finding) Of() string {
	switch {
	case f.About.Address.IsValid():
		return f.About.Address.String()
	case f.About.Object != "":
		return f.About.Object
	}
	return f.Subject
}

// SameSubject reports whether two findings are about the same: a subject that both have, or else a
// host.
func (f Finding) SameSubject(o Finding) bool {
	if f.Of() != "" && o.Of() != "" {
		return f.Of() == o.Of()
	}
	return f.Host == o.Host
}

// Follows reports whether a finding was found to follow from another one.
func (f Finding) Follows(cause Finding) bool {
	return f.ExplainedBy == cause.ID && (f.SameSubject(cause) && f.Shares(cause, false, false) ||
		f.Toward == cause.Host &&
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
