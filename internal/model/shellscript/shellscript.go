// Package shellscript follows a shell script without executing anything: it lists the commands that the
// script executes, with their words and their input, and the text that it writes to files, as far as both
// follow from the script alone. What depends on the machine, such as $(nproc) or $1, is named instead.
//
// The script is parsed and its words are expanded as bash does (mvdan.cc/sh). Where bash and dash
// differ, as in echo, the shell that the script names decides. Both branches of a condition are
// followed. See docs/decisions/0054-shell-scripts-by-a-parser.md.
package shellscript

import (
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"linerate/internal/model/pattern"
)

// Limits of a script. They are far above what scripts of settings need, and bound the work that a
// malformed or hostile one causes: the parser is recursive, and loops multiply.
const (
	maxBytes   = 256 << 10
	maxNesting = 20000    // characters that may open a nested command
	maxSteps   = 20000    // commands that are followed
	maxWork    = 16 << 20 // bytes that a Budget has, see Script.spend
	maxValue   = 64 << 10 // bytes of a variable
	maxFields  = 4096     // words of a command
	maxCalls   = 20       // functions that call each other
	maxSource  = 200      // bytes of a command in messages
)

// Shell is the program that executes a script.
type Shell int

// Shells. Sh is dash on Debian and Ubuntu, and bash or busybox on other distributions.
const (
	Bash Shell = iota
	Sh
)

// ShellOf returns the shell that the first line of a script names. Without such a line it is Bash.
func ShellOf(text string) Shell {
	first, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	if !strings.HasPrefix(first, "#!") || len(words) == 0 {
		return Bash
	}
	name := path.Base(words[0])
	if name == "env" && len(words) > 1 {
		name = path.Base(words[1])
	}
	if name == "sh" || name == "dash" || name == "ash" || name == "busybox" {
		return Sh
	}
	return Bash
}

// Line is a line of text that a script writes or passes to a command. At is the line of the script
// that it comes from.
type Line struct {
	Text string
	At   int
	// Depends says on what the text depends that the script does not determine; Text is then as it is
	// written, or empty. Empty: nothing.
	Depends string
}

// Word is a word of a command after all expansions. If Depends is not empty, Text is the word as it
// is written, because it depends on what Depends names.
type Word struct{ Text, Depends string }

// Event is what a script does. Exactly one of its parts is set.
type Event struct {
	// At is the line of the script, Source the command as it is written, shortened.
	At     int
	Source string
	// When names the conditions under which it happens: "if on line 3". Nil: always.
	When []string

	Command *Command
	Write   *Write
	// Skip says why a part of the script is not followed. Odd is a remark on a command that is
	// followed, but does not do the same in every shell.
	Skip, Odd string
	// Mistake reports whether what is skipped is a syntax error.
	Mistake bool
}

// Command is a command that is executed. Names of sudo(8), env(1) and the like are left out.
type Command struct {
	Words []Word
	// Input is what it reads from standard input. Nil: that is not known.
	Input []Line
	// Root is set if it is executed by sudo(8) or a similar command.
	Root bool
}

// Name returns the name of the command without its directory. Empty: it depends on something.
func (c *Command) Name() string {
	if len(c.Words) == 0 || c.Words[0].Depends != "" {
		return ""
	}
	return path.Base(c.Words[0].Text)
}

// Depends returns on what the words depend. Empty: they are known.
func (c *Command) Depends() string {
	for _, w := range c.Words {
		if w.Depends != "" {
			return w.Depends
		}
	}
	return ""
}

// Write is text that is written to a file.
type Write struct {
	File   Word
	Append bool
	Lines  []Line
	// Unprivileged is set if the shell opens the file although the command is executed by sudo(8),
	// as in "sudo echo 1 > FILE": the file is opened without the privileges of root.
	Unprivileged bool
}

// Script follows the parts of a script, one after the other, with the same variables and functions.
type Script struct {
	shell  Shell
	at     func(line int) int // of the file that has the script
	source string

	vars   map[string]value
	funcs  map[string]*function
	params []Word // of the function or script; nil: not known
	files  map[string][]Line
	when   []string
	root   bool
	calls  int
	locals []map[string]value
	// ended is the line of the exit or return that was executed. 0: none.
	ended, returned int

	steps  int
	budget *Budget
	full   bool // no more is followed
	events []Event
}

// function is a function of a script.
type function struct {
	decl   *syntax.FuncDecl
	source string
	at     func(int) int
	called bool
}

// What is spent beside bytes of text.
const (
	// item is about what a word, a line, a variable, a node of the syntax or a name in a list takes, in bytes.
	item = 32
	// readLine is the cost of a line of an event, which is parsed.
	readLine = 4 * item
	// parsing is the cost of a byte that is parsed or compared with a pattern, in bytes that are copied.
	parsing = 16
)

// Budget bounds what following several scripts costs together, such as those of a file. The zero value has spent
// nothing.
type Budget struct{ spent int }

// spend counts what following the script costs, in bytes that are copied. Every list and text that is made, copied or
// walked is counted, as what is in the file may be repeated there in any way. It reports whether more is followed.
func (s *Script) spend(bytes int) bool {
	s.budget.spent = min(s.budget.spent, maxWork+1) + bytes
	return !s.spent()
}

