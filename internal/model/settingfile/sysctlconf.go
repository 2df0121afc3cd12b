package settingfile

import (
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/pattern"
)

// Names of formats that others refer to.
const (
	sysctlConf = "sysctl.conf" // key = value
	loaderConf = "loader.conf" // key="value"
)

var _ = register(&format{
	name: sysctlConf, label: "sysctl.conf", manual: "sysctl.conf(5), sysctl.d(5)",
	by: "`sysctl.conf`, `sysctl.d`; otherwise every file that is nothing else",
	yields: "`key = value`; `#` and `;` begin comments, `-` before the key ignores errors; patterns of names, " +
		"and `-key` that excludes one from them. Of " +
		"FreeBSD, OpenBSD and macOS by their keys, or `--system`",
	named: func(base, dir string) bool {
		return base == "sysctl.conf" || dir == "sysctl.d"
	},
	read: (*File).conf,
})

var _ = register(&format{
	name: loaderConf, label: "loader.conf", manual: "loader.conf(5) of FreeBSD",
	by:     "“loader” in the name",
	yields: "`key=\"value\"`; `…_load` lines load a module and set nothing",
	named:  func(base, _ string) bool { return strings.Contains(base, "loader") },
	read: func(f *File, text string) {
		if f.System == "" {
			f.System = opsystem.FreeBSD
		}
		f.conf(text)
	},
})

