package arch

import (
	"fmt"
	"go/ast"
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
	ast.Inspect(s.file, func(n ast.Node) bool {
		made, is := n.(*ast.CompositeLit)
		if !is {
			return true
		}
		of := made.Type
		if generic, is := of.(*ast.IndexListExpr); is {
			of = generic.X
		}
		if sel, is := of.(*ast.SelectorExpr); is && (sel.Sel.Name == "Verb" || sel.Sel.Name == "Handling") {
			found = append(found, fmt.Sprintf("%s: a %s: %s", s.fset.Position(n.Pos()), sel.Sel.Name, why))
		}
		return true
	})
	return found
}
