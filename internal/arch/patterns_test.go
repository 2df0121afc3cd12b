package arch

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"testing"
)

// TestPatterns: the regular expressions of package pattern compile, which they do only when they are first used.
// Expressions that are put together when the program runs are left to its tests.
func TestPatterns(t *testing.T) {
	const made = module + "internal/model/pattern"
	checked := 0
	for _, p := range typed(t, "./internal/...", func(p listed) bool { return slices.Contains(p.Imports, made) }) {
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				call, is := n.(*ast.CallExpr)
				if !is || len(call.Args) != 1 {
					return true
				}
				if name, is := call.Fun.(*ast.SelectorExpr); !is || name.Sel.Name != "MustCompile" {
					return true
				} else if f, is := p.info.Uses[name.Sel].(*types.Func); !is || f.Pkg().Path() != made {
					return true
				}
				if value := p.info.Types[call.Args[0]].Value; value != nil {
					checked++
					if _, err := regexp.Compile(constant.StringVal(value)); err != nil {
						t.Errorf("%s: %v", p.fset.Position(call.Pos()), err)
					}
				}
				return true
			})
		}
	}
	if checked < 300 {
		t.Errorf("%d patterns", checked)
	}
}
