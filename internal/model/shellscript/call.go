package shellscript

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"linerate/internal/model/pattern"
)

// prefixes are commands that execute another one, with their options that take an argument.
var prefixes = map[string]string{
	"sudo": "ughpCrtTUDR", "doas": "uC", "env": "uCS", "nohup": "", "nice": "n", "ionice": "cnp", "timeout": "ks",
	"command": "", "exec": "a", "builtin": "", "time": "fo", "stdbuf": "ioe", "setsid": "", "chrt": "", "busybox": "",
}

// elevates reports whether a command executes another one as root.
func elevates(name string) bool {
	name = path.Base(name)
	return name == "sudo" || name == "doas"
}

// call follows a simple command: an assignment, a function of the script, a command that is known here,
// or another one.
func (s *Script) call(c *syntax.CallExpr, io stdio) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			s.assign(a)
		}
		return
	}
	words, assumed := s.fields(c.Args)
	assumed = sorted(assumed, io.assumed)
	s.spend(item * len(assumed))
	defer s.assuming(assumed)()
	if io.out != nil {
		io.out.assumed = append(io.out.assumed, assumed...)
	}
	if len(c.Assigns) > 0 { // which are for this command alone
		vars := s.copied(s.vars)
		defer func() { s.vars = vars }()
		for _, a := range c.Assigns {
			s.assign(a)
		}
	}
	s.execute(c, words, io)
}

// execute follows a command with expanded words.
func (s *Script) execute(c *syntax.CallExpr, words []Word, io stdio) {
	if len(words) == 0 {
		return
	}
	if words[0].Depends == "" {
		if f := s.funcs[words[0].Text]; f != nil {
			s.function(c, f, words[1:], io)
			return
		}
	}
	external, root := false, s.root
	for {
		name := path.Base(words[0].Text)
		takes, is := prefixes[name]
		if !is || words[0].Depends != "" {
			break
		}
		rest, user := afterPrefix(name, takes, words[1:])
		if len(rest) == 0 {
			break // such as exec with redirections alone
		}
		external = external || name != "command" && name != "builtin" && name != "time"
		root = root || elevates(name) && (user == "" || user == "root")
		words = rest
	}
	external = external || strings.Contains(words[0].Text, "/")
	was := s.root
	s.root = root
	defer func() { s.root = was }()
	if words[0].Depends == "" && s.builtin(c, words, io, external) {
		return
	}
	command := &Command{Words: words, Root: root}
	if io.given && s.spend(readLine*len(io.in)) {
		command.Input = slices.Clip(io.in)
		if command.Input == nil {
			command.Input = []Line{}
		}
	}
	s.event(c, Event{Command: command})
	if io.out != nil {
		io.out.unknown(s.line(c), "what "+words[0].Text+" prints")
	}
}

// afterPrefix returns the command after a prefix such as sudo, its options and assignments, and the
// user that an option -u names.
func afterPrefix(name, takes string, words []Word) (rest []Word, user string) {
	i := 0
	for i < len(words) && words[i].Depends == "" {
		w := words[i].Text
		switch {
		case w == "--":
			return words[i+1:], user
		case name == "command" && (w == "-v" || w == "-V"):
			return nil, ""
		case strings.HasPrefix(w, "-") && len(w) > 1:
			last := w[len(w)-1:]
			if strings.HasPrefix(w, "--") {
				if key, value, has := strings.Cut(w, "="); key == "--user" && has {
					user = value
				}
				break
			}
			if strings.Contains(takes, last) && i+1 < len(words) {
				i++
				if last == "u" && elevates(name) {
					user = words[i].Text
				}
			}
		case strings.Contains(w, "=") && syntax.ValidName(w[:strings.Index(w, "=")]) && (elevates(name) ||
			name == "env"):
		case name == "timeout" || name == "chrt": // the time, or the priority
			if i+1 < len(words) {
				return words[i+1:], user
			}
			return nil, user
		default:
			return words[i:], user
		}
		i++
	}
	return words[min(i, len(words)):], user
}

// function follows the body of a function with its arguments.
func (s *Script) function(c *syntax.CallExpr, f *function, args []Word, io stdio) {
	f.called = true
	if s.calls >= maxCalls {
		s.event(c, Event{Skip: "functions that call each other this often are not followed"})
		return
	}
	s.spend(item * len(args))
	params := append([]Word{}, args...)
	wasParams, wasAt, wasSource := s.params, s.at, s.source
	s.params, s.at, s.source = params, f.at, f.source
	s.locals = append(s.locals, map[string]value{})
	s.calls++
	s.stmt(f.decl.Body, io)
	s.calls--
	for name, v := range s.locals[len(s.locals)-1] {
		if !v.Declared() && v.depends == "" {
			delete(s.vars, name)
		} else {
			s.vars[name] = v
		}
	}
	s.locals = s.locals[:len(s.locals)-1]
	s.params, s.at, s.source, s.returned = wasParams, wasAt, wasSource, 0
}

