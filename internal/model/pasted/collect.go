package pasted

import (
	"slices"
	"strings"
)

// end ends the section.
func (r *reader) end() {
	r.drop()
	if len(r.collected) == 0 {
		return
	}
	list := r.collected
	r.collected = nil
	s := &section{lines: list, marks: make([]mark, len(list))}
	for _, f := range r.in.formats {
		if f.whole == nil {
			continue
		}
		for _, l := range list {
			if f.host == nil {
				break
			}
			if name := f.host(r.in.command, l.text); name != "" {
				r.mention(name)
				break
			}
		}
		m := r.at(f, "")
		f.whole(m, s)
		if slices.Contains(s.marks, used) {
			r.keep(m, f)
		}
		for i := range s.marks {
			if s.marks[i] != unread {
				r.count(f, s.marks[i])
			}
		}
		if slices.Contains(s.marks, used) || slices.Contains(s.marks, idle) {
			break
		}
	}
	for i, l := range list {
		if s.marks[i] == unread {
			r.lose(l)
		}
	}
}

// section is the text that a format reads at once.
type section struct {
	lines []line
	marks []mark
}

// text returns the lines of a section as one text.
func (s *section) text() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// all marks all lines that are unread.
func (s *section) all(m mark) {
	for i := range s.marks {
		if s.marks[i] == unread {
			s.marks[i] = m
		}
	}
}

// collects reports whether a format of the section needs all lines at once.
func (r *reader) collects() bool {
	return len(r.collected) > 0 || slices.ContainsFunc(r.in.formats, func(f *format) bool { return f.whole != nil })
}

// collect keeps a line for the end of the section.
func (r *reader) collect(l line) {
	if len(r.collected) >= mostRows {
		r.lose(l)
		return
	}
	r.collected = append(r.collected, l)
	r.gap = false
}

// collectJSON begins to collect a text of an unknown command that begins as JSON does. Any format that
// reads JSON may know it.
func (r *reader) collectJSON(l line) {
	r.drop()
	r.in, r.fresh = start{json: true}, behind(nil)
	for _, f := range formats {
		if f.whole != nil {
			r.in.formats = append(r.in.formats, f)
		}
	}
	r.collect(l)
}
