package record

import (
	"encoding/json"
	"net/netip"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/setting"
)

// Values of Finding.Confidence.
const (
	Certain  = "certain"
	Likely   = "likely"
	Possible = "possible"
)

// Finding is a problem that a rule found, as data: its cause, its subject, the evidence and the
// fix. Package wording adds the words when a finding is shown.
//
// A finding that an earlier version stored may have only words.
type Finding struct {
	ID         cause.Code `json:"id"`
	Host       string     `json:"host"`
	Confidence string     `json:"confidence"` // Certain, Likely, Possible
	// System is the operating system of the host if it is one of the BSDs or macOS
	// (netstate.HostEnvironment.System). Such a finding has no steps: linerate changes settings of Linux only.
	System string `json:"system,omitempty"`

	// The following are words, which are not stored. Summary is the finding in one sentence.
	// Evidence has a line for each of Facts. Fix has the Steps and the advice. Reference is a
	// kernel document or an RFC.
	Summary  string   `json:"summary,omitzero"`
	Evidence []string `json:"evidence,omitzero"`
	Fix      []string `json:"fix,omitzero"`
	// Settings are the settings among Steps. Empty: the fix makes no settings, or more than
	// settings.
	Settings  []setting.Setting `json:"settings,omitempty"`
	Reference string            `json:"reference,omitzero"`
	// Advice has the lines of Fix that are neither settings nor flushes.
	Advice []string `json:"-"`

	// Treatments names the treatments in whose trials it was found. Empty: it was
	// found in the snapshot of a host.
	Treatments []string `json:"treatments,omitempty"`
	// Subject names what the finding is about if that does not belong to a single host, such as an
	// address that several hosts may have. Absent: it is about Host. It is derived from About.
	Subject string `json:"subject,omitempty"`
	// Toward is the host at the other end of all connections that the finding is about. Absent:
	// there are several such hosts, or they are not known.
	Toward string `json:"toward,omitempty"`
	// Places has Touches as text, such as "192.0.2.1", "*:80", "via 192.0.2.254" and "dev eth0".
	// Findings that an earlier version stored may have Places without Touches.
	Places [][]string `json:"places,omitempty"`
	// ExplainedBy is the ID of a finding that explains this one. That finding has the same subject,
	// or its host is Toward. Absent: none does.
	ExplainedBy string `json:"explained_by,omitempty"`
	// Boot reports whether the evidence consists only of what the host counted between its boot
	// and the first reading of the snapshot.
	Boot bool `json:"since_boot,omitempty"`

	// Args has the arguments of the cause. Package cause defines their type for each ID.
	Args any `json:"args,omitempty"`
	// About is the subject of the finding on its host.
	About Subject     `json:"about,omitzero"`
	Facts []fact.Fact `json:"facts,omitempty"`
	Steps []Step      `json:"steps,omitempty"`
	// Touches has a list for each connection, neighbour or interface that the finding is about:
	// the interfaces, addresses and routes that it depends on. One finding can explain another
	// only if they have touches in common. Absent: the finding can have to do with any.
	Touches [][]Touch `json:"touches,omitempty"`
}

// Subject is what a finding is about, in addition to its host. The zero value is the host itself.
// Subjects are comparable.
type Subject struct {
	Interface string       `json:"interface,omitempty"`
	Address   netip.Addr   `json:"address,omitzero"`
	Route     netip.Prefix `json:"route,omitzero"`
	Object    string       `json:"object,omitempty"` // another thing with a name, such as a switch's port
}

// UnmarshalJSON decodes Args into the type that package cause has for the cause. It returns an
// error if they do not fit.
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

// With appends facts about a host to the evidence and returns f.
func (f *Finding) With(host string, facts ...any) *Finding {
	f.Facts = append(f.Facts, lists.Map(facts, func(is any) fact.Fact { return fact.Fact{Host: host, Is: is} })...)
	return f
}

// Fixed appends steps to the fix and returns f.
func (f *Finding) Fixed(steps ...Step) *Finding { f.Steps = append(f.Steps, steps...); return f }

// At appends the touches of one connection, neighbour or interface and returns f.
func (f *Finding) At(touches ...Touch) *Finding {
	if len(touches) > 0 {
		f.Touches = append(f.Touches, touches)
	}
	return f
}

// IsData reports whether the finding has data. False: it has only words.
func (f Finding) IsData() bool {
	words := f.Summary != "" || f.Fix != nil || f.Settings != nil
	return f.Facts != nil || f.Args != nil || !words
}

// Older reports whether an earlier version stored the finding with only words although its cause
// now has data.
func (f Finding) Older() bool { return !f.IsData() && cause.Zero(f.ID) != nil }

// Changes returns the settings of the fix, without those of alternative steps (Step.Instead).
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

// Key identifies a finding: two with the same cause and host that do not differ in what distinguishes
// findings of that cause (cause.Identity) have the same key. The finding must be data.
func (f Finding) Key() FindingKey {
	return FindingKey{f.ID, f.Host, cause.Identity(f.ID, f.About, f.Args)}
}

// FindingKey is the key of a finding; see Finding.Key.
type FindingKey struct{ id, host, key string }

// Names returns the kernel parameters and interfaces in the finding, its evidence and its fix. It
// may contain duplicates.
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
		list = append(list, lists.Map(s.Sysctl, func(k setting.Sysctl) string { return k.Key })...)
		if s.Link != nil {
			list = append(list, s.Link.Interface)
		}
	}
	return slices.DeleteFunc(list, func(name string) bool { return name == "" })
}

// Of returns what the finding is about if that does not belong to a single host, such as an
// address. Empty: it is about its host.
func (f Finding) Of() string {
	switch {
	case f.About.Address.IsValid():
		return f.About.Address.String()
	case f.About.Object != "":
		return f.About.Object
	}
	return f.Subject
}

// SameSubject reports whether two findings are about the same thing: Of if both have one, otherwise
// their hosts.
func (f Finding) SameSubject(o Finding) bool {
	if f.Of() != "" && o.Of() != "" {
		return f.Of() == o.Of()
	}
	return f.Host == o.Host
}

// Follows reports whether cause explains f: f.ExplainedBy names it, and the two have touches in
// common.
func (f Finding) Follows(cause Finding) bool {
	return f.ExplainedBy == cause.ID && (f.SameSubject(cause) && f.Shares(cause, false, false) ||
		f.Toward == cause.Host &&
			f.Shares(cause, true, false))
}

// Alike groups findings that are the same on several hosts. Groups are in the order of their first
// findings.
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
