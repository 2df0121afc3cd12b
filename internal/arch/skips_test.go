package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// requireNetns is the variable under which a test that cannot have a namespace
// fails instead of being skipped, so that a skip cannot hide a fault.
const requireNetns = "LINERATE_REQUIRE_NETNS"

// otherSkips are test files that skip for another reason than namespaces.
var otherSkips = map[string]string{
	"internal/host/traffic/options_test.go": "a kernel may allow no second congestion control",
	"internal/host/traffic/engine_test.go":  "a machine may have no IPv6",
}

// TestSkips: a function that skips a test asks for the variable first.
func TestSkips(t *testing.T) {
	for _, s := range sources(t) {
		if _, ok := otherSkips[s.path]; ok || !s.test && !strings.HasSuffix(s.dir, "test") || within(s.dir, "internal/arch") {
			continue
		}
		for _, name := range bareSkips(s) {
			t.Errorf("%s: %s skips without asking for %s; a skip for another reason belongs into otherSkips", s.path, name, requireNetns)
		}
	}
}

// bareSkips are the functions that call Skip, Skipf or SkipNow and do not
// mention the variable.
func bareSkips(s source) []string {
	var bare []string
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		skips := false
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Skip" || sel.Sel.Name == "Skipf" || sel.Sel.Name == "SkipNow") {
					skips = true
				}
			}
			return true
		})
		body := s.text[s.fset.Position(f.Body.Pos()).Offset:s.fset.Position(f.Body.End()).Offset]
		if skips && !strings.Contains(body, requireNetns) {
			bare = append(bare, f.Name.Name)
		}
	}
	return bare
}
