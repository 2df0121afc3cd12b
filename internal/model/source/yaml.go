package source

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"linerate/internal/model/pattern"
)

// Limits of a file. They are far above what a study needs, and prevent a malformed or hostile file
// from exhausting memory: the YAML parser is recursive and stores a path string for every node.
const (
	maxBytes  = 1 << 20
	maxDepth  = 50  // nested brackets
	maxIndent = 200 // characters before a block
	// maxKeys is the maximum number of keys of one mapping: the time of the parser grows with its square.
	maxKeys = 20_000
)

// Parse reads a file, expands its brace ranges, and returns the tree. The document is nil if the
// file is not YAML. After mistakes in braces it has Bad nodes in their place, so that the rest of
// the file can be decoded and all mistakes are reported at once.
//
// Each element of set replaces a value of the file, or adds one: workload.duration=5s. Its path
// refers to the file as written, before ranges are expanded.
func Parse(file string, data []byte, set ...string) (*Document, Problems) {
	var problems Problems
	root := read(file, data, &problems)
	if len(problems) > 0 {
		return nil, problems
	}
	for _, assignment := range set {
		if err := root.set(assignment); err != nil {
			problems.add(file, Position{Option: "--set " + assignment}, "%v", err)
		}
	}
	return &Document{File: file, Root: expand(file, root, &problems)}, problems
}

// read parses text into a tree.
func read(file string, data []byte, problems *Problems) (root *Node) {
	if len(data) > maxBytes {
		problems.add(file, Position{},
			"the file has %d bytes; at most %d are read (brace ranges say many things in a line)", len(data), maxBytes)
		return nil
	}
	if at, bad := notText(data); bad {
		problems.add(file, at, "not a text file: a study is YAML in UTF-8")
		return nil
	}
	// The parser is a third-party library, and its input is untrusted.
	defer func() {
		if recover() != nil {
			problems.add(file, Position{}, "cannot be read as YAML")
			root = nil
		}
	}()
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(data), "\ufeff"))
	tokens := lexer.Tokenize(text)
	if !supported(file, tokens, problems) {
		return nil
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		at, message := Position{}, err.Error()
		if syntax, ok := errors.AsType[yaml.Error](err); ok {
			at, message = position(syntax.GetToken()), syntax.GetMessage()
		}
		if tab, is := tabAt(text, at.Line); is {
			problems.add(file, tab, "tab: indent with spaces")
			return nil
		}
		if open, is := unclosed(tokens); is {
			hint := ""
			if key := secondKey(lineOf(text, at.Line)); key != "" {
				hint = fmt.Sprintf(", or a comma is missing before %q", key)
			}
			problems.add(file, position(open), "%q is not closed%s", open.Value, hint)
			return nil
		}
		if line, others, is := misindented(text, at.Line); is {
			problems.add(file, line.at(), "indented by %d; lines around it are indented by %s", line.indent, others)
			return nil
		}
		if key, at, is := keyAlone(text, at.Line); is {
			problems.add(file, at, "%q has no colon; expected %q", key, key+":")
			return nil
		}
		if m := withoutColon.FindStringSubmatch(lineOf(text, at.Line)); m != nil {
			problems.add(file, at, "%q has no colon; expected %q", strings.TrimSpace(m[0]), m[1]+": "+m[2])
			return nil
		}
		problems.add(file, at, "not YAML: %s%s", message, quotesHint(text, at.Line))
		return nil
	}
	c := converter{file: file, problems: problems, lines: strings.Split(text, "\n"), cursor: &cursor{}}
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			problems.add(file, c.node(doc.Body).At, "a second document: a file holds one study")
			return nil
		}
		root = c.node(doc.Body)
	}
	if root == nil {
		problems.add(file, Position{Line: 1, Column: 1}, "the file is empty")
	}
	return root
}

// tabAt finds a tab in the indentation of a line or, if there is none, of an earlier line: YAML
// only allows spaces there, and the parser may fail later.
func tabAt(text string, line int) (Position, bool) {
	lines := strings.Split(text, "\n")
	for i := min(max(line, 1), len(lines)); i > 0; i-- {
		indent := lines[i-1][:len(lines[i-1])-len(strings.TrimLeft(lines[i-1], " \t"))]
		if column := strings.IndexByte(indent, '\t'); column >= 0 && len(indent) < len(lines[i-1]) {
			return Position{Line: i, Column: column + 1}, true
		}
	}
	return Position{}, false
}

// notText finds the first byte that does not belong in a text file.
func notText(data []byte) (Position, bool) {
	line, column := 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			return Position{Line: line, Column: column}, true
		}
		i += size
		column++
		if r == '\n' || r == '\r' && (i == len(data) || data[i] != '\n') {
			line, column = line+1, 1
		}
	}
	return Position{}, false
}

