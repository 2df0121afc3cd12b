package source

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"linerate/internal/model/pattern"
)

// A template is a scalar's text with its braces understood:
//
//	{0..3}     a range: the item is repeated for 0, 1, 2 and 3
//	{p=0..3}   the same, and p stands for the copy's number
//	{15+p}     an expression of whole numbers and names: + - * / % ( ), as in Go
//	{{  }}     a brace itself
type template []part

// part is literal text, an expression, or a range. In a range, first and last are its ends; in an
// expression only first is set.
type part struct {
	text        string
	name        string // of a range, when it binds one
	first, last ast.Expr
}

func (p *part) isRange() bool { return p.last != nil }

// lookup returns the number that a name stands for.
type lookup func(name string) (int, bool)

// maxNumber limits numbers so that no product of two overflows. Routing tables and the numbers of
// an IPv4 address are below it.
const maxNumber = 1 << 31

var errSyntax = errors.New(
	"expected a range such as {0..3} or {p=0..3}, or an expression such as {p} or {100+p}; write {{ for a brace itself")

// parseTemplate parses the braces of a text. Most texts have none.
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

// parsePart parses the text between two braces.
func parsePart(inside string) (p part, err error) {
	first, last, isRange := strings.Cut(inside, "..")
	if isRange {
		if name, value, binds := strings.Cut(first, "="); binds {
			p.name, first = strings.TrimSpace(name), value
			if !bindable.MatchString(p.name) || token.IsKeyword(p.name) {
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

var (
	bindable    = pattern.MustCompile(`^[A-Za-z_]\w*$`)
	leadingZero = pattern.MustCompile(`\b0[0-9]+`)
	// written matches the characters of expressions. Go's syntax has more, such as comments.
	written = pattern.MustCompile(`^[\w +*/%()-]+$`)
)

func parseExpression(text string) (ast.Expr, error) {
	switch zero := leadingZero.Regexp().FindString(text); {
	case len(text) > 200:
		return nil, errors.New("the expression is too long")
	case zero != "":
		return nil, fmt.Errorf("%s has a leading zero, which a number does not keep", zero)
	case !written.MatchString(text) || strings.Contains(text, "//") || strings.Contains(text, "/*"):
		return nil, errSyntax
	}
	e, err := parser.ParseExpr(text)
	if err != nil {
		return nil, errSyntax
	}
	return e, nil
}

// evaluate computes an expression. Names looks up the names in it.
func evaluate(e ast.Expr, names lookup) (int, error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return evaluate(e.X, names)
	case *ast.Ident:
		if value, bound := names(e.Name); bound {
			return value, nil
		}
		return 0,
			fmt.Errorf(
				"%q is not bound here: bind it by a range such as {%s=0..3} in the same item or in a key around it",
				e.Name, e.Name)
	case *ast.BasicLit:
		value, err := strconv.Atoi(e.Value)
		if errors.Is(err, strconv.ErrRange) || value > maxNumber {
			return 0, fmt.Errorf("%s is too large: numbers go up to %d", e.Value, maxNumber)
		}
		if err == nil {
			return value, nil
		}
	case *ast.UnaryExpr:
		if e.Op == token.SUB {
			value, err := evaluate(e.X, names)
			return -value, err
		}
	case *ast.BinaryExpr:
		a, err := evaluate(e.X, names)
		if err != nil {
			return 0, err
		}
		b, err := evaluate(e.Y, names)
		if err != nil {
			return 0, err
		}
		return operate(a, e.Op, b)
	}
	return 0, errSyntax
}

func operate(a int, op token.Token, b int) (value int, err error) {
	switch {
	case op == token.ADD:
		value = a + b
	case op == token.SUB:
		value = a - b
	case op == token.MUL:
		value = a * b
	case b == 0:
		return 0, errors.New("division by zero")
	case op == token.QUO:
		value = a / b
	default:
		value = a % b
	}
	if value > maxNumber || value < -maxNumber {
		return 0, fmt.Errorf("the result %d is too large: numbers go up to %d", value, maxNumber)
	}
	return value, nil
}
