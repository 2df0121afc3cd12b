package settingfile

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/pattern"
	"linerate/internal/model/shellscript"
	"linerate/internal/model/source"
)

// format describes a kind of file: how it is recognised, and what is read of it. A format with shape
// and tree is one of documents of YAML, JSON or TOML.
type format struct {
	name  string // in documents
	label string // for display
	// by and yields are for the table of the document: how the format is recognised, and what is read.
	// Manual is where it is described.
	by, yields, manual string

	// named reports whether a file of this name has the format, whatever its content is. Nil: no name
	// decides. Dir is the name of its directory.
	named func(base, dir string) bool
	// has reports whether a text has the format, if no name decides. Nil: no text decides.
	has  func(text string) bool
	read func(f *File, text string)

	// shape reports whether a document has the format.
	shape func(root *source.Node) bool
	tree  func(r *treeReader, root *source.Node)
}

// formats has all formats, by name.
var formats []*format

// register adds a format.
func register(f *format) struct{} {
	formats = append(formats, f)
	slices.SortFunc(formats, func(a, b *format) int { return cmp.Compare(a.name, b.name) })
	return struct{}{}
}

// find returns the format with a name. Nil: there is none.
func find(name string) *format {
	for _, f := range formats {
		if f.name == name {
			return f
		}
	}
	return nil
}

// FormatName returns the name of a format for display.
func FormatName(name string) string {
	if f := find(name); f != nil {
		return f.label
	}
	return name
}

// Described is a format in words, for a document.
type Described struct{ Label, By, Yields, Manual string }

// Formats describes all formats, in the order of their labels.
func Formats() (list []Described) {
	for _, f := range formats {
		list = append(list, Described{f.label, f.by, f.yields, f.manual})
	}
	slices.SortStableFunc(list, func(a, b Described) int {
		return cmp.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label))
	})
	return list
}

// Read parses a file. If system is empty, it is detected from the keys.
func Read(name string, text []byte, system string) File {
	return read(name, string(text), File{System: system, scripts: new(shellscript.Budget)})
}

// deepestFile bounds files within files: a script in a list of files in the data of a machine.
const deepestFile = 4

// read parses a file that is within another one, or its first.
func read(name, text string, within File) File {
	f := File{Name: name, System: within.System, depth: within.depth, scripts: within.scripts}
	f.Format = recognise(name, text)
	switch of := find(f.Format); {
	case of == nil || of.read == nil:
		f.documents(text)
	default:
		of.read(&f, text)
	}
	if f.System == "" {
		if f.System = f.guess(); f.System != opsystem.Linux && f.Format == sysctlConf {
			// By the rules of that system.
			return read(name, text, File{System: f.System, depth: f.depth, scripts: f.scripts})
		}
	}
	if f.Format == sysctlConf && f.System == opsystem.Linux {
		f.foreignKeys()
	}
	slices.SortStableFunc(f.Apart, func(a, b Apart) int { return cmp.Compare(a.Line, b.Line) })
	noted := !slices.ContainsFunc(f.Apart, func(a Apart) bool { return a.Kind != Note })
	f.Blank = len(f.Lines) == 0 && noted && (len(f.Apart) > 0 || blank(text))
	return f
}

// nested reads a text within the file as a file of its own. At converts its lines to those of this file.
func (f *File) nested(name, text string, at func(int) int) File {
	inner := File{Name: name}
	if f.depth >= deepestFile {
		inner.apart(Unread, 1, name, "a file within too many others")
	} else {
		inner = read(name, text, File{System: f.System, depth: f.depth + 1, scripts: f.scripts})
	}
	for i := range inner.Lines {
		l := &inner.Lines[i]
		l.File, l.Line, l.When, l.Within = f.Name, at(l.Line), moved(l.When, at), moved(l.Within, at)
	}
	for i := range inner.Apart {
		inner.Apart[i].File, inner.Apart[i].Line = f.Name, at(inner.Apart[i].Line)
	}
	return inner
}

// lineNamed matches what a condition or a container is named by: "if on line 3".
var lineNamed = pattern.MustCompile(`\bline [0-9]+\b`)

// moved returns a text with the lines that it names converted.
func moved(text string, at func(int) int) string {
	return lineNamed.Regexp().ReplaceAllStringFunc(text, func(name string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(name, "line "))
		return "line " + strconv.Itoa(at(n))
	})
}

// block reads a part of a text that may be a list, a script or a document. Name has the ending of such
// a file, if one is known.
func (f *File) block(name, text string, at func(int) int) {
	if recognise(name, text) == sysctlConf {
		name = "sysctl.d/" + name
	}
	inner := f.nested(name, text, at)
	f.Lines, f.Apart = append(f.Lines, inner.Lines...), append(f.Apart, inner.Apart...)
}

// blank reports whether a text has only comments.
func blank(text string) bool {
	for range entries(text) {
		return false
	}
	return true
}

// recognise returns the format of a file: by its name, like the programs that read it, otherwise by
// its content. Empty: it is a file of documents, each of which has a format.
func recognise(name, text string) string {
	base, dir := path.Base(name), path.Base(path.Dir(name))
	for _, ending := range []string{".j2", ".erb", ".epp", ".tmpl", ".tpl", ".example", ".bak", ".orig"} {
		base = strings.TrimSuffix(base, ending) // a template of the file, or a copy
	}
	for _, f := range formats {
		if f.named != nil && f.named(base, dir) {
			return f.name
		}
	}
	switch {
	case mimeHead.MatchString(text):
		return mimeFile
	case htmlHead.MatchString(text):
		return htmlFile
	case documentFile(base) || tomlHead.MatchString(text):
		return ""
	case shebang.MatchString(text): // which may write files of any other format
		return scriptFile
	case fence.MatchString(text):
		return markdownFile
	}
	for _, f := range formats {
		if f.has != nil && f.has(text) {
			return f.name
		}
	}
	switch ending := strings.HasSuffix(base, ".conf"); {
	case beginsSection(text):
		return iniFile
	case !ending && resemblesDocuments(text):
		return ""
	case !ending && resemblesCommands(text):
		return scriptFile
	case blank(text) || resemblesSettings(text) || ending && resemblesCommands(text):
		return sysctlConf
	}
	return plainText
}

// firstEntry returns the first line that is neither blank nor a comment.
func firstEntry(text string) string {
	for _, line := range entries(text) {
		return line
	}
	return ""
}

// beginsSection reports whether the first line of a text begins a section: "[name]".
func beginsSection(text string) bool {
	line := firstEntry(text)
	return strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]")
}
