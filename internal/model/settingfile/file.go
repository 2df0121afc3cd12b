// Package settingfile parses the files in which administrators keep kernel parameters and options of
// NICs: sysctl.conf and its relatives of other systems, tuned profiles, shell scripts, and the
// descriptions that Ansible, Kubernetes, cloud-init and others apply. It returns what a file sets,
// which of it is in effect, and what of the file was not read; it does not judge values.
//
// Each format is a descriptor in a file of its own (type format), registered by its name; docs/tune-lint.md
// has the table. The package does no I/O and executes nothing.
package settingfile

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"linerate/internal/model/lists"
	"linerate/internal/model/pattern"
	"linerate/internal/model/shellscript"
)

// File is the parsed content of a file.
type File struct {
	Name string
	// Format is the name of the format that the file was taken for, System the system it is for.
	Format string
	System string
	// Lines are the parameters that it sets, in the order in which they are set.
	Lines []Line
	// Excludes are lines "-KEY", which keep patterns of lists from a parameter.
	Excludes []Line
	// Apart has the other lines of the file, such as other sections of a profile.
	Apart []Apart
	// Documents describes each document of a file with several. Nil: there is one.
	Documents []Document
	// Blank is set if the file has nothing but comments, and lines that are known to set nothing.
	Blank bool

	depth   int // of files within files that it is in
	scripts *shellscript.Budget
}

// Document is one of several documents in a file.
type Document struct {
	Line     int // its first
	Format   string
	Settings int
}

// Line is a parameter with its value.
type Line struct {
	File string
	Line int
	// Key has dots as separators, regardless of how it was written. A dot inside a part is a slash,
	// as in sysctl(8). It may be a pattern until Expand.
	Key   string
	Value string

	// Bound is tuned's ">" or "<": the value is only set if that increases, or decreases, the
	// current one.
	Bound string

	// Slip says why programs reject the line as it is written in the file. Written is that text;
	// Key and Value are what it was meant to set. Both are empty if programs accept the line. Fix is
	// what to write instead; empty: Setting().
	Slip, Written, Fix string

	// Optional is set if programs ignore that the parameter does not exist: "-" before the key.
	Optional bool
	// When names the conditions under which a script sets the parameter, "if on line 3". Empty: it
	// always does.
	When string
	// Within is what the parameter is set for, if not the host: "service web". Two lines for one
	// parameter concern each other only if Within is the same. Container is set if that has network
	// namespaces of its own, in which parameters of the machine cannot be set.
	Within    string
	Container bool

	listed bool // it is a line of a list, such as sysctl.conf
}

// Where returns file:line.
func (l Line) Where() string { return fmt.Sprintf("%s:%d", l.File, l.Line) }

// Setting formats the line as in sysctl.conf.
func (l Line) Setting() string { return l.Key + " = " + l.Value }

// Identity tells apart the lines of which only the last one is in effect.
func (l Line) Identity() string { return l.Within + "\x00" + l.Key }

// Bare separates the value from a comment that people write after it, beginning with "#", ";" or
// "//". On Linux such text is part of the value: in sysctl.conf(5) a comment must be on its own
// line.
func (l Line) Bare() (value, comment string) {
	lastLetter := strings.LastIndexFunc(l.Value, unicode.IsLetter)
	for i, r := range l.Value {
		rest := l.Value[i:]
		spaced := i > 0 && l.Value[i-1] == ' '
		number := i > 0 && l.Value[i-1] >= '0' && l.Value[i-1] <= '9'
		switch {
		case r == '#' && (spaced || number):
		case r == ';' && spaced && i < lastLetter:
		case strings.HasPrefix(rest, "//") && (spaced || number):
		default:
			continue
		}
		return strings.TrimSpace(l.Value[:i]), rest
	}
	return l.Value, ""
}

// Kind is what a line that sets nothing is.
type Kind int

// Kinds of Apart.
const (
	Note   Kind = iota // it is known to set no parameter
	Odd                // it does something other than intended
	Wrong              // a mistake: programs reject the line
	Unread             // it may set something, and is not understood
)

// Apart is a line that sets no kernel parameter, or a remark on one that does.
type Apart struct {
	File string
	Line int
	Text string
	Why  string
	// Instead has the intended lines, if they are known.
	Instead []string
	// Maybe is a line that may have been intended: it is if the parameter exists.
	Maybe string
	Kind  Kind
}

// apart appends a line that sets nothing.
func (f *File) apart(kind Kind, n int, text, why string, instead ...string) {
	f.Apart = append(f.Apart, Apart{File: f.Name, Line: n, Text: short(text), Why: why, Instead: instead, Kind: kind})
}

// redirected matches what a shell refuses, or takes for a file of that name: a redirection to a pattern.
var redirected = pattern.MustCompile(`>\s*["']?/proc/sys/[^\s"';]*[*?\[]`)

// set appends a parameter whose name and value were found as they are, and not in a line of
// sysctl.conf. Text is what is shown if it is none.
func (f *File) set(l Line, text string) {
	l.File, l.Value = f.Name, strings.Join(strings.Fields(l.Value), " ")
	switch {
	case l.Key == "" || strings.ContainsAny(l.Key, " \t\r\n\v\f=\u0085\u00a0") || l.Value == "":
		f.apart(Wrong, l.Line, text, "expected a name and a value")
	case l.IsPattern() && f.Format == scriptFile && redirected.MatchString(text):
		f.apart(Wrong, l.Line, text, "a shell redirects to one file: write a loop over the names, or "+
			"use tee(1)")
	case l.IsPattern() && (l.Within != "" || f.Format != scriptFile):
		f.apart(Unread, l.Line, text, "a pattern for several parameters: write them one by one to have them looked at")
	default:
		f.Lines = append(f.Lines, l)
	}
}

// Unread returns the number of lines that were not understood.
func (f *File) Unread() int {
	seen := map[int]bool{}
	for _, a := range f.Apart {
		if a.Kind == Unread {
			seen[a.Line] = true
		}
	}
	return len(seen)
}

// Nothing reports whether the file has content of which nothing was read: no setting, and no line
// whose settings are known.
func (f *File) Nothing() bool {
	return len(f.Lines) == 0 && !f.Blank && !slices.ContainsFunc(f.Apart, func(a Apart) bool {
		return a.Kind == Wrong && len(a.Instead) > 0
	})
}

// Candidates returns the number of lines that set something, or may have been meant to.
func (f *File) Candidates() int {
	seen := map[int]bool{}
	for _, l := range f.Lines {
		seen[l.Line] = true
	}
	for _, a := range f.Apart {
		if a.Kind == Unread || a.Kind == Wrong {
			seen[a.Line] = true
		}
	}
	return len(seen)
}

// longest is the number of bytes of a line that is shown as text.
const longest = 200

// short shortens a text to one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// Winning returns the lines that are in effect after the files are read in order: of those with the
// same identity the last that is not refused, or the last one if all are refused. Refused may be nil.
func Winning(files []File, refused func(Line) bool) []Line {
	last := map[string]Line{}
	for _, f := range files {
		for _, l := range f.Lines {
			id := l.Identity()
			if earlier, there := last[id]; !there || refused == nil || !refused(l) || refused(earlier) {
				last[id] = l
			}
		}
	}
	var list []Line
	for _, f := range files {
		list = append(list, lists.Where(f.Lines, func(l Line) bool { return last[l.Identity()] == l })...)
	}
	return list
}
