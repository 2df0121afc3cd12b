package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of documents of other programs. The YAML parser takes time in proportion to the square of
// the number of keys in one mapping.
const (
	maxDocumentBytes = 4 << 20
	maxTokens        = 60000  // of one document of YAML
	maxCopied        = 200000 // nodes, counting those of aliases once for each
)

// Documents parses files of other programs as YAML: one document or several, with anchors, aliases,
// merge keys and tags, which are ignored, and without brace ranges. A node of an alias is the node of
// its anchor, at the line of the anchor. Documents without content are left out. The error says what
// is not YAML; its text has no file.
func Documents(data []byte) (list []*Node, err error) {
	if len(data) > maxDocumentBytes {
		return nil, fmt.Errorf("%d bytes; at most %d are read", len(data), maxDocumentBytes)
	}
	if at, bad := notText(data); bad {
		return nil, fmt.Errorf("line %d: not a text file in UTF-8", at.Line)
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(data), "\ufeff"))
	for _, part := range sections(text) {
		root, err := document(part.text, part.line)
		if err != nil {
			return list, err
		}
		if root != nil {
			list = append(list, root)
		}
	}
	return list, nil
}

// section is a document of a file, and the number of lines before it.
type section struct {
	text string
	line int
}

// sections splits a file at lines that begin a document. Within a block scalar no line begins with ---.
func sections(text string) (list []section) {
	var b strings.Builder
	n, from := 0, 0
	flush := func() {
		if strings.TrimSpace(b.String()) != "" {
			list = append(list, section{b.String(), from})
		}
		b.Reset()
		from = n
	}
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, " \t\n")
		begins := bare == "---" || strings.HasPrefix(line, "--- ") || bare == "..."
		switch {
		case begins:
			flush()
			b.WriteString("   " + strings.TrimPrefix(strings.TrimPrefix(line, "---"), "..."))
		case strings.HasPrefix(line, "%") && b.Len() == 0: // a directive
			b.WriteString("\n")
		default:
			b.WriteString(line)
		}
		n++
	}
	flush()
	return list
}

// document parses one document. It returns nil if there is only a comment.
func document(text string, before int) (root *Node, err error) {
	defer func() { // a library, and its input is untrusted
		if recover() != nil {
			root, err = nil, fmt.Errorf("line %d: cannot be read as YAML", before+1)
		}
	}()
	tokens := lexer.Tokenize(text)
	if len(tokens) > maxTokens {
		return nil, fmt.Errorf("line %d: a document of more than %d words and signs is not read", before+1, maxTokens)
	}
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		block := t.Type == token.SequenceEntryType || t.Type == token.MappingValueType
		if depth > maxDepth || depth <= 0 && block && t.Position.IndentNum > maxIndent ||
			t.Type == token.SequenceEntryType && depth <= 0 && t.Position.Column > maxIndent {
			return nil, fmt.Errorf("line %d: nested too deeply", before+t.Position.Line)
		}
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		line, message := 1, err.Error()
		if syntax, is := errors.AsType[yaml.Error](err); is {
			line, message = position(syntax.GetToken()).Line, syntax.GetMessage()
		}
		return nil, fmt.Errorf("line %d: not YAML: %s", before+max(line, 1), message)
	}
	d := documentReader{before: before, anchors: map[string]*Node{}, sizes: map[*Node]int{}}
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		root = d.node(doc.Body, 0)
		if d.sizes[root] > maxCopied {
			return nil, fmt.Errorf("line %d: aliases repeat more than is read", before+1)
		}
	}
	if root != nil && root.Kind == Null {
		return nil, nil
	}
	return root, nil
}

// documentReader converts a syntax tree.
type documentReader struct {
	before  int
	anchors map[string]*Node
	sizes   map[*Node]int // with all that is below, aliases counted again
}

func (d *documentReader) at(t *token.Token) Position {
	at := position(t)
	at.Line += d.before
	return at
}

func (d *documentReader) node(n ast.Node, depth int) *Node {
	if depth > maxTokens { // no more than the document has
		return &Node{Kind: Bad}
	}
	made := d.convert(n, depth)
	if _, is := d.sizes[made]; !is {
		size := 1
		for _, item := range made.Items {
			size += d.sizes[item]
		}
		for _, e := range made.Entries {
			size += 1 + d.sizes[e.Value]
		}
		d.sizes[made] = min(size, maxCopied+1)
	}
	return made
}

