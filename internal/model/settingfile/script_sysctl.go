package settingfile

import (
	"cmp"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/shellscript"
)

func itoa(n int) string { return strconv.Itoa(n) }

// This file reads what sysctl(8) and redirections of a script set.

// sysctlOptions has the long options of sysctl(8) by their letters.
var sysctlOptions = map[string]string{"--write": "w", "--load": "p", "--system": "S", "--quiet": "q", "--values": "n",
	"--names": "N", "--ignore": "e", "--all": "a", "--pattern": "r", "--dry-run": "d", "--binary": "b",
	"--deprecated": "D", "--help": "h", "--version": "V"}

// sysctl reads the words of sysctl(8) as procps does: each word KEY=VALUE is set, and other words are
// shown, or refused with -w.
func (s *script) sysctl(e shellscript.Event, words []string) {
	var rest []shellscript.Word
	var load []shellscript.Word
	loads, writes, system, dry := false, false, false, false
	args := e.Command.Words[1:]
	for i := 0; i < len(args); i++ {
		w := args[i]
		option, value, long := strings.Cut(w.Text, "=")
		letters := strings.TrimPrefix(w.Text, "-")
		switch {
		case w.Depends != "" || !strings.HasPrefix(w.Text, "-") || w.Text == "-":
			rest = append(rest, w)
			continue
		case sysctlOptions[option] != "":
			letters = sysctlOptions[option]
			if long && letters == "p" {
				load = append(load, shellscript.Word{Text: value})
			}
		case strings.HasPrefix(w.Text, "--"):
			s.note(Unread, e, "the option "+w.Text+" of sysctl is not known here")
			return
		}
		for j, letter := range letters {
			switch letter {
			case 'w':
				writes = true
			case 'S':
				system = true
			case 'd':
				dry = true
			case 'p', 'f':
				loads = true
				if file := letters[j+1:]; file != "" && !long { // -pFILE
					load = append(load, shellscript.Word{Text: file})
				}
			}
			if letter == 'p' || letter == 'f' {
				break
			}
			if letter == 'r' && i+1 < len(args) {
				i++
				break
			}
		}
	}
	switch {
	case dry:
	case loads:
		s.load(e, append(load, rest...))
	case system && len(rest) == 0:
		// files that the script has written are read where they are written, and others are given here
	default:
		s.assign(e, rest, writes)
	}
}

// load reads the files that sysctl -p names.
func (s *script) load(e shellscript.Event, files []shellscript.Word) {
	for _, w := range files {
		name := w.Text
		switch {
		case w.Depends != "":
			s.unread(e, w.Depends)
		case name == "-" || name == "/dev/stdin":
			if e.Command.Input == nil {
				s.note(Unread, e, "depends on what it reads from standard input")
				continue
			}
			s.lines(e, e.Command.Input)
		case s.known[name]:
		case s.files[name] != nil:
			f := s.files[name]
			if !f.read {
				f.read = true
				s.lines(e, f.lines)
			}
		case strings.ContainsAny(name, "*?["):
			s.note(Unread, e, "depends on the files "+name)
		default:
			s.note(Unread, e, "depends on "+name+": give that file as well")
		}
	}
	if len(files) == 0 && e.Command.Input != nil { // -p alone reads /etc/sysctl.conf
		s.note(Odd, e, "sysctl -p without a file reads /etc/sysctl.conf, and not standard input: sysctl -p -")
	}
}

// lines reads lines of a list of parameters, as sysctl.conf has them. It returns the lines of the file
// that they became.
func (s *script) lines(e shellscript.Event, lines []shellscript.Line) (made []int) {
	inner := &File{Name: s.f.Name, Format: sysctlConf, System: s.f.System}
	for _, l := range lines {
		if l.Depends != "" {
			at := e
			at.At, at.Source = l.At, l.Text
			at.Source = cmp.Or(at.Source, e.Source)
			s.unread(at, l.Depends)
			continue
		}
		for _, text := range entries(l.Text) {
			inner.sysctl(l.At, text)
		}
	}
	for _, l := range inner.Lines {
		if made = append(made, len(s.f.Lines)); l.Slip != "" {
			l.Fix = l.Setting()
		}
		s.f.Lines = append(s.f.Lines, l)
	}
	s.f.Apart = append(s.f.Apart, inner.Apart...)
	return made
}

// looksLikeKey reports whether a word of sysctl(8) is the name of a parameter.
func looksLikeKey(word string) bool {
	return word != "" && strings.ContainsAny(word, "./") && !strings.ContainsAny(word[:1], "0123456789=.-/") ||
		strings.HasPrefix(word, below)
}

// refusedBlanks says why no blanks can be around the equals sign.
const refusedBlanks = "sysctl(8) takes KEY=VALUE as one word: with a blank beside the =, procps 3 and 4 and busybox " +
	"refuse the words, and set nothing"

