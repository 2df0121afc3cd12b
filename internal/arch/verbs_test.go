package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"testing"
)

// TestVerbs: what agents are asked is defined in package message alone, with its types, and
// nothing asks by a name, or answers to one.
func TestVerbs(t *testing.T) {
	for _, s := range sources(t) {
		for _, v := range verbViolations(s) {
			t.Error(v)
		}
	}
}

// verbViolations are verbs and handlings that are made of a name.
func verbViolations(s source) (found []string) {
	if s.test || s.dir == "internal/model/message" || s.dir == "internal/bus" {
		return nil
	}
	const why = "verbs are values of package message, by which bus.Call and bus.Handle know the types"
	s.uses("linerate/internal/model/message", func(name string, at token.Position) {
		if name == "Verb" {
			found = append(found, fmt.Sprintf("%s: message.Verb: %s", at, why))
		}
	})
	ast.Inspect(s.file, func(n ast.Node) bool {
		if made, is := n.(*ast.CompositeLit); is {
			if of, is := made.Type.(*ast.SelectorExpr); is && of.Sel.Name == "Handling" {
				found = append(found, fmt.Sprintf("%s: a Handling: %s", s.fset.Position(n.Pos()), why))
			}
		}
		return true
	})
	return found
}
