package source

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/token"

	"linerate/internal/model/pattern"
)

// indented is a line of a block with its indentation in characters.
type indented struct{ line, indent int }

func (i indented) at() Position { return Position{Line: i.line, Column: i.indent + 1} }

// String returns the indentation and the line for a message.
func (i indented) String() string { return fmt.Sprintf("%d (line %d)", i.indent, i.line) }

// keyLine matches a line with a key. valueLine matches one whose value is complete, so that no line
// with a larger indentation can follow it.
var (
	keyLine   = pattern.MustCompile(`^(- +)*[^\s#"'{}\[\],&*!|>%@-][^#"'\[\]]*:(\s|$)`)
	valueLine = pattern.MustCompile(`^(- +)*[^\s#"'{}\[\]][^#"'\[\]]*:\s+([^\s#|>"'{\[]|["'{\[].*["'}\]]\s*(#.*)?$)`)
)

// misindented finds the line near the parser's failure whose indentation matches no line around it:
// it ends blocks above without continuing any, or is a key below a complete value. It returns the
// one or two lines that it could have been aligned with.
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

// keyAlone finds a line without the colon of a key before a block with a larger indentation: the
// line at which the parser failed, or the one before.
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

// unclosed finds a bracket or brace that is not closed, or is closed by another kind.
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
