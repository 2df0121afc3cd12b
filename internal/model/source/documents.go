package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"linerate/internal/model/lists"
	"linerate/internal/model/pattern"
)

// Limits of documents of other programs.
const (
	maxDocumentBytes = 1 << 20 // a node of two bytes of text takes some hundred
	maxDocumentDepth = 200
	maxDocuments     = 10000   // of one file
	maxCopied        = 1 << 20 // nodes, counting those of aliases once for each
)

// Documents parses files of other programs as YAML: one document or several, with anchors, aliases,
// merge keys and tags, which are ignored, and without brace ranges. A node of an alias is the node of
// its anchor, at the line of the anchor. Documents without content are left out. Each error says of a
// document that it is not YAML, and at which line; their texts have no file. The other documents are
// returned.
func Documents(data []byte) (list []*Node, problems []error) {
	if len(data) > maxDocumentBytes {
		return nil, []error{fmt.Errorf("%d bytes; at most %d are read", len(data), maxDocumentBytes)}
	}
	if at, bad := notText(data); bad {
		return nil, []error{fmt.Errorf("line %d: not a text file in UTF-8", at.Line)}
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(data), "\ufeff"))
	for i, part := range sections(text) {
		if i == maxDocuments {
			return list, append(problems, fmt.Errorf("line %d: only the first %d documents are read", part.line+1, i))
		}
		root, err := document(part.text, part.line)
		if err != nil {
			problems = append(problems, err)
		} else if root != nil {
			list = append(list, root)
		}
	}
	return list, problems
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
	parsed, mistake := parseYAML(text)
	if mistake != "" {
		return nil, fmt.Errorf("line %d: not YAML: %s", before+mistakenLine(text, mistake), mistake)
	}
	d := documentReader{before: before, rows: strings.Count(text, "\n") + 1,
		made: map[*yaml.Node]*Node{}, sizes: map[*Node]int{}}
	for _, content := range parsed.Content {
		if root, err = d.node(content, 0); err != nil {
			return nil, err
		}
		if d.sizes[root] > maxCopied {
			return nil, fmt.Errorf("line %d: aliases repeat more than is read", before+1)
		}
	}
	if root != nil && root.Kind == Null {
		return nil, nil
	}
	return root, nil
}

// yamlErrorAt matches what the parser's errors begin with.
var yamlErrorAt = pattern.MustCompile(`^yaml: (line [0-9]+: )?`)

// parseYAML parses one document. Mistake says what is not YAML; empty: nothing.
func parseYAML(text string) (parsed yaml.Node, mistake string) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	err := decoder.Decode(&parsed)
	if err == nil {
		if err = decoder.Decode(&yaml.Node{}); err == nil { // a value behind the first, such as [section] of INI
			return parsed, "more than one value in a document"
		}
	}
	if !errors.Is(err, io.EOF) {
		mistake = yamlErrorAt.Regexp().ReplaceAllString(err.Error(), "")
	}
	return parsed, mistake
}

// mistakenLine returns the line of a mistake: the last one of the shortest beginning of the text that
// has the same mistake. The parser itself names the line at which what it reads began.
func mistakenLine(text, mistake string) int {
	lines := strings.SplitAfter(text, "\n")
	ends := make([]int, len(lines))
	n := 0
	for i, line := range lines {
		n += len(line)
		ends[i] = n
	}
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, has := parseYAML(text[:ends[i]])
		return has == mistake
	})
}

// documentReader converts a syntax tree.
type documentReader struct {
	before int                  // lines of the file
	rows   int                  // of the document
	made   map[*yaml.Node]*Node // for aliases
	sizes  map[*Node]int        // with all that is below, aliases counted again
}

func (d *documentReader) at(n *yaml.Node) Position {
	return Position{Line: d.before + min(max(n.Line, 1), d.rows), Column: max(n.Column, 1)}
}

func (d *documentReader) node(n *yaml.Node, depth int) (*Node, error) {
	if depth > maxDocumentDepth {
		return nil, fmt.Errorf("line %d: nested too deeply", d.before+n.Line)
	}
	if n.Kind == yaml.AliasNode {
		if made := d.made[n.Alias]; made != nil {
			return made, nil
		}
		return &Node{Kind: Bad, At: d.at(n), Text: "*"}, nil // within its own anchor
	}
	made := &Node{Kind: Scalar, At: d.at(n), Text: n.Value, Block: n.Style&yaml.LiteralStyle != 0}
	switch {
	case n.Kind == yaml.MappingNode:
		made = &Node{Kind: Mapping, At: made.At}
		if err := d.mapping(made, n.Content, depth); err != nil {
			return nil, err
		}
	case n.Kind == yaml.SequenceNode:
		made = &Node{Kind: List, At: made.At}
		for _, content := range n.Content {
			item, err := d.node(content, depth+1)
			if err != nil {
				return nil, err
			}
			made.Items = append(made.Items, item)
		}
	case n.ShortTag() == "!!null":
		made = &Node{Kind: Null, At: made.At}
	}
	size := 1
	size += lists.Sum(made.Items, func(item *Node) int { return d.sizes[item] })
	size += lists.Sum(made.Entries, func(e Entry) int { return 1 + d.sizes[e.Value] })
	d.made[n], d.sizes[made] = made, min(size, maxCopied+1)
	return made, nil
}

// mapping converts the keys and values of a mapping, which alternate.
func (d *documentReader) mapping(m *Node, content []*yaml.Node, depth int) error {
	var merged []*Node
	for i := 0; i+1 < len(content); i += 2 {
		value, err := d.node(content[i+1], depth+1)
		if err != nil {
			return err
		}
		if content[i].ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		key, err := d.node(content[i], depth+1)
		if err != nil {
			return err
		}
		switch key.Kind {
		case Scalar:
		case Null:
			key = &Node{Kind: Scalar, At: key.At, Text: content[i].Value}
		default: // {{ a template }}
			key = &Node{Kind: Bad, At: key.At, Text: "{"}
		}
		m.Entries = append(m.Entries, Entry{key, value})
	}
	for _, from := range merged {
		d.merge(m, from)
	}
	return nil
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
	if depth > maxDocumentDepth {
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