func (d *documentReader) convert(n ast.Node, depth int) *Node {
	switch n := n.(type) {
	case nil:
		return &Node{Kind: Null}
	case *ast.NullNode:
		return &Node{Kind: Null, At: d.at(n.Token)}
	case *ast.AnchorNode:
		made := d.node(n.Value, depth+1)
		if name, is := n.Name.(ast.ScalarNode); is {
			d.anchors[name.GetToken().Value] = made
		}
		return made
	case *ast.AliasNode:
		if name, is := n.Value.(ast.ScalarNode); is {
			if made := d.anchors[name.GetToken().Value]; made != nil {
				return made
			}
		}
		return &Node{Kind: Bad, At: d.at(n.GetToken()), Text: "*"}
	case *ast.TagNode:
		return d.node(n.Value, depth+1)
	case *ast.LiteralNode:
		return &Node{Kind: Scalar, At: d.at(n.Start), Text: n.Value.Value,
			Block: n.Start != nil && n.Start.Type == token.LiteralType}
	case *ast.StringNode:
		return &Node{Kind: Scalar, At: d.at(n.Token), Text: n.Value}
	case *ast.MappingNode:
		return d.mapping(n.Values, d.at(n.Start), depth)
	case *ast.MappingValueNode:
		return d.mapping([]*ast.MappingValueNode{n}, d.at(n.Start), depth)
	case *ast.SequenceNode:
		list := &Node{Kind: List, At: d.at(n.Start)}
		for _, value := range n.Values {
			item := d.node(value, depth+1)
			list.Items = append(list.Items, item)
		}
		return list
	case ast.ScalarNode:
		t := n.GetToken()
		return &Node{Kind: Scalar, At: d.at(t), Text: strings.TrimSpace(t.Value)}
	}
	return &Node{Kind: Bad, At: d.at(n.GetToken()), Text: strings.TrimSpace(n.GetToken().Value)}
}

func (d *documentReader) mapping(values []*ast.MappingValueNode, at Position, depth int) *Node {
	m := &Node{Kind: Mapping, At: at}
	var merged []*Node
	for _, v := range values {
		value := d.node(v.Value, depth+1)
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			merged = append(merged, value)
			continue
		}
		key := d.node(v.Key, depth+1)
		if key.Kind == Null {
			key = &Node{Kind: Scalar, At: d.at(v.Key.GetToken()), Text: v.Key.GetToken().Value}
		}
		if key.Kind != Scalar { // {{ a template }}
			key = &Node{Kind: Bad, At: d.at(v.Key.GetToken()), Text: "{"}
		}
		if value.Kind == Null && value.At.Line == 0 {
			value.At = key.At
		}
		m.Entries = append(m.Entries, Entry{key, value})
	}
	for _, from := range merged {
		d.merge(m, from)
	}
	return m
}

// merge adds the entries of a merge key, one mapping or a list of them, that are not there yet.
func (d *documentReader) merge(m, from *Node) {
	list := []*Node{from}
	if from.Kind == List {
		list = from.Items
	}
	has := map[string]bool{}
	for _, e := range m.Entries {
		has[e.Key.Text] = true
	}
	for _, other := range list {
		for _, e := range other.Entries {
			if !has[e.Key.Text] && len(m.Entries) < maxCopied {
				has[e.Key.Text] = true
				m.Entries = append(m.Entries, e)
			}
		}
	}
}

// maxJSONDepth bounds the nesting of JSON.
const maxJSONDepth = 200

// JSON parses values of JSON, one after the other, to the nodes that Documents returns. Numbers and
// booleans keep the text as written.
func JSON(data []byte) (list []*Node, err error) {
	if len(data) > maxDocumentBytes {
		return nil, fmt.Errorf("%d bytes; at most %d are read", len(data), maxDocumentBytes)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r := jsonReader{decoder: json.NewDecoder(bytes.NewReader(data)), data: data, line: 1}
	r.decoder.UseNumber()
	for {
		n, err := r.value(0)
		if errors.Is(err, io.EOF) && len(list) > 0 {
			return list, nil
		}
		if err != nil {
			return list, fmt.Errorf("line %d: not JSON: %w", r.at().Line, err)
		}
		list = append(list, n)
	}
}

// jsonReader converts the tokens of JSON.
type jsonReader struct {
	decoder *json.Decoder
	data    []byte
	line    int // of the token that was read last
	counted int // bytes before which line breaks are counted
}

// at returns the line of the end of the last token.
func (r *jsonReader) at() Position {
	offset := min(int(r.decoder.InputOffset()), len(r.data))
	if offset > r.counted {
		r.line += bytes.Count(r.data[r.counted:offset], []byte("\n"))
		r.counted = offset
	}
	return Position{Line: r.line}
}

var errDepth = errors.New("nested too deeply")

func (r *jsonReader) value(depth int) (*Node, error) {
	t, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxJSONDepth {
		return nil, errDepth
	}
	n := &Node{At: r.at()}
	switch t := t.(type) {
	case nil:
		n.Kind = Null
	case json.Delim:
		return n, r.delimited(n, t, depth)
	default:
		n.Kind, n.Text = Scalar, fmt.Sprint(t)
	}
	return n, nil
}

// delimited reads the elements of a list or a mapping and its end.
func (r *jsonReader) delimited(n *Node, begin json.Delim, depth int) error {
	n.Kind = List
	if begin == '{' {
		n.Kind = Mapping
	}
	for r.decoder.More() {
		if n.Kind == Mapping {
			t, err := r.decoder.Token()
			if err != nil {
				return unexpected(err)
			}
			key := &Node{Kind: Scalar, At: r.at(), Text: fmt.Sprint(t)}
			value, err := r.value(depth + 1)
			if err != nil {
				return unexpected(err)
			}
			n.Entries = append(n.Entries, Entry{key, value})
			continue
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return unexpected(err)
		}
		n.Items = append(n.Items, item)
	}
	_, err := r.decoder.Token()
	return unexpected(err)
}

// unexpected returns an end within a value as an error.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Get returns the entry of a mapping with a key. It returns false if there is none.
func (n *Node) Get(key string) (Entry, bool) { return n.get(key) }
