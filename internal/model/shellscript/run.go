package shellscript

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"linerate/internal/model/lists"
)

// stdio are the standard streams of a command.
type stdio struct {
	in    []Line // what is read
	given bool   // in is known; otherwise it is the terminal, or not known
	out   *capture
	// assumed names the variables that must not be given for in to be what it is.
	assumed []string
}

// emit writes text to the output, if that is not the terminal.
func (io stdio) emit(text string, at func(int) int) {
	if io.out != nil {
		io.out.write(text, at)
	}
}

// stmts follows statements, up to an exit or a return.
func (s *Script) stmts(list []*syntax.Stmt, io stdio) {
	for _, st := range list {
		if at := max(s.ended, s.returned); at > 0 {
			if !s.step(st) {
				return
			}
			s.event(st, Event{Skip: fmt.Sprintf("it is never executed: line %d ends the script or the function", at)})
			continue
		}
		s.stmt(st, io)
	}
}

func (s *Script) stmt(st *syntax.Stmt, io stdio) {
	if !s.step(st) {
		return
	}
	var outs []*syntax.Redirect
	for _, r := range st.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			io.in, io.assumed = s.document(r)
			io.given = true
		case syntax.WordHdoc:
			text, assumed, err := s.literal(r.Word)
			in := &capture{s: s}
			if err != nil {
				in.unknown(s.line(r.Word), err.Error())
			} else {
				in.write(text+"\n", s.rows(r.Word, text))
			}
			io.in, io.given, io.assumed = in.lines, true, assumed
		case syntax.RdrIn:
			name, _, err := s.literal(r.Word)
			io.in, io.given = s.files[name]
			io.given = io.given && err == nil
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			if r.N == nil || r.N.Value == "1" {
				outs = append(outs, r)
			}
		case syntax.DplOut:
			if r.N == nil || r.N.Value == "1" {
				io.out = nil
			}
		}
	}
	if len(outs) > 0 {
		out := &capture{s: s}
		io.out = out
		defer func() { // the last one has the text; the others are emptied, if they are not appended to
			for i, r := range outs {
				text := out
				if i < len(outs)-1 {
					text = &capture{}
				}
				s.redirect(st, r, text)
			}
		}()
	}
	if st.Cmd != nil {
		s.command(st.Cmd, io)
	}
}

// redirect writes what a statement has written to a file.
func (s *Script) redirect(st *syntax.Stmt, r *syntax.Redirect, out *capture) {
	name, assumed, err := s.literal(r.Word)
	w := &Write{File: Word{Text: name}, Append: r.Op == syntax.AppOut || r.Op == syntax.AppAll, Lines: out.lines}
	if err != nil {
		w.File = Word{cut(s.source, r.Word), err.Error()}
	}
	if call, is := st.Cmd.(*syntax.CallExpr); is && !s.root && len(call.Args) > 0 {
		w.Unprivileged = elevates(call.Args[0].Lit())
	}
	defer s.assuming(slices.Concat(assumed, out.assumed))()
	s.written(st, w)
}

// assuming adds that variables are not given to the conditions, until the function that it returns is
// called.
func (s *Script) assuming(names []string) (until func()) {
	n := len(s.when)
	s.when = append(s.when, lists.Map(sorted(names), func(name string) string { return name + " not given" })...)
	return func() { s.when = s.when[:n] }
}

// written notes text that is written to a file.
func (s *Script) written(n syntax.Node, w *Write) {
	if discards(w.File.Text) || !s.spend(readLine*len(w.Lines)) {
		return
	}
	if w.File.Depends == "" {
		if !w.Append {
			s.files[w.File.Text] = nil
		}
		s.files[w.File.Text] = append(s.files[w.File.Text], w.Lines...)
	}
	s.event(n, Event{Write: w})
}

// discards reports whether a file takes text and keeps none.
func discards(file string) bool {
	return slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/console",
		"/dev/kmsg"}, file)
}

// rows maps the lines of an expanded word to lines of the script: a word with as many line breaks as
// it has when written has each at its place.
func (s *Script) rows(w *syntax.Word, text string) func(int) int {
	first, last := int(w.Pos().Line()), int(w.End().Line())
	spans, at := last > first && strings.Count(text, "\n") == last-first, s.at
	return func(n int) int {
		if spans {
			return at(min(first+n, last))
		}
		return at(max(1, first))
	}
}

func (s *Script) command(c syntax.Command, io stdio) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		s.call(c, io)
	case *syntax.BinaryCmd:
		s.binary(c, io)
	case *syntax.IfClause:
		s.condition(c, io)
	case *syntax.CaseClause:
		branches := lists.Map(c.Items, func(item *syntax.CaseItem) []*syntax.Stmt { return item.Stmts })
		s.branches(fmt.Sprintf("case on line %d", s.line(c)), io, branches...)
	case *syntax.ForClause:
		s.loop(c, io)
	case *syntax.WhileClause:
		s.assigned(c, "the loop on line %d")
		s.stmts(c.Cond, io)
		s.branches(fmt.Sprintf("loop on line %d", s.line(c)), io, c.Do)
	case *syntax.Block:
		s.stmts(c.Stmts, io)
	case *syntax.Subshell:
		s.apart(func() { s.stmts(c.Stmts, io) })
	case *syntax.FuncDecl:
		if c.Name != nil {
			s.funcs[c.Name.Value] = &function{decl: c, source: s.source, at: s.at}
		}
	case *syntax.DeclClause:
		s.declare(c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			s.stmt(c.Stmt, io)
		}
	case *syntax.CoprocClause:
		s.stmt(c.Stmt, io)
	case *syntax.ArithmCmd:
		s.arithmetic(c, c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			s.arithmetic(c, x)
		}
	}
}