// builtin follows a command that is known here. It returns false for others.
func (s *Script) builtin(c *syntax.CallExpr, words []Word, io stdio, external bool) bool {
	switch name := path.Base(words[0].Text); name {
	case "echo":
		s.echo(c, words[1:], io, external)
	case "printf":
		s.printf(c, words[1:], io)
	case "cat":
		s.cat(c, words[1:], io)
	case "tee":
		s.tee(c, words[1:], io)
	case "sh", "bash", "dash", "ash", "su":
		return s.shellCommand(c, words, io)
	case "eval":
		var texts []string
		for _, w := range words[1:] {
			if w.Depends != "" {
				return false
			}
			texts = append(texts, w.Text)
		}
		at := s.line(c)
		s.nested(strings.Join(texts, " "), func(int) int { return at })
	case "exit", "return":
		if !external && len(s.when) == 0 {
			if name == "exit" || len(s.locals) == 0 {
				s.ended = s.line(c)
			} else {
				s.returned = s.line(c)
			}
		}
	case "shift":
		if len(s.params) > 0 && len(words) == 1 {
			s.params = s.params[1:]
		} else {
			s.params = nil
		}
	case "set":
		if i := slices.IndexFunc(words, func(w Word) bool { return w.Text == "--" }); i > 0 {
			s.params = append([]Word{}, words[i+1:]...)
		}
	case "unset":
		for _, w := range words[1:] {
			delete(s.vars, w.Text)
		}
	case "read", "mapfile", "readarray":
		for _, w := range words[1:] {
			if syntax.ValidName(w.Text) {
				s.vars[w.Text] = value{depends: "$" + w.Text + ", which is read"}
			}
		}
	default:
		return false
	}
	return true
}

// shellCommand follows the argument of sh -c, or the script that a shell reads from its input.
func (s *Script) shellCommand(c *syntax.CallExpr, words []Word, io stdio) bool {
	at := s.line(c)
	for i, w := range words[1:] {
		switch {
		case w.Depends != "":
			return false
		case strings.HasPrefix(w.Text, "-") && strings.HasSuffix(w.Text, "c") && !strings.HasPrefix(w.Text, "--"):
			if i+2 >= len(words) || words[i+2].Depends != "" {
				return false
			}
			rows := func(int) int { return at }
			for _, arg := range c.Args { // whose lines are those of the script
				if _, quoted := singleQuoted(arg); quoted && cutWord(s, arg) == words[i+2].Text {
					rows = s.rows(arg, words[i+2].Text)
				}
			}
			s.apart(func() {
				s.nested(words[i+2].Text, func(line int) int { return rows(line - 1) })
			})
			return true
		}
	}
	if words[0].Text == "su" || !io.given {
		return false
	}
	var text strings.Builder
	var lines []int
	for _, line := range io.in {
		if line.Depends != "" {
			return false
		}
		text.WriteString(line.Text + "\n")
		lines = append(lines, line.At)
	}
	if len(lines) == 0 {
		return true
	}
	s.apart(func() {
		s.nested(text.String(), func(line int) int { return lines[min(max(line, 1), len(lines))-1] })
	})
	return true
}

// singleQuoted returns the text of a word that is one quoted string.
func singleQuoted(w *syntax.Word) (part syntax.WordPart, is bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return p, true
	}
	return nil, false
}

// cutWord expands a word, or returns an empty text.
func cutWord(s *Script, w *syntax.Word) string {
	text, _, err := s.literal(w)
	if err != nil {
		return ""
	}
	return text
}