// supported reports excessive nesting and YAML features that study files do not have, before the
// recursive parser runs.
func supported(file string, tokens token.Tokens, problems *Problems) bool {
	depth := 0
	var keys keyCount
	for _, t := range tokens {
		at := position(t)
		if keys.add(t) > maxKeys {
			problems.add(file, at, "more than %d keys of one mapping; a brace range says many things in a line",
				maxKeys)
			return false
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			problems.add(file, at,
				"anchors, aliases and merge keys are not supported; repeat by a brace range such as {1..8}")
			return false
		case token.TagType:
			problems.add(file, at, "tags are not supported: what a value is follows from its key")
			return false
		case token.DirectiveType:
			problems.add(file, at, "directives are not supported")
			return false
		case token.MappingKeyType:
			problems.add(file, at, `keys with "?" are not supported; write key: value`)
			return false
		}
		block := t.Type == token.SequenceEntryType || t.Type == token.MappingValueType
		if depth > maxDepth || depth <= 0 && block && t.Position.IndentNum > maxIndent ||
			t.Type == token.SequenceEntryType && at.Column > maxIndent {
			problems.add(file, at, "nested too deeply")
			return false
		}
	}
	return true
}

// keyCount counts the keys of each mapping. The zero value is at the beginning of a file.
type keyCount struct {
	open []keysAt // the mappings around a token, outermost first
}

// keysAt has the number of keys of a mapping, whose first is in a column; 0: it is in braces, or a list in brackets.
type keysAt struct{ column, n int }

// add adds the tokens of a file in their order. It returns how many keys the mapping has so far to which a key belongs,
// for other tokens 0.
func (k *keyCount) add(t *token.Token) int {
	last := func() *keysAt { return &k.open[len(k.open)-1] }
	// inBlock drops the mappings that a token in a column of a block ends.
	inBlock := func(column int) {
		for len(k.open) > 0 && last().column > column {
			k.open = k.open[:len(k.open)-1]
		}
	}
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		k.open = append(k.open, keysAt{})
	case token.MappingEndType, token.SequenceEndType:
		for len(k.open) > 0 && last().column > 0 {
			k.open = k.open[:len(k.open)-1]
		}
		k.open = k.open[:max(0, len(k.open)-1)]
	case token.SequenceEntryType:
		inBlock(position(t).Column)
	case token.MappingValueType:
		if t.Prev == nil {
			return 0
		}
		if len(k.open) == 0 || last().column > 0 {
			column := position(t.Prev).Column
			if inBlock(column); len(k.open) == 0 || last().column < column {
				k.open = append(k.open, keysAt{column: column})
			}
		}
		last().n++
		return last().n
	}
	return 0
}

func position(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{}
	}
	return Position{Line: t.Position.Line, Column: max(1, t.Position.Column)}
}

// unquotedBrace matches a range that is adjacent to text, as in client{1..2}.
var unquotedBrace = pattern.MustCompile(`[\w.]\{[^{}"']*\}|\{[^{}"':]*\}[\w.]`)

// unquotedColon matches a value that contains a colon and a blank, which would end a key.
var unquotedColon = pattern.MustCompile(`^[^"'{\[#]*:\s+[^"'{\[#\s][^"'{\[#]*:\s`)

// withoutColon matches a key and its value separated only by a blank.
var withoutColon = pattern.MustCompile(`^\s*([a-z][a-z0-9_-]*) ([^\s:{}\[\]"'#-][^:{}\[\]"'#]*)$`)

// keyInText matches a key within the text of a value, as after a missing comma.
var keyInText = pattern.MustCompile(`[^\s:,{}\[\]]\s+([a-z][a-z0-9_-]*):\s`)

// keyBehindValue matches a key, its value without quotes and keyInText.
var keyBehindValue = pattern.MustCompile(`:\s+[^\s:,{}\[\]"']*` + keyInText.String())

