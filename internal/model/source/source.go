// Package source reads the files that people write: YAML with brace ranges, decoded strictly into
// Go structs, with the position of every mistake.
//
// Parse converts text to a tree of Nodes that know their line and column, repeats every part that
// contains a brace range ("eth{p=0..3}"), and computes expressions ("{100+p}"). Decode fills a
// struct from the tree by its field tags. All mistakes are collected, not only the first. The
// packages that define the types check the meaning of values; they report a path such as
// topology.links[3].from, which Document converts to a line and a column.
//
// YAML is https://yaml.org/spec/1.2.2/, without anchors, tags, merge keys and further documents:
// brace ranges avoid repetition, and every line can be understood without looking elsewhere.
// Documents and JSON convert files of other programs to the same Nodes, with all of YAML. The package
// does no I/O.
package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a Node.
type Kind int

// Kinds of Node. Bad is a scalar with a wrong brace expression. It has been reported, and later
// steps ignore it.
const (
	Null Kind = iota
	Scalar
	List
	Mapping
	Bad
)

// Position is a position in a file. Line and Column count from 1, columns in characters; zero means
// unknown. Option is set for a value that comes from the command line instead of the file.
type Position struct {
	Line, Column int
	Option       string
}

// Node is a part of a file. Scalars keep their text as written: its meaning depends on the field,
// so 0x10 or yes are never converted.
type Node struct {
	Kind    Kind
	At      Position
	Text    string  // of a Scalar
	Items   []*Node // of a List
	Entries []Entry // of a Mapping, in the order written
	// Block is set for a Scalar of Documents whose lines follow At, each on a line of its own: "|".
	Block bool
	flow  bool // written with [ ] or { }
}

// Entry is one key of a mapping. The key is a scalar.
type Entry struct{ Key, Value *Node }

// get returns the entry with a key.
func (n *Node) get(key string) (Entry, bool) {
	for _, e := range n.Entries {
		if e.Key.Kind == Scalar && e.Key.Text == key {
			return e, true
		}
	}
	return Entry{}, false
}

// Document is a file after the expansion of its brace ranges.
type Document struct {
	File  string
	Root  *Node
	wrong map[*Node]bool // nodes for which Decode has reported a problem, other than problems of nodes in them
	// refused has the scalars that are zero where only an absent key may be.
	refused map[*Node]Problem
}

// step is an element of a path: a key, or an index if key is empty.
type step struct {
	key   string
	index int
}

// steps splits a path such as topology.links[3].from.
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

// walk follows a path as far as it exists. It returns the position and the node where it ends, and
// whether the whole path exists. The entries of a mapping can also be selected by index, like the
// elements of the slice that they are decoded into.
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
		// Problems with a block or with a name are at the key; problems with a scalar are at the
		// scalar.
		if s.key != "" && node.Kind == Scalar {
			at = node.At
		}
	}
	return at, node, true
}

// Position returns the position of the value at a path or, for a missing value, that of what should
// contain it.
func (d *Document) Position(path string) Position {
	at, _, _ := d.walk(path)
	return at
}

// Keys returns the positions where name is a key, in the order of the file. Copies made by a brace
// range have the same position, which is listed once.
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

// visit calls each for a node and all nodes in it, in the order of the file.
func (n *Node) visit(each func(*Node)) {
	each(n)
	for _, e := range n.Entries {
		e.Value.visit(each)
	}
	for _, item := range n.Items {
		item.visit(each)
	}
}

// Sound reports whether Decode found no problem with the value at a path or with anything in it. A
// missing value is sound if what should contain it has no problem of its own, such as an unknown
// key.
func (d *Document) Sound(path string) bool {
	_, node, whole := d.walk(path)
	sound := !d.wrong[node]
	if whole {
		node.visit(func(n *Node) { sound = sound && !d.wrong[n] })
	}
	return sound
}

// Itself is like Sound, but ignores problems with the values inside a mapping or list at the path.
func (d *Document) Itself(path string) bool {
	_, node, _ := d.walk(path)
	return !d.wrong[node]
}

// Has reports whether the file contains a value at a path. False: the default applies.
func (d *Document) Has(path string) bool {
	_, node, whole := d.walk(path)
	return whole && node.Kind != Null
}

// Report is called by checks of meaning with what is wrong with the value at a path.
type Report func(path, format string, args ...any)

// Reporter returns a Report that adds to problems with the position of the path, each problem once.
// It ignores values for which Decode has already reported a problem, and replaces what Decode has
// reported of a zero.
func (d *Document) Reporter(problems *Problems) Report {
	reported := map[Problem]bool{}
	return func(path, format string, args ...any) {
		p := Problem{d.File, d.Position(path), fmt.Sprintf(format, args...)}
		if d.Itself(path) && !reported[p] {
			reported[p] = true
			_, node, whole := d.walk(path)
			if refused, is := d.refused[node]; is && whole {
				*problems = slices.DeleteFunc(*problems, func(p Problem) bool { return p == refused })
			}
			*problems = append(*problems, p)
		}
	}
}
