// Package source reads the files that people write: YAML with brace ranges,
// decoded strictly into Go structs, with the place of every mistake.
//
// A file passes through three steps. Parse turns text into a tree of Nodes that
// know their line and column, then repeats every part that holds a brace range
// ("eth{p=0..3}") and works out the expressions ("{100+p}"). Decode fills a
// struct from the tree by its field tags. All mistakes are collected, never just
// the first. What the values mean is checked by the packages that own the types;
// they report a path such as topology.links[3].from, which Document turns back
// into a line and a column.
//
// YAML is https://yaml.org/spec/1.2.2/, without anchors, tags, merge keys and
// further documents: a study says things once by brace ranges, and a reader need
// not look elsewhere for what a line means. The package does no I/O.
package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a Node is.
type Kind int

// Kinds of Node. Bad is a scalar whose brace expression was wrong: it has been
// reported, and later steps leave it alone.
const (
	Null Kind = iota
	Scalar
	List
	Mapping
	Bad
)

// Position is a place in a file. Line and Column count from 1, columns in
// characters; zero means unknown. Option is set for what is not in the file but
// was given at the command line.
type Position struct {
	Line, Column int
	Option       string
}

// Node is a piece of a file. Scalars keep their text as written: what the text
// means depends on the field it is for, so 0x10 or yes are never reinterpreted.
type Node struct {
	Kind    Kind
	At      Position
	Text    string  // of a Scalar
	Items   []*Node // of a List
	Entries []Entry // of a Mapping, in the order written
	flow    bool    // written with [ ] or { }
}

// Entry is one key of a mapping. The key is a scalar.
type Entry struct{ Key, Value *Node }

// get finds the value of a key.
func (n *Node) get(key string) (Entry, bool) {
	for _, e := range n.Entries {
		if e.Key.Kind == Scalar && e.Key.Text == key {
			return e, true
		}
	}
	return Entry{}, false
}

// Document is a file after its brace ranges have been expanded.
type Document struct {
	File  string
	Root  *Node
	wrong map[*Node]bool // what Decode reported something of, besides what is in them
}

// step is one element of a path: a key, or an index when key is empty.
type step struct {
	key   string
	index int
}

// steps splits topology.links[3].from.
func steps(path string) []step {
	var list []step
	for part := range strings.SplitSeq(path, ".") {
		key, rest, _ := strings.Cut(part, "[")
		if key != "" {
			list = append(list, step{key: key})
		}
		for index := range strings.SplitSeq(rest, "[") {
			if i, err := strconv.Atoi(strings.TrimSuffix(index, "]")); err == nil {
				list = append(list, step{index: i})
			}
		}
	}
	return list
}

// walk follows a path as far as it goes. It returns the deepest position, the
// node there, and whether the whole path exists. A mapping's entries can also be
// counted, as the slices that they are decoded into are.
func (d *Document) walk(path string) (Position, *Node, bool) {
	node := d.Root
	at := node.At
	for _, s := range steps(path) {
		var entry Entry
		found := false
		switch {
		case s.key != "":
			entry, found = node.get(s.key)
		case node.Kind == Mapping && s.index < len(node.Entries):
			entry, found = node.Entries[s.index], true
		case node.Kind == List && s.index < len(node.Items):
			node = node.Items[s.index]
			at = node.At
			continue
		}
		if !found {
			return at, node, false
		}
		node = entry.Value
		at = entry.Key.At
		// A key is where to look for what is wrong with a block, and for what
		// is wrong with a name; a scalar is itself where to look.
		if s.key != "" && node.Kind == Scalar {
			at = node.At
		}
	}
	return at, node, true
}

// Position finds the place of a value by its path; for a value that is absent,
// the place of what should hold it.
func (d *Document) Position(path string) Position {
	at, _, _ := d.walk(path)
	return at
}

// Keys finds the places where a name is written as a key, in the order of the file, each
// once: a brace range makes several of one.
func (d *Document) Keys(name string) (places []Position) {
	d.Root.visit(func(n *Node) {
		for _, e := range n.Entries {
			if e.Key.Kind == Scalar && e.Key.Text == name && !slices.Contains(places, e.Key.At) {
				places = append(places, e.Key.At)
			}
		}
	})
	return places
}

// visit calls each for a node and those in it, in the order of the file.
func (n *Node) visit(each func(*Node)) {
	each(n)
	for _, e := range n.Entries {
		e.Value.visit(each)
	}
	for _, item := range n.Items {
		item.visit(each)
	}
}

// Sound reports whether Decode found nothing wrong with what is written at a path, nor with
// anything in it. What is absent is sound if what should hold it has no problem of its own,
// such as an unknown key.
func (d *Document) Sound(path string) bool {
	_, node, whole := d.walk(path)
	sound := !d.wrong[node]
	if whole {
		node.visit(func(n *Node) { sound = sound && !d.wrong[n] })
	}
	return sound
}

// Itself is Sound of a mapping or list alone, whatever is wrong in its values.
func (d *Document) Itself(path string) bool {
	_, node, _ := d.walk(path)
	return !d.wrong[node]
}

// Has reports whether a value is written in the file, as opposed to left to its
// default.
func (d *Document) Has(path string) bool {
	_, node, whole := d.walk(path)
	return whole && node.Kind != Null
}

// Report is how checks of meaning say what is wrong with the value at a path.
type Report func(path, format string, args ...any)

// Reporter returns a Report that adds to problems with the path's position, each once. What
// Decode has reported already is not asked what it means.
func (d *Document) Reporter(problems *Problems) Report {
	reported := map[Problem]bool{}
	return func(path, format string, args ...any) {
		p := Problem{d.File, d.Position(path), fmt.Sprintf(format, args...)}
		if d.Itself(path) && !reported[p] {
			reported[p] = true
			*problems = append(*problems, p)
		}
	}
}
