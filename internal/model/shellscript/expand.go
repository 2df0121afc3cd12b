package shellscript

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"linerate/internal/model/lists"
)

// value is a variable. Depends says on what its value depends; empty: the value is known. Assumes
// names the variables that must not be given for it to have that value: 5 of ${1:-5}.
type value struct {
	expand.Variable
	depends string
	assumes []string
}

// known returns a variable with a text.
func known(text string) value {
	return value{Variable: expand.Variable{Set: true, Kind: expand.String, Str: text}}
}

// dependsError is returned by expansions of what the script does not determine.
type dependsError struct{ on string }

func (e dependsError) Error() string { return e.on }

// errFull is of what is not made because the script has cost as much as it may.
var errFull = dependsError{"more words and text than are followed here"}

// environment looks up variables for expansions, and notes the first one that is not known.
type environment struct {
	s *Script
	// defaulted are variables whose default is used, as in ${1:-eth0}: they count as unset.
	defaulted map[string]bool
	missing   string
	assumed   []string
	// weight is the cost of a byte of a variable: that of patterns is higher.
	weight int
}

// Get returns a variable. It never returns an unset home directory: the library would look for it
// on this machine.
func (e *environment) Get(name string) expand.Variable {
	if user, is := strings.CutPrefix(name, "HOME "); is {
		e.miss("~" + user)
		return known("~" + user).Variable
	}
	if v, is := e.s.vars[name]; is {
		bytes := len(v.Str) + item*(1+len(v.List)+len(v.Map)+len(v.assumes))
		bytes += lists.Sum(v.List, func(element string) int { return len(element) })
		if !e.s.spend(e.weight * bytes) {
			e.miss(errFull.on)
			return expand.Variable{}
		}
		if v.depends != "" {
			e.miss(v.depends)
		}
		e.assumed = append(e.assumed, v.assumes...)
		return v.Variable
	}
	if v, on, is := e.s.param(name); is {
		if on != "" {
			e.miss(on)
		}
		return v
	}
	if !e.defaulted[name] && name != "IFS" && name != "PWD" { // which the library asks for itself
		e.miss("$" + name)
	}
	return expand.Variable{}
}

func (e *environment) miss(what string) {
	e.missing = cmp.Or(e.missing, what)
}

// Each has every variable, for ${!prefix*}.
func (e *environment) Each(f func(string, expand.Variable) bool) {
	for name, v := range e.s.vars {
		if !e.s.spend(item) {
			e.miss(errFull.on)
			return
		}
		if !f(name, v.Variable) {
			return
		}
	}
}

// Set assigns a variable within an expansion: ${x:=1}, $((x++)).
func (e *environment) Set(name string, v expand.Variable) error {
	set := value{Variable: v}
	if e.defaulted[name] {
		set.assumes = []string{"$" + name}
	}
	e.s.vars[name] = set
	return nil
}

// param returns a positional parameter, and on what it depends. It returns false if nothing is known of
// the parameters.
func (s *Script) param(name string) (v expand.Variable, on string, ok bool) {
	if s.params == nil {
		return v, "", false
	}
	switch n, err := strconv.Atoi(name); {
	case name == "@" || name == "*":
		if !s.spend(item * len(s.params)) {
			return v, errFull.on, true
		}
		v = expand.Variable{Set: true, Kind: expand.Indexed}
		for _, p := range s.params {
			v.List = append(v.List, p.Text)
			on = cmp.Or(on, p.Depends)
		}
		return v, on, true
	case name == "#":
		return known(strconv.Itoa(len(s.params))).Variable, "", true
	case err != nil || n < 1:
		return v, "", false
	case n > len(s.params):
		return v, "", true
	default:
		return known(s.params[n-1].Text).Variable, s.params[n-1].Depends, true
	}
}

// defaults lists the variables of words that the script does not set and that have a default there.
// Own are variables that the library asks for itself and that a word refers to. Weight is the cost of a byte of a
// variable in them.
func (s *Script) defaults(words []*syntax.Word) (names map[string]bool, own string, weight int) {
	weight = 1
	for _, w := range words {
		syntax.Walk(w, func(n syntax.Node) bool {
			s.spend(item)
			p, is := n.(*syntax.ParamExp)
			if !is || p.Param == nil {
				return true
			}
			if p.Exp != nil || p.Repl != nil {
				weight = parsing
			}
			name := p.Param.Value
			_, set := s.vars[name]
			if _, _, param := s.param(name); set || param {
				return true
			}
			if name == "PWD" || name == "IFS" {
				own = "$" + name
			}
			if p.Exp != nil {
				switch p.Exp.Op {
				case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
					lists.Put(&names, name, true)
				}
			}
			return true
		})
	}
	return names, own, weight
}

