package pasted

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"linerate/internal/model/lists"
)

// format describes one kind of text: what prints it, and how it is read. Each is registered in a
// file of its own, in the variable of which the name ends in Format. CONTRIBUTING.md has the recipe.
type format struct {
	// name is what an answer calls the format: the command that prints it, or the file.
	name string
	// part is the part of a snapshot that it yields (netstate.HostSnapshot.Pasted). Empty: none.
	part string
	// command reports whether a command prints the format. Nil: none does.
	command func(command) bool
	// files are the names under which the format is in /proc, /sys, /etc and in support archives,
	// as patterns of path.Match for the last elements of a path: "net/softnet_stat",
	// "ethtool_-S_*".
	files []string
	// header reports whether a line begins a table. A second table belongs to another machine unless
	// a prompt names the same one.
	header func(*machine, string) bool
	// row reads a line. It returns unread if the line does not have this form, and then leaves the
	// machine as it was.
	row func(*machine, string) mark
	// whole reads all lines of a text at once, such as JSON. It is used only where the command or
	// the file is known, and instead of row.
	whole func(*machine, *section)
	// again reports whether a line contradicts or repeats what the machine already has of this
	// format. Such a line belongs to another machine unless a prompt names the same one. Gap says
	// that an empty line or a command precedes the line. Nil: no line contradicts or repeats.
	again func(m *machine, line string, gap bool) bool
	// sure reports whether a single line without a known command tells the format: no other tool
	// prints such a line. Otherwise two lines are needed, or a header. Nil: it never does.
	sure func(line string) bool
	// host returns the machine that a line names, such as the second word of syslog's lines. The command
	// is that of the section; nil: it is not known. Empty: none. Nil: no line names one.
	host func(c command, line string) string
	// system returns the operating system that alone prints a line that is read; empty: others do, too.
	// Nil: only Linux prints the format.
	system func(line string) string
	// comments says that lines that begin with # are comments, and no commands of root.
	comments bool
	// bounded says that the format keeps a summary of bounded size of any number of lines. Of others, lines
	// after the first mostRows that are used are not read.
	bounded bool
	// shapeless says that only a command or a file's name tells the format, and ignores that no line of it has a
	// meaning, whatever it is.
	shapeless, ignores bool
}

// mark is what becomes of a line.
type mark byte

const (
	unread mark = iota // nothing knows it
	used               // it is in the machine's snapshot
	idle               // it is known, and has no meaning for any rule
)

// formats are in the order of their priority where a line has several shapes, strictest first.
var formats []*format

// kindsOfFormats returns the formats that need all lines of a section, and those of which a line can be
// guessed.
var kindsOfFormats = sync.OnceValue(func() (of struct{ whole, guessed []*format }) {
	for _, f := range formats {
		if f.whole != nil {
			of.whole = append(of.whole, f)
		}
		if !f.shapeless && f.row != nil {
			of.guessed = append(of.guessed, f)
		}
	}
	return of
})

// register adds formats. It panics if a name is taken.
func register(list ...*format) bool {
	for _, f := range list {
		if slices.ContainsFunc(formats, func(o *format) bool { return o.name == f.name }) {
			panic(fmt.Sprintf("pasted: two formats %q", f.name))
		}
		formats = append(formats, f)
	}
	return true
}

// printedBy returns the formats that a command prints: those of the command, or of the file that it
// prints. None: the command is unknown.
func printedBy(c command) (list []*format) {
	if len(c) == 0 {
		return nil
	}
	if file := c.prints(); file != "" {
		return ofFile(file)
	}
	return lists.Where(formats, func(f *format) bool { return f.command != nil && f.command(c) })
}

// ofFile returns the formats of a file by its path. None: the file is unknown.
func ofFile(name string) (list []*format) {
	elements := strings.Split(strings.Trim(path.Clean("/"+name), "/"), "/")
	for _, f := range formats {
		for _, pattern := range f.files {
			n, last := strings.Count(pattern, "/")+1, pattern[strings.LastIndexByte(pattern, '/')+1:]
			if n > len(elements) || last != elements[len(elements)-1] && !strings.ContainsAny(last, "*?[") {
				continue
			}
			if ok, _ := path.Match(pattern, strings.Join(elements[len(elements)-n:], "/")); ok {
				list = append(list, f)
				break
			}
		}
	}
	return list
}

// reads makes the row of a format of a function that reports whether it knows a line, and that calls
// ignore for what has no meaning for any rule.
func reads(row func(*machine, string) bool) func(*machine, string) mark {
	return func(m *machine, line string) mark {
		m.ignored = false
		switch known := row(m, line); {
		case !known:
			return unread
		case m.ignored:
			return idle
		}
		return used
	}
}

// ignore marks the line that is read as one without meaning for any rule. It returns true.
func (m *machine) ignore() bool {
	m.ignored = true
	return true
}

// behindPart reports whether the previous line is of a part of the snapshot.
func (m *machine) behindPart(part string) bool { return m.last != nil && m.last.part == part }

// programs reports whether a command executes one of the programs.
func programs(names ...string) func(command) bool {
	return func(c command) bool { return len(c) > 0 && slices.Contains(names, c[0]) }
}