// secondKey returns the key that follows a value on a line without a comma. Empty: there is none.
func secondKey(line string) string {
	if m := keyBehindValue.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

func lineOf(text string, line int) string {
	if lines := strings.Split(text, "\n"); line >= 1 && line <= len(lines) {
		return lines[line-1]
	}
	return ""
}

// quotesHint explains mistakes that quotes would fix.
func quotesHint(text string, line int) string {
	switch on := lineOf(text, line); {
	case unquotedBrace.MatchString(on):
		return `; inside [ ] and { }, text with braces needs quotes: "client{1..2}"`
	case unquotedColon.MatchString(on):
		return "; a text with a colon and a blank needs quotes"
	}
	return ""
}

// converter converts the parser's tree to Nodes.
type converter struct {
	file     string
	problems *Problems
	lines    []string
	cursor   *cursor
}

// scalar returns the position where a scalar begins. The tokenizer may place a plain scalar with
// trailing spaces too far to the right, and one of several lines on its last line. The result is
// the nearest position to the left and above where the text matches.
func (c converter) scalar(t *token.Token) Position {
	at := position(t)
	words := strings.Fields(t.Value)
	if at.Line < 1 || at.Line > len(c.lines) || len(words) == 0 {
		return at
	}
	word, text := words[0], c.lines[at.Line-1]
	begin := c.cursor.toColumn(at.Line, text, at.Column)
	if begin < len(text) && strings.IndexByte(`"'|>`, text[begin]) >= 0 {
		return at
	}
	text = text[:min(begin+len(word), len(text))]
	for line := at.Line; line >= max(1, at.Line-100); line-- {
		if line < at.Line {
			text = c.lines[line-1]
		}
		near := text[max(0, len(text)-farthest):]
		if i := strings.LastIndex(near, word); i >= 0 {
			return Position{Line: line, Column: c.cursor.toOffset(line, text, len(text)-len(near)+i)}
		}
	}
	return at
}

// farthest is how many bytes before the tokenizer's position a scalar is looked for in a line.
const farthest = 4096

// cursor is a place in a line. Moving it takes time in proportion to the distance: a line of a megabyte has a
// hundred thousand scalars.
type cursor struct{ line, column, offset int }

func (c *cursor) enter(line int) {
	if line != c.line {
		*c = cursor{line: line, column: 1}
	}
}

// toColumn returns the offset of a column in bytes; the columns count characters from 1. Beyond the end of the line
// it returns the end.
func (c *cursor) toColumn(line int, text string, column int) int {
	c.enter(line)
	for c.column < column && c.forward(text) {
	}
	for c.column > column && c.back(text) {
	}
	return c.offset
}

// toOffset returns the column of an offset.
func (c *cursor) toOffset(line int, text string, offset int) int {
	c.enter(line)
	for c.offset < offset && c.forward(text) {
	}
	for c.offset > offset && c.back(text) {
	}
	return c.column
}

func (c *cursor) forward(text string) bool {
	_, size := utf8.DecodeRuneInString(text[c.offset:])
	if size > 0 {
		c.column, c.offset = c.column+1, c.offset+size
	}
	return size > 0
}

func (c *cursor) back(text string) bool {
	_, size := utf8.DecodeLastRuneInString(text[:c.offset])
	if size > 0 {
		c.column, c.offset = c.column-1, c.offset-size
	}
	return size > 0
}

func (c converter) node(n ast.Node) *Node {
	switch n := n.(type) {
	case nil:
		return &Node{Kind: Null}
	case *ast.NullNode:
		return &Node{Kind: Null, At: position(n.Token)}
	case *ast.StringNode:
		if m := keyInText.FindStringSubmatch(n.Value); m != nil && n.Token.Type == token.StringType {
			c.problems.add(c.file, c.scalar(n.Token), "a comma is missing before %q, or the text needs quotes", m[1])
		}
		return &Node{Kind: Scalar, At: c.scalar(n.Token), Text: n.Value}
	case *ast.LiteralNode:
		return &Node{Kind: Scalar, At: position(n.Start), Text: n.Value.Value}
	case *ast.MappingNode:
		return c.mapping(n.Values, n.IsFlowStyle, position(n.Start))
	case *ast.MappingValueNode:
		return c.mapping([]*ast.MappingValueNode{n}, n.IsFlowStyle, position(n.Start))
	case *ast.SequenceNode:
		list := &Node{Kind: List, At: position(n.Start), flow: n.IsFlowStyle}
		for _, value := range n.Values {
			item := c.node(value)
			if item.Kind == Null {
				item.At = list.At // an absent value has no position of its own
			}
			list.Items = append(list.Items, item)
		}
		return list
	case ast.ScalarNode:
		// Numbers and booleans keep the text as written.
		t := n.GetToken()
		return &Node{Kind: Scalar, At: c.scalar(t), Text: strings.TrimSpace(t.Value)}
	}
	at := position(n.GetToken())
	c.problems.add(c.file, at, "%s is not supported in a study file", strings.ToLower(n.Type().String()))
	return &Node{Kind: Bad, At: at}
}

func (c converter) mapping(values []*ast.MappingValueNode, flow bool, start Position) *Node {
	m := &Node{Kind: Mapping, At: start, flow: flow}
	for i, v := range values {
		key := c.node(v.Key)
		if key.Kind == Null {
			// "null:" and "~:" are ordinary keys.
			key = &Node{Kind: Scalar, At: position(v.Key.GetToken()), Text: v.Key.GetToken().Value}
		}
		if key.Kind != Scalar {
			c.problems.add(c.file, key.At, "a key must be a plain name")
			continue
		}
		if i == 0 && !flow {
			// The parser places the beginning of a block at its first colon.
			m.At = key.At
		}
		value := c.node(v.Value)
		if value.Kind == Null {
			value.At = key.At // an absent value has no position of its own
		}
		m.Entries = append(m.Entries, Entry{key, value})
	}
	return m
}