// expanding calls f with the configuration of expansions for words, and returns on what the result
// depends. Assumed names the variables whose defaults were used.
func (s *Script) expanding(words []*syntax.Word, f func(*expand.Config) error) (assumed []string, err error) {
	if !s.spend(item) {
		return nil, errFull
	}
	defaulted, own, weight := s.defaults(words)
	env := &environment{s: s, defaulted: defaulted, missing: own, weight: weight}
	defer func() {
		if recover() != nil { // a library, and its input is untrusted
			err = dependsError{"an expansion that is not known here"}
		}
	}()
	err = f(&expand.Config{Env: env, CmdSubst: s.substitute, ProcSubst: s.process})
	if env.missing != "" {
		return nil, dependsError{env.missing}
	}
	if err != nil {
		if own, is := errors.AsType[dependsError](err); is {
			return nil, own
		}
		return nil, dependsError{"an expansion that fails: " + err.Error()}
	}
	for name := range defaulted {
		env.assumed = append(env.assumed, "$"+name)
	}
	assumed = sorted(env.assumed)
	s.spend(item * len(assumed))
	return assumed, nil
}

// sorted returns the names in lists, each once.
func sorted(lists ...[]string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
}

// fields expands words to those of a command. A word that depends on something stays as it is
// written.
func (s *Script) fields(words []*syntax.Word) (list []Word, assumed []string) {
	for _, w := range words {
		var texts []string
		assumes, err := s.expanding([]*syntax.Word{w}, func(c *expand.Config) error {
			for text, err := range expand.FieldsSeq(c, w) {
				if err != nil {
					return err
				}
				if !s.spend(item+len(text)) || len(list)+len(texts) > maxFields {
					return errFull
				}
				texts = append(texts, text)
			}
			return nil
		})
		if err != nil {
			list = append(list, Word{cut(s.source, w), err.Error()})
			if len(list) > maxFields || s.spent() {
				return list, assumed
			}
			continue
		}
		assumed = append(assumed, assumes...)
		list = append(list, lists.Map(texts, func(text string) Word { return Word{Text: text} })...)
	}
	return list, assumed
}

// literal expands a word as the value of a variable, or as the name of a file.
func (s *Script) literal(w *syntax.Word) (text string, assumed []string, err error) {
	if w == nil {
		return "", nil, nil
	}
	assumed, err = s.expanding([]*syntax.Word{w}, func(c *expand.Config) (err error) {
		text, err = expand.Literal(c, w)
		return err
	})
	s.spend(len(text))
	return text, assumed, err
}

// number evaluates an arithmetic expression.
func (s *Script) number(x syntax.ArithmExpr) (n int, err error) {
	if x == nil {
		return 0, nil
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		s.spend(item)
		if a, is := n.(*syntax.BinaryArithm); is && a.Op == syntax.Assgn {
			if w, is := a.X.(*syntax.Word); is && syntax.ValidName(w.Lit()) {
				s.vars[w.Lit()] = known("0") // the library looks at it before it is assigned
			}
		}
		return true
	})
	_, err = s.expanding(nil, func(c *expand.Config) (err error) {
		n, err = expand.Arithm(c, x)
		return err
	})
	return n, err
}