// arithmetic evaluates an expression that is a command: ((n++)).
func (s *Script) arithmetic(n syntax.Node, x syntax.ArithmExpr) {
	if _, err := s.number(x); err != nil {
		s.assigned(n, "the expression on line %d")
	}
}

// apart follows commands whose changes of variables do not last: those of a subshell or a pipeline.
func (s *Script) apart(f func()) {
	vars, params, ended, returned := s.copied(s.vars), s.params, s.ended, s.returned
	f()
	s.vars, s.params, s.ended, s.returned = vars, params, ended, returned
}

// copied returns a copy of variables.
func (s *Script) copied(vars map[string]value) map[string]value {
	cost := 0
	for _, v := range vars {
		cost += item / 2 * (1 + len(v.List) + len(v.Map)) // it shares the texts
	}
	if !s.spend(cost) {
		return vars // nothing is followed that would see them
	}
	return maps.Clone(vars)
}

// under follows commands that are executed under a condition.
func (s *Script) under(when string, f func()) {
	ended, returned := s.ended, s.returned
	s.when = append(s.when, when)
	f()
	s.when = s.when[:len(s.when)-1]
	s.ended, s.returned = ended, returned
}

// branches follows each of several branches from the same variables. What they leave differently is
// not known afterwards.
func (s *Script) branches(when string, io stdio, branches ...[]*syntax.Stmt) {
	before, after := s.vars, s.copied(s.vars)
	for _, b := range branches {
		if s.spent() {
			break
		}
		s.vars = s.copied(before)
		s.under(when, func() { s.stmts(b, io) })
		for name, v := range s.vars {
			if was, is := after[name]; !is || !equal(was, v) {
				if v.depends == "" {
					v = value{depends: "$" + name + ", which depends on " + when}
				}
				after[name] = v
			}
		}
	}
	s.vars = after
}

func equal(a, b value) bool {
	return a.depends == b.depends && a.Set == b.Set && a.Kind == b.Kind && a.Str == b.Str &&
		slices.Equal(a.List, b.List) && maps.Equal(a.Map, b.Map)
}

func (s *Script) binary(c *syntax.BinaryCmd, io stdio) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		out := &capture{s: s}
		s.apart(func() {
			first := io
			first.out = out
			s.stmt(c.X, first)
			io.in, io.given, io.assumed = out.lines, true, out.assumed
			s.stmt(c.Y, io)
		})
	default:
		s.stmt(c.X, io)
		when := "&&"
		if c.Op == syntax.OrStmt {
			when = "||"
		}
		s.branches(fmt.Sprintf("%s on line %d", when, s.at(max(1, int(c.OpPos.Line())))), io, []*syntax.Stmt{c.Y})
	}
}

func (s *Script) condition(c *syntax.IfClause, io stdio) {
	when := fmt.Sprintf("if on line %d", s.line(c))
	var branches [][]*syntax.Stmt
	for ; c != nil; c = c.Else {
		s.stmts(c.Cond, io)
		branches = append(branches, c.Then)
	}
	s.branches(when, io, branches...)
}

// loop follows the body of a loop for each of its words.
func (s *Script) loop(c *syntax.ForClause, io stdio) {
	switch over := c.Loop.(type) {
	case *syntax.CStyleLoop:
		s.count(c, over, io)
	case *syntax.WordIter:
		name := over.Name.Value
		var words []Word
		var assumed []string
		if over.InPos.IsValid() {
			words, assumed = s.fields(over.Items)
			if s.unordered(over.Items) {
				slices.SortStableFunc(words, func(a, b Word) int { return strings.Compare(a.Text, b.Text) })
			}
		} else if s.params != nil {
			words = s.params
		} else {
			words = []Word{{"$@", "$@"}}
		}
		if c.Select {
			s.vars[name] = value{depends: "$" + name + ", which is chosen"}
			s.branches(fmt.Sprintf("select on line %d", s.line(c)), io, c.Do)
			return
		}
		for _, w := range words {
			if s.full || s.ended > 0 || s.returned > 0 {
				return
			}
			v := known(w.Text)
			v.assumes = assumed
			s.vars[name] = v
			if w.Depends != "" {
				s.assigned(c, "the loop on line %d")
				s.vars[name] = value{depends: via(name, w.Depends)}
			}
			s.stmts(c.Do, io)
		}
	}
}

// unordered reports whether words have the elements or keys of an associative array, whose order bash
// does not define.
func (s *Script) unordered(words []*syntax.Word) (is bool) {
	for _, w := range words {
		syntax.Walk(w, func(n syntax.Node) bool {
			if p, param := n.(*syntax.ParamExp); param && p.Param != nil && p.Index != nil {
				is = is || s.vars[p.Param.Value].Kind == expand.Associative
			}
			return true
		})
	}
	return is
}

// via names a variable and on what its value depends.
func via(name, on string) string { return "$" + name + ", which is from " + on }

// count follows a loop as in C, if its condition is known.
func (s *Script) count(c *syntax.ForClause, over *syntax.CStyleLoop, io stdio) {
	_, err := s.number(over.Init)
	for err == nil && !s.full && s.ended == 0 && s.returned == 0 {
		holds := 1
		if over.Cond != nil {
			holds, err = s.number(over.Cond)
		}
		if err != nil || holds == 0 {
			break
		}
		s.stmts(c.Do, io)
		if s.steps++; s.steps > maxSteps { // a body may be empty
			s.full = true
		}
		_, err = s.number(over.Post)
	}
	if err != nil {
		s.assigned(c, "the loop on line %d")
		s.branches(fmt.Sprintf("loop on line %d", s.line(c)), io, c.Do)
	}
}
