package source

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A template is a scalar's text with its braces understood:
//
//	{0..3}     a range: the item is repeated for 0, 1, 2 and 3
//	{p=0..3}   the same, and p stands for the copy's number
//	{15+p}     an expression of whole numbers and names: + - * / % ( )
//	{{  }}     a brace itself
type template []part

// part is literal text, an expression, or a range (first is the expression's
// place then, and last is set).
type part struct {
	text        string
	name        string // of a range, when it binds one
	first, last expression
}

func (p *part) isRange() bool { return p.last != nil }

// expression computes a number from the names that are bound.
type expression func(names lookup) (int, error)

// lookup finds the number that a name stands for.
type lookup func(name string) (int, bool)

// Numbers stay below this, so that no product of two overflows. Routing tables
// and the numbers of an IPv4 address fit.
const maxNumber = 1 << 31

var errSyntax = errors.New("expected a range such as {0..3} or {p=0..3}, or an expression such as {p} or {100+p}; write {{ for a brace itself")

// parseTemplate understands a text's braces. Most texts have none.
func parseTemplate(text string) (template, error) {
	if !strings.ContainsAny(text, "{}") {
		return template{{text: text}}, nil
	}
	var list template
	var literal strings.Builder
	for len(text) > 0 {
		switch {
		case strings.HasPrefix(text, "{{"), strings.HasPrefix(text, "}}"):
			literal.WriteByte(text[0])
			text = text[2:]
			continue
		case text[0] != '{':
			literal.WriteByte(text[0])
			text = text[1:]
			continue
		}
		inside, rest, closed := strings.Cut(text[1:], "}")
		if !closed {
			return nil, fmt.Errorf("a brace is not closed: %w", errSyntax)
		}
		p, err := parsePart(inside)
		if err != nil {
			return nil, fmt.Errorf("{%s}: %w", inside, err)
		}
		list = append(list, part{text: literal.String()}, p)
		literal.Reset()
		text = rest
	}
	return append(list, part{text: literal.String()}), nil
}

// parsePart understands what stands between braces.
func parsePart(inside string) (p part, err error) {
	first, last, isRange := strings.Cut(inside, "..")
	if isRange {
		if name, value, binds := strings.Cut(first, "="); binds {
			p.name, first = strings.TrimSpace(name), value
			if !isName(p.name) {
				return p, fmt.Errorf("%q is not a name: expected small letters, such as p", p.name)
			}
		}
		if p.last, err = parseExpression(last); err != nil {
			return p, err
		}
	}
	p.first, err = parseExpression(first)
	return p, err
}

// isName accepts what can be bound: letters, digits and _, a letter first.
func isName(s string) bool {
	for i, r := range s {
		if letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'; !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// reader is a recursive-descent parser of expressions.
type reader struct {
	text  string
	depth int
}

func parseExpression(text string) (expression, error) {
	if len(text) > 200 {
		return nil, errors.New("the expression is too long")
	}
	r := &reader{text: text}
	e, err := r.sum()
	if err == nil && r.peek() != 0 {
		err = errSyntax
	}
	return e, err
}

// peek skips spaces and returns the next character, 0 at the end.
func (r *reader) peek() byte {
	r.text = strings.TrimLeft(r.text, " ")
	if r.text == "" {
		return 0
	}
	return r.text[0]
}

func (r *reader) sum() (expression, error)     { return r.chain("+-", r.product) }
func (r *reader) product() (expression, error) { return r.chain("*/%", r.operand) }

// chain reads operands joined by operators of the same rank, left to right.
func (r *reader) chain(operators string, operand func() (expression, error)) (expression, error) {
	left, err := operand()
	for err == nil && r.peek() != 0 && strings.IndexByte(operators, r.peek()) >= 0 {
		op := r.text[0]
		r.text = r.text[1:]
		var right expression
		if right, err = operand(); err == nil {
			left = combine(op, left, right)
		}
	}
	return left, err
}

func (r *reader) operand() (expression, error) {
	switch c := r.peek(); {
	case c == '(':
		if r.depth++; r.depth > 20 {
			return nil, errors.New("too many parentheses")
		}
		r.text = r.text[1:]
		inner, err := r.sum()
		if err != nil {
			return nil, err
		}
		if r.peek() != ')' {
			return nil, errSyntax
		}
		r.text = r.text[1:]
		r.depth--
		return inner, nil
	case c == '-':
		r.text = r.text[1:]
		inner, err := r.operand()
		if err != nil {
			return nil, err
		}
		return combine('-', constant(0), inner), nil
	}
	word := r.text
	if end := strings.IndexFunc(word, func(c rune) bool { return !isName("x" + string(c)) }); end >= 0 {
		word = word[:end]
	}
	r.text = r.text[len(word):]
	if isName(word) {
		return func(names lookup) (int, error) {
			if value, bound := names(word); bound {
				return value, nil
			}
			return 0, fmt.Errorf("%q is not bound here: bind it by a range such as {%s=0..3} in the same item or in a key around it", word, word)
		}, nil
	}
	value, err := strconv.Atoi(word)
	switch {
	case err != nil && word != "" && word[0] >= '0' && word[0] <= '9' && !errors.Is(err, strconv.ErrRange), word == "":
		return nil, errSyntax
	case err != nil || value > maxNumber:
		return nil, fmt.Errorf("%s is too large: numbers go up to %d", word, maxNumber)
	case len(word) > 1 && word[0] == '0':
		return nil, fmt.Errorf("%s has a leading zero, which a number does not keep", word)
	}
	return constant(value), nil
}

func constant(value int) expression {
	return func(lookup) (int, error) { return value, nil }
}

func combine(op byte, left, right expression) expression {
	return func(names lookup) (int, error) {
		a, err := left(names)
		if err != nil {
			return 0, err
		}
		b, err := right(names)
		if err != nil {
			return 0, err
		}
		var value int
		switch {
		case op == '+':
			value = a + b
		case op == '-':
			value = a - b
		case op == '*':
			value = a * b
		case b == 0:
			return 0, errors.New("division by zero")
		case op == '/':
			value = a / b
		case op == '%':
			value = a % b
		}
		if value > maxNumber || value < -maxNumber {
			return 0, fmt.Errorf("the result %d is too large: numbers go up to %d", value, maxNumber)
		}
		return value, nil
	}
}
