package settingfile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"linerate/internal/model/source"
)

// tomlHead matches the beginning of Bottlerocket's settings, in a file whose name says nothing.
var tomlHead = regexp.MustCompile(`\A(?:\s|#[^\n]*\n)*\[settings[.\]]`)

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
	root := &source.Node{Kind: source.Mapping, At: source.Position{Line: 1}}
	lines := strings.Split(text, "\n")
	row := 0
	for _, key := range meta.Keys() {
		name := key[len(key)-1]
		for i := row; i < len(lines); i++ {
			if strings.Contains(lines[i], name) {
				row = i
				break
			}
		}
		addTOML(root, key, values, row+1)
	}
	return []*source.Node{root}, nil
}

// addTOML adds the value of a key to a document.
func addTOML(root *source.Node, key toml.Key, values map[string]any, row int) {
	n, value := root, any(values)
	for i, part := range key {
		table, is := value.(map[string]any)
		if !is { // an element of a list of tables, which no format here has
			return
		}
		value = table[part]
		e, there := n.Get(part)
		if !there {
			at := source.Position{Line: row}
			e = source.Entry{Key: &source.Node{Kind: source.Scalar, At: at, Text: part},
				Value: &source.Node{Kind: source.Mapping, At: at}}
			n.Entries = append(n.Entries, e)
		}
		if n = e.Value; i == len(key)-1 {
			setTOML(n, value)
		}
	}
}

// setTOML sets a node to a value, if that is no table.
func setTOML(n *source.Node, value any) {
	switch value := value.(type) {
	case map[string]any:
	case []any:
		n.Kind = source.List
		for _, item := range value {
			one := &source.Node{At: n.At}
			setTOML(one, item)
			n.Items = append(n.Items, one)
		}
	case []map[string]any:
		n.Kind = source.List
	default:
		n.Kind, n.Text = source.Scalar, fmt.Sprint(value)
	}
}
