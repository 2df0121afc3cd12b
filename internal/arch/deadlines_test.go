package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// TestDeadlines: a loop of a test that sleeps until something is so has an end of its own, as
// kerneltest.Await has: otherwise the test hangs where it should fail. A loop that reads at a
// pace ends with its stream, and a benchmark by the user.
func TestDeadlines(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test && !isKit(s.dir) || strings.HasSuffix(s.path, "bench_test.go") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			loop, ok := n.(*ast.ForStmt)
			if !ok || !sleeps(loop) {
				return true
			}
			text := s.text[s.fset.Position(loop.Pos()).Offset:s.fset.Position(loop.End()).Offset]
			for _, ends := range []string{"time.Now", "time.Since", "time.Until", "sched.Now", ".Done()", ".Err()",
				"++", "--", "Read(", "ReadFull(", "ReadRequest(", ".Wait("} {
				if strings.Contains(text, ends) {
					return true
				}
			}
			t.Errorf("%s: a wait without a deadline: kerneltest.Await has one", s.fset.Position(loop.Pos()))
			return true
		})
	}
}

// sleeps reports whether a loop does, itself or in what it calls in place.
func sleeps(loop *ast.ForStmt) (found bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok {
			x, method := callee(call)
			found = found || x == "time" && method == "Sleep"
		}
		return !found
	})
	return found
}