// assign reads the words that sysctl(8) sets or shows.
func (s *script) assign(e shellscript.Event, words []shellscript.Word, writes bool) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.Depends != "" {
			s.unread(e, w.Depends)
			continue
		}
		key, value, assigned := strings.Cut(w.Text, "=")
		next := i + 1
		for next < len(words) && words[next].Depends == "" && !begins(words[next:]) {
			next++
		}
		more := lists.Map(words[i+1:next], func(m shellscript.Word) string { return m.Text })
		more, equals := withoutEquals(more)
		if value == "" && len(more) > 0 && looksLikeKey(key) && (assigned || equals) {
			s.slip(e, key, strings.Join(more, " "), refusedBlanks)
			i = next - 1
			continue
		}
		switch {
		case !assigned && !writes: // it is shown
			continue
		case strings.ContainsAny(key, "*?[") && value != "":
			s.note(Wrong, e, "sysctl(8) takes patterns in files, and none on its command line: "+w.Text)
			continue
		case !assigned || key == "" || value == "":
			s.note(Wrong, e, "expected KEY=VALUE, not "+strconv.Quote(w.Text))
			continue
		}
		s.f.set(Line{Line: e.At, Key: dotted(strings.TrimPrefix(key, below)), Value: value}, e.Source)
		if len(more) > 0 {
			s.note(Wrong, e, "sysctl(8) sets "+key+" to "+value+" alone and refuses "+strings.Join(more, " ")+
				": a value with blanks needs quotes", sysctlCommand(key, value+" "+strings.Join(more, " ")))
			i = next - 1
		}
	}
}

// begins reports whether words begin with another parameter: KEY=VALUE, KEY= VALUE or KEY = VALUE.
func begins(words []shellscript.Word) bool {
	key, _, assigned := strings.Cut(words[0].Text, "=")
	return assigned && looksLikeKey(key) || looksLikeKey(words[0].Text)
}

// withoutEquals returns the words of a value after an equals sign that stands alone or before it.
func withoutEquals(words []string) (value []string, equals bool) {
	if len(words) == 0 || !strings.HasPrefix(words[0], "=") {
		return words, false
	}
	if first := words[0][1:]; first != "" {
		return append([]string{first}, words[1:]...), true
	}
	return words[1:], true
}

// sysctlCommand formats a command that sets a parameter.
func sysctlCommand(key, value string) string {
	if strings.ContainsAny(value, " \t") {
		value = "'" + value + "'"
	}
	return "sysctl -w " + key + "=" + value
}

// slip adds a parameter that a command was meant to set.
func (s *script) slip(e shellscript.Event, key, value, why string) {
	value = strings.Join(strings.Fields(unquoted(value)), " ")
	s.f.set(Line{Line: e.At, Key: dotted(strings.TrimPrefix(key, below)), Value: value, Slip: why, Written: e.Source,
		Fix: sysctlCommand(key, value)}, e.Source)
}

// write reads text that the script writes to a file.
func (s *script) write(e shellscript.Event) {
	w := e.Write
	before := len(s.f.Lines)
	defer func() { s.mark(before, e) }()
	if w.File.Depends != "" {
		s.unread(e, w.File.Depends)
		return
	}
	name := w.File.Text
	switch {
	case strings.HasPrefix(name, below):
		s.proc(e, strings.TrimPrefix(name, below))
	case strings.HasPrefix(name, sysfs):
		if value, ok := s.value(e); ok && !s.f.sysfs(e.At, strings.TrimPrefix(name, sysfs), value, anyInterface) {
			s.note(Unread, e, "what "+name+" sets is not known here")
		}
	case strings.HasPrefix(name, procfs):
		s.note(Unread, e, "what "+name+" sets is not known here")
	default:
		s.file(e, name)
		if !isSysctlFile(name) {
			return
		}
	}
	if w.Unprivileged {
		s.note(Odd, e, "the shell opens "+name+" before sudo is executed, without the privileges of root: for an "+
			"ordinary user it fails; write to it by | sudo tee")
	}
}

// value returns the text that is written to a file of the kernel.
func (s *script) value(e shellscript.Event) (value string, ok bool) {
	var texts []string
	for _, l := range e.Write.Lines {
		if l.Depends != "" {
			s.unread(e, l.Depends)
			return "", false
		}
		texts = append(texts, l.Text)
	}
	value = strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
	if value == "" {
		s.note(Wrong, e, "expected a value to write")
	}
	return value, value != ""
}

// proc reads a value that is written to a file below /proc/sys.
func (s *script) proc(e shellscript.Event, name string) {
	if value, ok := s.value(e); ok {
		key := dotted(name)
		if !strings.Contains(name, "/") {
			key = name
		}
		s.f.set(Line{Line: e.At, Key: key, Value: value}, e.Source)
	}
}

// file keeps the text of a file. Parameters of files that programs read at boot are read at once.
func (s *script) file(e shellscript.Event, name string) {
	f := s.files[name]
	if f == nil {
		f = &scriptFileText{event: e}
		s.files[name] = f
		s.order = append(s.order, name)
	}
	if !e.Write.Append && len(e.When) == 0 {
		if len(f.made) > 0 {
			s.note(Note, e, name+" is written anew: what was written before is lost")
		}
		for _, i := range f.made {
			s.gone[i] = true
		}
		f.lines, f.made = nil, nil
	}
	f.lines = append(f.lines, e.Write.Lines...)
	if isSysctlFile(name) || f.read {
		f.read = true
		f.made = append(f.made, s.lines(e, e.Write.Lines)...)
	}
}

// leftover lists a file that was written and that nothing is known to read.
func (s *script) leftover(name string, f *scriptFileText) {
	configures := false
	for _, dir := range []string{"/etc/", "/usr/", "/lib/", "/boot/"} {
		configures = configures || strings.HasPrefix(name, dir)
	}
	for _, l := range f.lines {
		if mention.MatchString(l.Text) {
			s.note(Unread, f.event, "nothing is known here to read "+name)
			return
		}
	}
	if configures && len(f.lines) > 0 {
		s.note(Unread, f.event, "what "+name+" sets is not known here")
	}
}