// conf parses lines "key = value".
func (f *File) conf(text string) {
	continued := 0 // the line before, if that ends with a backslash
	var blocks blocksOf
	for n, line := range entries(text) {
		if c := control.FindStringSubmatch(line); c != nil && blocks.enter(n, line, c[1]+c[2]) {
			continue
		}
		begun := continued == n-1 && n > 1
		if continued = 0; strings.HasSuffix(line, `\`) {
			continued = n
		}
		before := len(f.Lines)
		if f.sysctl(n, line); begun && len(f.Lines) == before {
			f.Apart[len(f.Apart)-1].Why = `a backslash does not continue a line: write all values on one line`
		}
		for i := before; i < len(f.Lines); i++ {
			f.Lines[i].When = blocks.String()
		}
	}
	if strings.Contains(text, byteOrderMark) && f.Format == sysctlConf &&
		(f.System == "" || f.System == opsystem.Linux) {
		f.marked(strings.Split(text, "\n"))
	}
}

// byteOrderMark is what editors of Windows begin files with, also those that are joined to others. Neither
// procps nor systemd skips it.
const byteOrderMark = "\ufeff"

// marked remarks on the parameters on lines that begin with a byte order mark, if programs accept the rest.
func (f *File) marked(lines []string) {
	for i := range f.Lines {
		l := &f.Lines[i]
		if l.Slip == "" && l.Line <= len(lines) && strings.HasPrefix(lines[l.Line-1], byteOrderMark) {
			l.Slip, l.Written = "the line begins with a byte order mark, which becomes part of the name: save the "+
				"file as UTF-8 without one", l.Setting()
		}
	}
}

// tops are the first parts of the names of Linux' parameters: the directories of /proc/sys.
var tops = wordSet("abi crypto debug dev fs fscache kernel lnet net sunrpc user vm xen")

// bsdTops are those of other systems.
var bsdTops = wordSet("cam compat ddb dev hw iogpu kern machdep net p1003_1b security user vfs vm")

// top returns the first part of a name.
func top(key string) string {
	part, _, _ := strings.Cut(key, ".")
	return part
}

// settingLine matches a line that sets a parameter, with its name.
var settingLine = pattern.MustCompile(`^-?\s*["']?([a-z][\w-]*[./][^="']*?)["']?\s*=`)

// resemblesSettings reports whether a text has a line that sets a parameter, or lines most of which were
// meant to.
func resemblesSettings(text string) bool {
	meant, all := 0, 0
	for _, line := range entries(text) {
		m := settingLine.FindStringSubmatch(line)
		if m != nil && (tops[top(dotted(m[1]))] || bsdTops[top(dotted(m[1]))]) {
			return true
		}
		all++
		if list, _ := intended(line); len(list) > 0 {
			meant++
		}
	}
	return meant > 0 && 2*meant >= all // otherwise it is a text that mentions one
}

// foreignKeys takes lines out whose names no parameter of Linux can have.
func (f *File) foreignKeys() {
	f.Lines = slices.DeleteFunc(f.Lines, func(l Line) bool {
		first := top(l.Key)
		if l.IsOption() || tops[first] {
			return false
		}
		f.apart(Unread, l.Line, l.Setting(), "no kernel parameter has a name that begins with "+strconv.Quote(first))
		return true
	})
}

// entries returns the lines of a text with their numbers, without blank lines and comments.
func entries(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			line = strings.TrimSpace(strings.TrimPrefix(line, byteOrderMark))
			if line != "" && line[0] != '#' && line[0] != ';' && !yield(n, line) {
				return
			}
		}
	}
}

// isSysctlFile reports whether programs take a file of a Linux host for a list of kernel parameters.
func isSysctlFile(name string) bool {
	return path.Base(name) == "sysctl.conf" || path.Base(path.Dir(name)) == "sysctl.d"
}

// plainSetting matches a line of which nothing else can be meant, as are most.
var plainSetting = pattern.MustCompile(`^[a-z][\w./-]*\s*=\s*[\w .\t-]*$`)

// sysctl parses a line "key = value", quoted or not.
func (f *File) sysctl(n int, line string) {
	text, slip := line, ""
	if blanks.MatchString(line) {
		f.apart(Unread, n, line, "a template: what it becomes is not known here")
		return
	}
	if f.Format == sysctlConf && !plainSetting.MatchString(line) {
		corrected, why := intended(line)
		if len(corrected) > 1 {
			f.apart(Wrong, n, line, why, corrected...)
			return
		}
		if len(corrected) == 1 {
			line, slip = corrected[0], why
		}
	}
	key, value, found := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	key, optional := strings.CutPrefix(key, "-") // errors in setting it are ignored (sysctl.d(5))
	key = strings.TrimSpace(key)
	switch {
	case !found && optional && key != "":
		l := Line{File: f.Name, Line: n, Key: dotted(key)}
		if l.IsPattern() {
			f.apart(Odd, n, text, "a pattern excludes nothing: write each name")
			return
		}
		f.apart(Note, n, text, "keeps patterns from setting "+key)
		f.Excludes = append(f.Excludes, l)
		return
	case program.MatchString(line) && f.commands(n, line, anyInterface):
		for i := range f.Lines {
			if f.Lines[i].Line == n {
				f.Lines[i].Slip,
					f.Lines[i].Written = "a command, which no list of kernel parameters can have: it belongs in a "+
					"script, or in a .link file (systemd.link(5))", text
			}
		}
		return
	case program.MatchString(line):
		f.apart(Wrong, n, text,
			program.FindStringSubmatch(line)[1]+" is a command, not a kernel parameter: leave it out of this file")
		return
	case !found:
		f.apart(Wrong, n, text, "expected KEY = VALUE")
		return
	case templated(line) != "":
		f.apart(Unread, n, text, dependsOn(templated(line)))
		return
	case key == "" || strings.ContainsAny(key, " \t"):
		f.apart(Wrong, n, text, "expected one name before the =")
		if joined := strings.Join(strings.Fields(key), "_"); joined != "" && value != "" {
			f.Apart[len(f.Apart)-1].Maybe = dotted(joined) + " = " + value
		}
		return
	case f.Format == loaderConf && strings.HasSuffix(key, "_load"):
		f.apart(Note, n, text, "loads a module, and sets nothing")
		return
	}
	l := Line{File: f.Name, Line: n, Key: dotted(key), Optional: optional, listed: f.Format == sysctlConf}
	if f.Format == tunedProfile {
		for _, bound := range []string{">", "<"} {
			if rest, has := strings.CutPrefix(value, bound); has {
				l.Bound, value = bound, strings.TrimSpace(rest)
			}
		}
	}
	comment := false
	if f.commented() {
		value, _, comment = strings.Cut(value, "#")
	}
	value = strings.TrimSpace(value)
	if bare := unquoted(value); bare != value {
		if value = bare; slip == "" && f.Format == sysctlConf && (f.System == "" || f.System == opsystem.Linux) {
			slip = "the quotes become part of the value"
		}
	}
	if l.Value = strings.Join(strings.Fields(value), " "); slip != "" {
		l.Slip, l.Written = slip, text
	}
	switch {
	case l.Value == "" && comment:
		f.apart(Wrong, n, text, "expected a value before the comment")
		return
	case l.Value == "":
		f.apart(Wrong, n, text, "expected a value after the =")
		return
	}
	f.Lines = append(f.Lines, l)
}

// commented reports whether a value ends at "#". On Linux, and before the system is known, "#" is
// part of the value (sysctl.d(5)); lint reports that.
func (f *File) commented() bool {
	return f.System != opsystem.Linux && (f.System != "" || f.Format == loaderConf)
}

func unquoted(value string) string {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}

// dotted converts a key to dots as separators. If the first separator is a slash, slashes separate
// and dots do not (sysctl.d(5)).
func dotted(key string) string {
	at := strings.IndexAny(key, "./")
	if at < 0 || key[at] == '.' {
		return key
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '/':
			return '.'
		case '.':
			return '/'
		}
		return r
	}, key)
}
