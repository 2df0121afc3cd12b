package pasted

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
)

// goTo makes the machine with a name that of the next lines.
func (r *reader) goTo(name string) {
	if i := slices.IndexFunc(r.all, func(m *machine) bool { return m.named && m.Reading.Host == name }); i >= 0 {
		r.now, r.next = r.all[i], ""
		return
	}
	r.now, r.next = nil, name
}

// enter makes a network namespace of the machine, or a container, that of the lines of the section. It is a
// machine of its own, as those of archives are.
func (r *reader) enter(inside string) {
	name := r.next
	if r.now != nil && r.now.named {
		name = r.now.Reading.Host
	}
	name = plain.Short(strings.TrimPrefix(name+"/"+inside, "/"), longestName)
	if r.hosts[name] {
		return
	}
	if r.inside == nil {
		r.inside = map[string]*machine{}
	}
	r.home, r.away, r.inside[name] = r.now, true, cmp.Or(r.now, r.inside[name])
	r.goTo(name)
}

// shared returns the names of containers that have the network namespace of their machine: an interface of the same
// name and MAC address.
func (r *reader) shared() (names map[string]bool) {
	for _, m := range r.all {
		home := r.inside[m.Reading.Host]
		if !m.named || home == nil {
			continue
		}
		others := home.Reading.Snapshot.Interfaces
		for _, a := range m.Reading.Snapshot.Interfaces {
			if a.MAC != "" && slices.ContainsFunc(others, func(b netstate.InterfaceSnapshot) bool {
				return a.Interface == b.Interface && a.MAC == b.MAC && b.MAC != "00:00:00:00:00:00"
			}) {
				lists.Put(&names, m.Reading.Host, true)
			}
		}
	}
	return names
}

// mention makes the machine that a line names that of the line. One without a name takes it. Behind a
// prompt with a name, only the lines of a file can be of another machine.
func (r *reader) mention(name string) {
	name = plain.Short(name, longestName)
	has := r.next
	if r.now != nil && r.now.named {
		has = r.now.Reading.Host
	}
	switch {
	case name == "" || slices.Contains([]string{"localhost", "(none)", "unknown"}, shortName(name)):
	case has != "" && shortName(has) == shortName(name):
	case has != "" && r.in.host != "" && len(r.in.formats) > 0 && r.in.command.prints() == "":
	default:
		known := slices.IndexFunc(r.all, func(m *machine) bool {
			return m.named && shortName(m.Reading.Host) == shortName(name)
		})
		if known < 0 && has == "" && r.now != nil && !r.now.isSwitch() {
			r.now.named, r.now.Reading.Host = true, name
			return
		}
		r.home = cmp.Or(r.home, r.now)
		if known >= 0 {
			name = r.all[known].Reading.Host
		}
		r.goTo(name)
	}
}

// mentioned makes the machine that one of the lines of a format names that of the lines.
func (r *reader) mentioned(f *format, list []line) {
	if f.host == nil {
		return
	}
	for _, l := range list {
		if name := f.host(r.in.command, l.text); name != "" {
			r.mention(name)
			return
		}
	}
}

// commented reports whether a line that looks like a command behind the prompt "#" is a comment of a
// file.
func (r *reader) commented(text string, s start) bool {
	prompt := r.in.root && len(s.formats) > 0 && plausible(s.command)
	return strings.HasPrefix(strings.TrimSpace(text), "#") && !prompt &&
		slices.ContainsFunc(r.in.formats, func(f *format) bool { return f.comments })
}

// shortName returns the first label of a host name, in small letters.
func shortName(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return strings.ToLower(name)
}

// at returns the machine that a line of a format belongs to. Without a prompt, a switch's table and
// whatever repeats what the machine already has belong to a new machine.
func (r *reader) at(f *format, text string) *machine {
	m := r.now
	if m == nil {
		return r.other()
	}
	if r.fresh != nil {
		m.context = *r.fresh
	}
	again := m.has[f] && f.again != nil && f.again(m, text, r.gap)
	if !m.named && (again || len(m.has) > 0 && m.isSwitch() != (f.part == forwardingTable)) {
		return r.other()
	}
	return m
}

const forwardingTable = "forwarding table"

// isSwitch reports whether the machine has a switch's table of MAC addresses.
func (m *machine) isSwitch() bool {
	for f := range m.has {
		if f.part == forwardingTable {
			return true
		}
	}
	return false
}

func (r *reader) other() *machine {
	m := &machine{has: map[*format]bool{}, usedLines: map[*format]int{}, context: context{at: -1},
		system: system{operatingSystem: operatingSystem{systems: map[string]int{}}}}
	if r.next != "" {
		m.named, m.Reading.Host = true, r.next
	}
	if r.fresh != nil {
		m.context = *r.fresh
	}
	return m
}
