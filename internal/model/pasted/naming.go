package pasted

import (
	"slices"
	"strings"

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
		if r.home == nil {
			r.home = r.now
		}
		if known >= 0 {
			name = r.all[known].Reading.Host
		}
		r.goTo(name)
	}
}

// shortName returns the first label of a host name, in small letters.
func shortName(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return strings.ToLower(name)
}
