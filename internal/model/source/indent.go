package source

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// indented is a line of a block and its indentation, in characters.
type indented struct{ line, indent int }

func (i indented) at() Position { return Position{Line: i.line, Column: i.indent + 1} }

// String names a line that others are compared with.
func (i indented) String() string { return fmt.Sprintf("%d (line %d)", i.indent, i.line) }

// keyLine is a line that has a key; valueLine is one whose value is complete: no line of a
// block can follow it that is indented by more.
var (
	keyLine   = regexp.MustCompile(`^(- +)*[^\s#"'{}\[\],&*!|>%@-][^#"'\[\]]*:(\s|$)`)
	valueLine = regexp.MustCompile(`^(- +)*[^\s#"'{}\[\]][^#"'\[\]]*:\s+([^\s#|>"'{\[]|["'{\[].*["'}\]]\s*(#.*)?$)`)
)

// misindented finds the line that is indented as none around it, where the parser gave up or
// just behind: one that ends blocks above it without continuing any, or a key below a value.
// It returns the lines, one or two, with which it could have been aligned.
func misindented(text string, stopped int) (line indented, others string, is bool) {
	var open []indented // the last line of each block that a line is in
	value := false      // the line before has a value
	for i, one := range strings.Split(text, "\n") {
		rest := strings.TrimLeft(one, " ")
		if rest == "" || rest[0] == '#' {
			continue
		}
		line := indented{i + 1, len(one) - len(rest)}
		var ended *indented
		for len(open) > 0 && open[len(open)-1].indent > line.indent {
			ended = &open[len(open)-1]
			open = open[:len(open)-1]
		}
		var within *indented // the block that it continues, or would be nested in
		if len(open) > 0 {
			within = &open[len(open)-1]
		}
		known := within != nil && within.indent == line.indent
		if line.line >= stopped && !known {
			switch {
			case ended != nil && within != nil:
				return line, ended.String() + " or " + within.String(), true
			case ended != nil:
				return line, ended.String(), true
			case value && keyLine.MatchString(rest):
				return line, within.String(), true
			}
		}
		if line.line > stopped {
			return indented{}, "", false
		}
		if known {
			*within = line
		} else {
			open = append(open, line)
		}
		if item := strings.TrimLeft(strings.TrimPrefix(rest, "-"), " "); rest[0] == '-' && item != "" {
			open = append(open, indented{line.line, line.indent + len(rest) - len(item)})
		}
		value = valueLine.MatchString(rest)
	}
	return indented{}, "", false
}

// keyAlone finds a line that lacks the colon of a key, in front of a block that is indented
// further: the one where the parser gave up, or the one before.
func keyAlone(text string, stopped int) (key string, at Position, is bool) {
	var before indented
	for i, one := range strings.Split(text, "\n") {
		rest := strings.TrimLeft(one, " ")
		if rest == "" || rest[0] == '#' {
			continue
		}
		line := indented{i + 1, len(one) - len(rest)}
		if line.line >= stopped && key != "" && line.indent > before.indent {
			return strings.Trim(key, `"'`), before.at(), true
		}
		if line.line > stopped {
			break
		}
		key, _, _ = strings.Cut(rest, " #")
		if key = strings.TrimSpace(key); strings.ContainsAny(key[:1], "-[{|>") || strings.HasSuffix(key, ":") ||
			strings.Contains(key, ": ") {
			key = ""
		}
		before = line
	}
	return "", Position{}, false
}

// unclosed finds a bracket or brace that nothing closes, or another kind does.
func unclosed(tokens token.Tokens) (*token.Token, bool) {
	var open []*token.Token
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open = append(open, t)
		case token.SequenceEndType, token.MappingEndType:
			if len(open) == 0 {
				return nil, false
			}
			last := open[len(open)-1]
			if (last.Type == token.SequenceStartType) != (t.Type == token.SequenceEndType) {
				return last, true
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return nil, false
	}
	return open[0], true
}