// echo writes its arguments. Bash takes options in any order and expands escapes with -e; dash has
// -n alone and expands them always; the program of coreutils, which sudo executes, is like bash.
func (s *Script) echo(c *syntax.CallExpr, words []Word, io stdio, external bool) {
	if io.out == nil {
		return
	}
	at := s.line(c)
	texts, on := plainTexts(words)
	if on != "" {
		io.out.unknown(at, on)
		return
	}
	newline, escapes := true, false
	taken := 0
	for _, text := range texts {
		if len(text) < 2 || text[0] != '-' || strings.Trim(text[1:], "neE") != "" {
			break
		}
		for _, option := range text[1:] {
			switch option {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		taken++
	}
	text := strings.Join(texts[taken:], " ")
	if s.shell == Sh && !external {
		switch {
		case escapes:
			s.event(c, Event{Odd: "sh of Debian and Ubuntu is dash, whose echo has no -e: it writes “-e ” before the " +
				"text; bash and busybox take it: use printf"})
		case !escapes && strings.Contains(text, `\`) && escaped(text) != text:
			io.out.unknown(at, "which shell sh is: echo of dash (Debian, Ubuntu) expands the backslash, that of bash "+
				"does not")
			return
		}
	}
	if escapes {
		text = escaped(text)
	}
	if newline {
		text += "\n"
	}
	io.emit(text, s.argumentRows(c, text))
}

// escaped expands backslash escapes as echo -e does. The text ends at \c.
func escaped(text string) string {
	text, _, _ = strings.Cut(text, `\c`)
	expanded, _, err := expand.Format(nil, text, nil)
	if err != nil {
		return text
	}
	return expanded
}

// argumentRows maps the lines of what a command prints to lines of the script: the argument that has
// as many line breaks has each at its place.
func (s *Script) argumentRows(c *syntax.CallExpr, text string) func(int) int {
	for _, w := range c.Args {
		if int(w.End().Line()) > int(w.Pos().Line()) {
			return s.rows(w, strings.TrimSuffix(text, "\n"))
		}
	}
	at := s.line(c)
	return func(int) int { return at }
}

// plainTexts returns the texts of words, or on what one of them depends.
func plainTexts(words []Word) (texts []string, on string) {
	for _, w := range words {
		if w.Depends != "" {
			return nil, w.Depends
		}
		texts = append(texts, w.Text)
	}
	return texts, ""
}

// wide matches a directive of a format with a width of more than three digits.
var wide = pattern.MustCompile(`%[-+ ]*[0-9]{4}`)

// printf writes a format, again for all arguments.
func (s *Script) printf(c *syntax.CallExpr, words []Word, io stdio) {
	if len(words) > 0 && words[0].Text == "--" {
		words = words[1:]
	}
	if len(words) > 1 && words[0].Text == "-v" { // of bash: into a variable
		s.vars[words[1].Text] = value{depends: "$" + words[1].Text + ", which printf sets"}
		return
	}
	if io.out == nil || len(words) == 0 {
		return
	}
	texts, on := plainTexts(words)
	if on != "" {
		io.out.unknown(s.line(c), on)
		return
	}
	format, args := texts[0], append([]string{}, texts[1:]...)
	if wide.MatchString(format) {
		io.out.unknown(s.line(c), "a width above 999 in a format of printf")
		return
	}
	var b strings.Builder
	for again := true; again; {
		text, used, err := expand.Format(nil, format, args)
		if err != nil {
			io.out.unknown(s.line(c), "a format of printf that is not known here")
			return
		}
		b.WriteString(text)
		args = args[used:]
		again = s.spend(parsing*len(format)+len(text)) && used > 0 && len(args) > 0
	}
	io.emit(b.String(), s.argumentRows(c, b.String()))
}

// cat writes its input, or files that the script has written.
func (s *Script) cat(c *syntax.CallExpr, words []Word, io stdio) {
	if io.out == nil {
		return
	}
	files := 0
	for _, w := range words {
		if w.Text == "-" && w.Depends == "" {
			continue
		}
		lines, written := s.files[w.Text]
		if w.Depends != "" || !written || strings.HasPrefix(w.Text, "-") {
			io.out.unknown(s.line(c), "what cat prints")
			return
		}
		files++
		io.out.add(lines)
	}
	switch {
	case files > 0:
	case !io.given:
		io.out.unknown(s.line(c), "what cat reads")
	default:
		io.out.add(io.in)
	}
	io.out.open = false
}

// tee writes its input to files and to its output.
func (s *Script) tee(c *syntax.CallExpr, words []Word, io stdio) {
	adds := false
	var files []Word
	for _, w := range words {
		switch {
		case w.Depends == "" && (w.Text == "-a" || w.Text == "--append"):
			adds = true
		case w.Depends == "" && strings.HasPrefix(w.Text, "-"):
		default:
			files = append(files, w)
		}
	}
	lines := io.in
	if !io.given {
		lines = []Line{{At: s.line(c), Depends: "what tee reads"}}
	}
	for _, f := range files {
		s.written(c, &Write{File: f, Append: adds, Lines: lines})
	}
	if io.out != nil {
		io.out.add(lines)
		io.out.open = false
	}
}