// document expands the body of a here-document, line by line, so that a line that depends on
// something leaves the others known.
func (s *Script) document(r *syntax.Redirect) (lines []Line, assumed []string) {
	if r.Hdoc == nil {
		return nil, nil
	}
	quoted := quotes(r.Word)
	var parts []syntax.WordPart
	row := int(r.Hdoc.Pos().Line())
	flush := func() {
		line := Line{At: s.at(row)}
		word := &syntax.Word{Parts: parts}
		if literal := word.Lit(); quoted || len(parts) == 0 {
			line.Text = literal
		} else {
			assumes, err := s.expanding([]*syntax.Word{word}, func(c *expand.Config) (err error) {
				line.Text, err = expand.Document(c, word)
				return err
			})
			if assumed = sorted(assumed, assumes); err != nil {
				line.Text, line.Depends = s.asWritten(parts), err.Error()
			}
		}
		s.spend(item*(1+len(assumed)) + len(line.Text))
		for i, text := range strings.Split(line.Text, "\n") { // of a variable with several lines
			if i == 0 {
				line.Text = text
				lines = append(lines, line)
				continue
			}
			s.spend(item)
			lines = append(lines, Line{Text: text, At: line.At})
		}
		parts = nil
	}
	for _, p := range r.Hdoc.Parts {
		literal, is := p.(*syntax.Lit)
		if !is {
			parts = append(parts, p)
			continue
		}
		continued := false
		for i, text := range strings.Split(literal.Value, "\n") {
			if i > 0 && !continued {
				flush()
			}
			if i > 0 {
				row++
			}
			if r.Op == syntax.DashHdoc && len(parts) == 0 {
				text = strings.TrimLeft(text, "\t")
			}
			if continued = !quoted && oddBackslashes(text); continued {
				text = text[:len(text)-1]
			}
			if text != "" {
				parts = append(parts, &syntax.Lit{ValuePos: literal.ValuePos, ValueEnd: literal.ValueEnd, Value: text})
			}
		}
	}
	if len(parts) > 0 {
		flush()
	}
	return lines, assumed
}

// asWritten returns parts of a word as they are written.
func (s *Script) asWritten(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, p := range parts {
		if literal, is := p.(*syntax.Lit); is {
			b.WriteString(literal.Value)
		} else {
			b.WriteString(cut(s.source, p))
		}
	}
	return firstLine(b.String())
}

func oddBackslashes(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// quotes reports whether a part of the delimiter of a here-document is quoted: its body is literal.
func quotes(delimiter *syntax.Word) bool {
	for _, p := range delimiter.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return true
			}
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		}
	}
	return false
}

// substitute writes the output of a command substitution, if it is known.
func (s *Script) substitute(w io.Writer, c *syntax.CmdSubst) error {
	out := &capture{s: s}
	s.apart(func() { s.stmts(c.Stmts, stdio{out: out}) })
	for _, line := range out.lines {
		if line.Depends != "" {
			return dependsError{cut(s.source, c)}
		}
	}
	text := out.text()
	if !s.spend(len(text)) {
		return errFull
	}
	_, err := io.WriteString(w, text)
	return err
}

// process returns the name of a file that has the output of a process substitution: <(command).
func (s *Script) process(p *syntax.ProcSubst) (string, error) {
	if p.Op != syntax.CmdIn {
		return "", dependsError{cut(s.source, p)}
	}
	out := &capture{s: s}
	s.apart(func() { s.stmts(p.Stmts, stdio{out: out}) })
	name := fmt.Sprintf("/dev/fd/%d", 63+len(s.events))
	s.files[name] = out.lines
	s.event(p, Event{Write: &Write{File: Word{Text: name}, Lines: out.lines}})
	return name, nil
}

// capture collects the output of commands.
type capture struct {
	s     *Script
	lines []Line
	open  bool // the last line has no end yet
	// assumed names the variables that must not be given for lines to be what they are.
	assumed []string
}

// add appends lines.
func (c *capture) add(lines []Line) {
	if c.s.spend(item * len(lines)) {
		c.lines = append(c.lines, lines...)
	}
}

// write appends text. At returns the line of the script of the n-th line of the text.
func (c *capture) write(text string, at func(n int) int) {
	if text == "" {
		return
	}
	if !c.s.spend(len(text) + item*strings.Count(text, "\n")) {
		return
	}
	parts := strings.Split(text, "\n")
	for i, part := range parts {
		if i == len(parts)-1 && part == "" {
			c.open = false
			return
		}
		if c.open && i == 0 {
			c.lines[len(c.lines)-1].Text += part
			continue
		}
		c.lines = append(c.lines, Line{Text: part, At: at(i)})
	}
	c.open = true
}

// unknown appends output that depends on something.
func (c *capture) unknown(at int, on string) {
	c.lines = append(c.lines, Line{At: at, Depends: on})
	c.open = false
}

// text returns the output with the end of each line.
func (c *capture) text() string {
	var b strings.Builder
	for i, line := range c.lines {
		b.WriteString(line.Text)
		if i < len(c.lines)-1 || !c.open {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
