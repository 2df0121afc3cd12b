package shellscript

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// assigned makes the variables unknown that a node assigns. By is the format of what assigns them.
func (s *Script) assigned(n syntax.Node, by string) {
	forget := func(name string) {
		s.vars[name] = value{depends: "$" + name + ", which is set by " + fmt.Sprintf(by, s.line(n))}
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		s.spend(item)
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				forget(n.Name.Value)
			}
		case *syntax.UnaryArithm:
			if w, is := n.X.(*syntax.Word); is && (n.Op == syntax.Inc || n.Op == syntax.Dec) {
				forget(w.Lit())
			}
		case *syntax.BinaryArithm:
			if w, is := n.X.(*syntax.Word); is && strings.HasSuffix(n.Op.String(), "=") && w.Lit() != "" {
				forget(w.Lit())
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == "read" {
				for _, w := range n.Args[1:] {
					if name := w.Lit(); syntax.ValidName(name) {
						forget(name)
					}
				}
			}
		}
		return true
	})
}

// assign sets a variable.
func (s *Script) assign(a *syntax.Assign) {
	if a.Name == nil || a.Naked || !s.spend(item) {
		return
	}
	name := a.Name.Value
	was := s.vars[name]
	v, err := s.assignment(a, was)
	if err != nil {
		v = value{depends: via(name, err.Error())}
		if own := "$" + name; strings.HasPrefix(err.Error(), own) { // X=${X}/y
			v.depends = err.Error()
		}
	}
	if v.depends == "" && was.depends != "" && (a.Append || a.Index != nil) {
		v = was
	}
	if len(v.Str) > maxValue || len(v.List)+len(v.Map) > maxFields {
		v = value{depends: "$" + name + ", which is too long to be followed"}
	}
	s.vars[name] = v
}

func (s *Script) assignment(a *syntax.Assign, was value) (v value, err error) {
	if a.Array != nil {
		return s.array(a, was)
	}
	text, assumed, err := s.literal(a.Value)
	if err != nil {
		return v, err
	}
	if a.Index != nil {
		return s.element(a, was, text)
	}
	if a.Append {
		text = was.Str + text
		s.spend(item * len(was.assumes))
		assumed = sorted(was.assumes, assumed)
	}
	v = known(text)
	v.assumes = assumed
	return v, nil
}

// array returns the value of x=(a b) and x=([a]=b).
func (s *Script) array(a *syntax.Assign, was value) (v value, err error) {
	v.Set, v.Kind = true, expand.Indexed
	if was.Kind == expand.Associative {
		v.Kind, v.Map = expand.Associative, map[string]string{}
	}
	if a.Append {
		s.spend(item * (len(was.List) + len(was.Map)))
		v.List = slices.Clone(was.List)
		maps.Copy(v.Map, was.Map)
	}
	for _, e := range a.Array.Elems {
		if e.Index != nil {
			text, _, err := s.literal(e.Value)
			if err != nil {
				return v, err
			}
			if v, err = s.element(&syntax.Assign{Name: a.Name, Index: e.Index}, v, text); err != nil {
				return v, err
			}
			continue
		}
		words, _ := s.fields([]*syntax.Word{e.Value})
		for _, w := range words {
			if w.Depends != "" {
				return v, dependsError{w.Depends}
			}
			v.List = append(v.List, w.Text)
		}
	}
	return v, nil
}

// element returns an array with an element that is assigned.
func (s *Script) element(a *syntax.Assign, was value, text string) (value, error) {
	if !s.spend(item * (len(was.List) + len(was.Map))) {
		return was, errFull
	}
	if was.Kind == expand.Associative {
		w, is := a.Index.(*syntax.Word)
		if !is {
			return was, dependsError{"an index that is not known"}
		}
		key, _, err := s.literal(w)
		if err != nil {
			return was, err
		}
		was.Map = maps.Clone(was.Map)
		if was.Map == nil {
			was.Map = map[string]string{}
		}
		if a.Append {
			text = was.Map[key] + text
		}
		was.Map[key] = text
		return was, nil
	}
	n, err := s.number(a.Index)
	if err != nil || n < 0 || n > len(was.List) {
		return was, dependsError{"an index that is not known"}
	}
	was.Set, was.Kind, was.List = true, expand.Indexed, slices.Clone(was.List)
	if n == len(was.List) {
		was.List = append(was.List, text)
	} else {
		was.List[n] = text
	}
	return was, nil
}

// declare follows declare, local, export and readonly.
func (s *Script) declare(c *syntax.DeclClause) {
	associative := false
	for _, a := range c.Args {
		if !s.spend(item) {
			return
		}
		if a.Naked && a.Name == nil { // an option
			associative = associative || strings.Contains(a.Value.Lit(), "A")
			continue
		}
		if a.Name == nil {
			continue
		}
		name := a.Name.Value
		if c.Variant.Value == "local" && len(s.locals) > 0 {
			if _, saved := s.locals[len(s.locals)-1][name]; !saved {
				s.locals[len(s.locals)-1][name] = s.vars[name]
			}
		}
		if associative {
			s.vars[name] = value{Variable: expand.Variable{Set: true, Kind: expand.Associative,
				Map: map[string]string{}}}
		}
		s.assign(a)
	}
}
