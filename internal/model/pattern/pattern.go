// Package pattern has regular expressions that are compiled when they are first used, and that refuse most
// texts without being executed.
//
// A program that starts, such as the agent of a host, uses few of the expressions that its packages have: compiling
// all of them took most of the time until it did something. A reader of unknown text tries hundreds of expressions
// on each line, of which nearly all do not match. The standard library executes each of them. A Pattern first
// compares what its expression requires of every match: the first and the last byte, if the expression is anchored
// there, and a literal. The result of every method is that of regexp.Regexp.
package pattern

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Pattern is a regular expression. MatchString and FindStringSubmatch are faster than those of regexp.Regexp for
// texts that do not match.
type Pattern struct {
	text  string
	once  sync.Once
	ready compiled
}

type compiled struct {
	*regexp.Regexp
	// first has the bytes with which a match begins that is anchored at the beginning of the text, and
	// last those with which it ends at the end. Nil: any, or none.
	first, last *[256]bool
	// literals are texts one of which is in every match. Empty: none is known.
	literals []string
}

// MustCompile returns the pattern of a regular expression (regexp/syntax). If the syntax is wrong, the first
// use of the pattern panics; TestPatterns of internal/arch compiles the constant ones. The compiler inlines it,
// so that a variable of a package costs nothing when the program starts.
func MustCompile(text string) *Pattern { return &Pattern{text: text} }

func (p *Pattern) compiled() *compiled {
	p.once.Do(func() { p.ready = compile(p.text) })
	return &p.ready
}

func compile(text string) compiled {
	c := compiled{Regexp: regexp.MustCompile(text)}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		panic("pattern: " + err.Error())
	}
	tree = tree.Simplify()
	c.literals, c.first, c.last = literalsOf(tree), bytesAt(tree, start), bytesAt(tree, end)
	return c
}

// Regexp returns the compiled expression, for its other methods.
func (p *Pattern) Regexp() *regexp.Regexp { return p.compiled().Regexp }

// String returns the text of the expression.
func (p *Pattern) String() string { return p.text }

// MatchString reports whether the text has a match.
func (p *Pattern) MatchString(text string) bool {
	c := p.compiled()
	return c.may(text) && c.Regexp.MatchString(text)
}

// FindStringSubmatch returns the leftmost match and those of its groups. Nil: there is none.
func (p *Pattern) FindStringSubmatch(text string) []string {
	c := p.compiled()
	if !c.may(text) {
		return nil
	}
	return c.Regexp.FindStringSubmatch(text)
}

// may reports whether a text can have a match.
func (c *compiled) may(text string) bool {
	if c.first != nil && (text == "" || !c.first[text[0]]) ||
		c.last != nil && (text == "" || !c.last[text[len(text)-1]]) {
		return false
	}
	for _, l := range c.literals {
		if strings.Contains(text, l) {
			return true
		}
	}
	return len(c.literals) == 0
}

// anchored reports whether every match begins where the text does, or ends where it does.
func anchored(e *syntax.Regexp, at edge) bool {
	switch e.Op {
	case at.op:
		return true
	case syntax.OpConcat, syntax.OpCapture:
		return len(e.Sub) > 0 && anchored(at.of(e.Sub)[0], at)
	case syntax.OpAlternate:
		for _, s := range e.Sub {
			if !anchored(s, at) {
				return false
			}
		}
		return len(e.Sub) > 0
	}
	return false
}

// edge is the beginning or the end of a text.
type edge struct {
	op syntax.Op
	// of returns the parts of an expression, beginning with that at the edge.
	of func([]*syntax.Regexp) []*syntax.Regexp
}

var (
	start = edge{syntax.OpBeginText, func(list []*syntax.Regexp) []*syntax.Regexp { return list }}
	end   = edge{syntax.OpEndText, func(list []*syntax.Regexp) []*syntax.Regexp {
		list = slices.Clone(list)
		slices.Reverse(list)
		return list
	}}
)

// bytesAt returns the bytes that a match of an anchored expression has at its edge. Nil: any, or none.
func bytesAt(e *syntax.Regexp, at edge) *[256]bool {
	bytes := new([256]bool)
	if !anchored(e, at) || addBytes(e, at, bytes) {
		return nil
	}
	return bytes
}

// addBytes adds the bytes that matches of an expression have at their edge. Empty reports whether it
// matches an empty text, so that what is beside it may be at the edge.
func addBytes(e *syntax.Regexp, at edge, bytes *[256]bool) (empty bool) {
	switch e.Op {
	case syntax.OpLiteral:
		r := e.Rune[0]
		if at.op == syntax.OpEndText {
			r = e.Rune[len(e.Rune)-1]
		}
		addRunes(bytes, r, r)
		if e.Flags&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				addRunes(bytes, f, f)
			}
		}
		return false
	case syntax.OpCharClass:
		for i := 0; i+1 < len(e.Rune); i += 2 {
			addRunes(bytes, e.Rune[i], e.Rune[i+1])
		}
		return false
	case syntax.OpStar, syntax.OpQuest:
		addBytes(e.Sub[0], at, bytes)
		return true
	case syntax.OpRepeat:
		return addBytes(e.Sub[0], at, bytes) || e.Min == 0
	case syntax.OpPlus, syntax.OpCapture:
		return addBytes(e.Sub[0], at, bytes)
	case syntax.OpConcat:
		return !slices.ContainsFunc(at.of(e.Sub), func(s *syntax.Regexp) bool { return !addBytes(s, at, bytes) })
	case syntax.OpAlternate:
		for _, s := range e.Sub {
			empty = addBytes(s, at, bytes) || empty
		}
		return empty
	case syntax.OpNoMatch:
		return false
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	addRunes(bytes, 0, unicode.MaxRune) // any character
	return false
}

// addRunes adds the first and last bytes of the encodings of a range of characters.
func addRunes(bytes *[256]bool, from, to rune) {
	for r := from; r <= min(to, utf8.RuneSelf-1); r++ {
		bytes[r] = true
	}
	if to >= utf8.RuneSelf { // also the bytes that are no UTF-8, which match as U+FFFD
		for b := utf8.RuneSelf; b < len(bytes); b++ {
			bytes[b] = true
		}
	}
}

// mostLiterals limits the literals of a pattern: each is looked for.
const mostLiterals = 8

// literalsOf returns texts one of which is in every match. Nil: none is known.
func literalsOf(e *syntax.Regexp) (list []string) {
	switch e.Op {
	case syntax.OpLiteral:
		if e.Flags&syntax.FoldCase != 0 || slices.Contains(e.Rune, utf8.RuneError) { // which bytes match too
			return nil
		}
		return []string{string(e.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return literalsOf(e.Sub[0])
		}
	case syntax.OpConcat:
		for _, s := range e.Sub {
			if l := literalsOf(s); rarer(l, list) {
				list = l
			}
		}
	case syntax.OpAlternate:
		for _, s := range e.Sub {
			l := literalsOf(s)
			if list = append(list, l...); l == nil || len(list) > mostLiterals {
				return nil
			}
		}
	}
	return list
}

// rarer reports whether the literals a refuse more texts than b: the shortest of them is longer.
func rarer(a, b []string) bool {
	shortest := func(list []string) int {
		n := 1 << 20
		for _, s := range list {
			n = min(n, len(s))
		}
		return n
	}
	return len(a) > 0 && (len(b) == 0 || shortest(a) > shortest(b) || shortest(a) == shortest(b) && len(a) < len(b))
}
