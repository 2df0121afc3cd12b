package source

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Limits of repetition; see also maxBytes.
const (
	maxCopies = 100_000 // of one item
	maxNodes  = 500_000 // of the whole file after expansion; long texts count more
)

// expand repeats what brace ranges repeat, and computes expressions.
//
// A range in a key repeats the entry; its name is bound in the value of the entry. Ranges in the
// scalars of a list item repeat the item, once for each combination, with the last range varying
// fastest. Their names are bound everywhere in the item, wherever the ranges are written. The
// scalars of an item are its own and those of mappings in it, but not those of lists in it, whose
// items repeat themselves, nor those below a repeated key.
func expand(file string, root *Node, problems *Problems) *Node {
	e := &expander{file: file, problems: problems, templates: map[*Node]template{}}
	return e.value(root, nil)
}

type expander struct {
	file      string
	problems  *Problems
	templates map[*Node]template
	nodes     int
	full      bool // a limit was exceeded and reported
}

// scope has the numbers of the ranges around a node, innermost first.
type scope struct {
	outer  *scope
	ranges []*part
	values []int
}

func (s *scope) name(name string) (int, bool) {
	return s.find(func(r *part) bool { return r.name == name })
}

// find returns the number of the innermost range for which matches is true. It returns false if there
// is none.
func (s *scope) find(matches func(*part) bool) (int, bool) {
	for ; s != nil; s = s.outer {
		if i := slices.IndexFunc(s.ranges, matches); i >= 0 {
			return s.values[i], true
		}
	}
	return 0, false
}

// template parses the braces of a scalar once, and reports mistakes once.
func (e *expander) template(n *Node) template {
	t, known := e.templates[n]
	if !known {
		var err error
		if t, err = parseTemplate(n.Text); err != nil {
			e.problems.add(e.file, n.At, "%v", err)
		}
		e.templates[n] = t
	}
	return t
}

// count reports whether n more nodes may be created.
func (e *expander) count(at Position, n int) bool {
	if e.nodes += n; e.nodes > maxNodes && !e.full {
		e.full = true
		e.problems.add(e.file, at, "brace ranges make the file grow beyond %d values", maxNodes)
	}
	return !e.full
}

// value copies a node. The caller has determined how many copies there are.
func (e *expander) value(n *Node, s *scope) *Node {
	if !e.count(n.At, 1+len(n.Text)/100) {
		return &Node{Kind: Bad, At: n.At}
	}
	made := &Node{Kind: n.Kind, At: n.At, flow: n.flow}
	switch n.Kind {
	case Scalar:
		e.scalar(n, s, made)
	case List:
		for _, item := range n.Items {
			for inner := range e.combinations(e.itemRanges(item, nil), s) {
				made.Items = append(made.Items, e.value(item, inner))
			}
		}
	case Mapping:
		seen := map[string]Position{}
		for _, entry := range n.Entries {
			for inner := range e.combinations(e.keyRanges(entry.Key), s) {
				key := e.value(entry.Key, inner)
				value := e.value(entry.Value, inner)
				if earlier, twice := seen[key.Text]; twice && key.Kind == Scalar {
					e.problems.add(e.file, key.At, "key %q is given twice, first in line %d", key.Text, earlier.Line)
				}
				seen[key.Text] = key.At
				made.Entries = append(made.Entries, Entry{key, value})
			}
		}
	}
	return made
}

// scalar sets the text of a copy.
func (e *expander) scalar(n *Node, s *scope, made *Node) {
	t := e.template(n)
	if t == nil {
		made.Kind = Bad
		return
	}
	var text strings.Builder
	for i := range t {
		p := &t[i]
		if p.first == nil {
			text.WriteString(p.text)
			continue
		}
		value, known := s.find(func(r *part) bool { return r == p })
		if !known {
			var err error
			if value, err = evaluate(p.first, s.name); p.isRange() {
				e.problems.add(e.file, n.At,
					"%q: nothing can be repeated here; a range belongs in a key or in an item of a list", n.Text)
				err = errSyntax
			} else if err != nil {
				e.problems.add(e.file, n.At, "%q: %v", n.Text, err)
			}
			if err != nil {
				made.Kind = Bad
				return
			}
		}
		text.WriteString(strconv.Itoa(value))
	}
	made.Text = text.String()
}

// found is a range with the scalar that contains it.
type found struct {
	*part
	in *Node
}

func (e *expander) keyRanges(n *Node) []found {
	var list []found
	t := e.template(n)
	for i := range t {
		if t[i].isRange() {
			list = append(list, found{&t[i], n})
		}
	}
	return list
}

// itemRanges collects the ranges that repeat a list item.
func (e *expander) itemRanges(n *Node, list []found) []found {
	switch n.Kind {
	case Scalar:
		list = append(list, e.keyRanges(n)...)
	case Mapping:
		for _, entry := range n.Entries {
			if len(e.keyRanges(entry.Key)) == 0 {
				list = e.itemRanges(entry.Value, list)
			}
		}
	}
	return list
}

// combinations returns a scope for each combination of the numbers of the ranges. Without ranges it
// returns only outer; after a mistake, nothing.
func (e *expander) combinations(ranges []found, outer *scope) iter.Seq[*scope] {
	none := func(func(*scope) bool) {}
	if len(ranges) == 0 {
		return func(yield func(*scope) bool) { yield(outer) }
	}
	var parts []*part
	var from, width []int
	names := map[string]bool{}
	copies := 1
	for _, r := range ranges {
		first, err := evaluate(r.first, outer.name)
		last := 0
		if err == nil {
			last, err = evaluate(r.last, outer.name)
		}
		_, bound := outer.name(r.name)
		switch {
		case err != nil:
			e.problems.add(e.file, r.in.At, "%q: %v", r.in.Text, err)
			return none
		case first > last:
			e.problems.add(e.file, r.in.At, "%q: the range runs backwards, from %d to %d", r.in.Text, first, last)
			return none
		case r.name != "" && (bound || names[r.name]):
			e.problems.add(e.file, r.in.At, "%q: %q is already bound; write {%s} to use it, or bind another name",
				r.in.Text, r.name, r.name)
			return none
		case last-first+1 > maxCopies/copies:
			e.problems.add(e.file, r.in.At, "%q: more than %d copies", r.in.Text, maxCopies)
			return none
		}
		copies *= last - first + 1
		names[r.name] = true
		parts, from, width = append(parts, r.part), append(from, first), append(width, last-first+1)
	}
	const perNode = 10 // numbers of ranges that take as much time as a node
	if !e.count(ranges[0].in.At, copies*(1+len(parts)/perNode)) {
		return none
	}
	return func(yield func(*scope) bool) {
		for i := range copies {
			values := make([]int, len(parts))
			for rest, k := i, len(parts)-1; k >= 0; k-- {
				values[k] = from[k] + rest%width[k]
				rest /= width[k]
			}
			if !yield(&scope{outer, parts, values}) || e.full {
				return
			}
		}
	}
}
