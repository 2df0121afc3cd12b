package settingfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"

	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
)

// tomlHead matches the beginning of Bottlerocket's settings, and the parameters of CRI-O and Podman, in a
// file whose name says nothing.
var tomlHead = pattern.MustCompile(`\A(?:\s|#[^\n]*\n)*\[settings[.\]]|(?m:^\s*default_sysctls\s*=\s*\[)`)

// maxTOML bounds a file of TOML.
const maxTOML = 256 << 10

// parseTOML parses a file of TOML to the nodes of package source. The library has no positions: a key
// is at the first line after that of the key before that has its name.
func parseTOML(text string) (list []*source.Node, err error) {
	if len(text) > maxTOML {
		return nil, fmt.Errorf("line 1: more than %d bytes are not read", maxTOML)
	}
	defer func() { // a library, and its input is untrusted
		if recover() != nil {
			list, err = nil, errors.New("line 1: cannot be read as TOML")
		}
	}()
	var values map[string]any
	meta, err := toml.Decode(text, &values)
	if err != nil {
		if syntax, is := errors.AsType[toml.ParseError](err); is {
			return nil, fmt.Errorf("line %d: not TOML: %s", max(1, syntax.Position.Line), syntax.Message)
		}
		return nil, fmt.Errorf("line 1: not TOML: %w", err)
	}
	r := &tomlReader{lines: strings.Split(text, "\n"), entries: map[*source.Node]map[string]*source.Node{},
		array: func(key toml.Key) bool { return meta.Type(key...) == "ArrayHash" }}
	root := &source.Node{Kind: source.Mapping, At: source.Position{Line: 1}}
	for _, key := range meta.Keys() {
		r.key(root, key, values)
	}
	return []*source.Node{root}, nil
}

// tomlReader converts the values of a file, in the order of its keys.
type tomlReader struct {
	lines   []string
	row     int                                      // index of the line of the last key
	entries map[*source.Node]map[string]*source.Node // values of mappings by their keys
	array   func(toml.Key) bool                      // whether a key is a list of tables: [[key]]
}

// mostLinesAhead bounds the lines in which a key is looked for.
const mostLinesAhead = 1000

// find returns the index of the first line from row on that has a text, or row.
func (r *tomlReader) find(row int, text string) int {
	for i := row; i < min(row+mostLinesAhead, len(r.lines)); i++ {
		if strings.Contains(r.lines[i], text) {
			return i
		}
	}
	return row
}

// key adds the value of a key to a document.
func (r *tomlReader) key(n *source.Node, key toml.Key, values map[string]any) {
	r.row = r.find(r.row, key[len(key)-1])
	value := any(values)
	for i, part := range key {
		table, is := value.(map[string]any)
		if !is { // within a list that is on one line, which has been converted
			return
		}
		value = table[part]
		below := r.below(n, part)
		if n = below; i == len(key)-1 && !r.array(key) {
			r.set(n, value, r.row)
		}
		list, is := value.([]map[string]any)
		if !is || !r.array(key[:i+1]) {
			continue
		}
		if n.Kind = source.List; i == len(key)-1 {
			n.Items = append(n.Items, &source.Node{Kind: source.Mapping, At: source.Position{Line: r.row + 1}})
		}
		last := len(n.Items) - 1
		if last < 0 || last >= len(list) {
			return
		}
		n, value = n.Items[last], list[last]
	}
}

// below returns the value of a key of a mapping, which is added if there is none.
func (r *tomlReader) below(n *source.Node, key string) *source.Node {
	if r.entries[n] == nil {
		r.entries[n] = map[string]*source.Node{}
	}
	if value := r.entries[n][key]; value != nil {
		return value
	}
	at := source.Position{Line: r.row + 1}
	value := &source.Node{Kind: source.Mapping, At: at}
	r.entries[n][key] = value
	n.Entries = append(n.Entries, source.Entry{Key: &source.Node{Kind: source.Scalar, At: at, Text: key}, Value: value})
	return value
}

// set sets a node to a value, if that is no table. Row is the index of the line of what came before.
func (r *tomlReader) set(n *source.Node, value any, row int) {
	switch value := value.(type) {
	case map[string]any:
	case []any:
		n.Kind = source.List
		for _, item := range value {
			text, _ := item.(string)
			row = r.find(row, text)
			one := &source.Node{At: source.Position{Line: row + 1}}
			r.set(one, item, row)
			n.Items = append(n.Items, one)
		}
	case []map[string]any:
		n.Kind = source.List
	default:
		n.Kind, n.Text = source.Scalar, fmt.Sprint(value)
	}
}