// spent reports whether no more is followed.
func (s *Script) spent() bool { return s.budget.spent > maxWork }

// step counts a command. It reports whether it is followed, and says so once if it is not.
func (s *Script) step(st *syntax.Stmt) bool {
	s.steps++
	if s.steps <= maxSteps && s.spend(item) {
		return true
	}
	if !s.full {
		s.full = true
		s.event(st, Event{Skip: "the script does more than is followed here: this and what comes after it is not read"})
	}
	return false
}

// New returns a script without any part, and with its part of a budget.
func New(shell Shell, budget *Budget) *Script {
	return &Script{shell: shell, vars: map[string]value{}, funcs: map[string]*function{}, files: map[string][]Line{},
		budget: budget}
}

// Run follows a part of the script. At converts lines of text to lines of the file that has it; nil:
// they are the same.
func (s *Script) Run(text string, at func(line int) int) []Event {
	if at == nil {
		at = func(line int) int { return line }
	}
	began := len(s.events)
	s.nested(text, at)
	return s.events[began:]
}

// Uncalled returns the functions that no part of the script has called.
func (s *Script) Uncalled() (list []Event) {
	for _, f := range s.funcs {
		if !f.called {
			at := f.at(int(f.decl.Pos().Line()))
			list = append(list, Event{At: at, Source: cut(f.source, f.decl),
				Skip: "the function " + f.decl.Name.Value + " is not called here"})
		}
	}
	return list
}

// nested follows text within the script, such as the argument of sh -c.
func (s *Script) nested(text string, at func(int) int) {
	if s.calls > 0 { // otherwise it is a part of the file
		s.spend(parsing * len(text))
	}
	if s.calls >= maxCalls || len(text) > maxBytes || nesting(text) > maxNesting {
		s.add(at(1), firstLine(text), Event{Skip: "the script is too long, or nested too deeply"})
		return
	}
	text = quotedKeys(text)
	wasAt, wasSource := s.at, s.source
	s.at, s.source = at, text
	s.calls++
	defer func() { s.at, s.source, s.calls = wasAt, wasSource, s.calls-1 }()
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	var statements []*syntax.Stmt
	err := parse(parser, text, &statements)
	s.stmts(statements, stdio{})
	if err == nil {
		return
	}
	line := 1
	why := err.Error()
	if syntactic, is := err.(syntax.ParseError); is {
		line, why = int(syntactic.Pos.Line()), syntactic.Text
	} else if lang, is := err.(syntax.LangError); is {
		line, why = int(lang.Pos.Line()), lang.Feature+" is not a feature of the shell"
	}
	s.add(at(max(line, 1)), lineOf(text, line), Event{Mistake: true,
		Skip: "syntax error, where a shell ends the script: " + why})
}

// dottedKey matches a key of an associative array that the parser takes for a number with a point.
var dottedKey = pattern.MustCompile(`\[([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+)\](=|\})`)

// quotedKeys quotes such keys, which does not change their meaning.
func quotedKeys(text string) string {
	if !strings.Contains(text, " -A") {
		return text
	}
	return dottedKey.Regexp().ReplaceAllString(text, `["$1"]$2`)
}

// parse appends the statements before the first syntax error, which a shell executes.
func parse(parser *syntax.Parser, text string, to *[]*syntax.Stmt) (err error) {
	defer func() { // a library, and its input is untrusted
		if recover() != nil {
			err = fmt.Errorf("it cannot be parsed")
		}
	}()
	for statement, err := range parser.StmtsSeq(strings.NewReader(text)) {
		if err != nil {
			return err
		}
		*to = append(*to, statement)
	}
	return nil
}

// nesting counts the characters that may begin a nested command. It is an upper bound of the depth.
func nesting(text string) (n int) {
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '|', '&', '`', '!':
			n++
		}
	}
	return n
}

// add appends an event under the conditions that hold now.
func (s *Script) add(at int, source string, e Event) {
	e.At, e.Source = at, source
	s.spend(item * (1 + len(s.when)))
	if len(s.when) > 0 {
		e.When = append([]string(nil), s.when...)
	}
	s.events = append(s.events, e)
}

// event appends an event of a node.
func (s *Script) event(n syntax.Node, e Event) { s.add(s.line(n), cut(s.source, n), e) }

// line returns the line of a node in the file.
func (s *Script) line(n syntax.Node) int { return s.at(max(1, int(n.Pos().Line()))) }

// cut returns the text of a node, on one line.
func cut(source string, n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(source) || from >= to {
		return ""
	}
	return firstLine(source[from:to])
}

func firstLine(text string) string {
	text = strings.TrimSpace(text)
	if line, _, more := strings.Cut(text, "\n"); more {
		text = strings.TrimRight(line, " \t\\") + " …"
	}
	if len(text) > maxSource {
		text = strings.ToValidUTF8(text[:maxSource], "") + "…"
	}
	return text
}

func lineOf(text string, n int) string {
	for line := range strings.Lines(text) {
		if n--; n == 0 {
			return firstLine(line)
		}
	}
	return ""
}
