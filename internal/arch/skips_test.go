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
	"internal/kernel/kerneltest/kerneltest.go":           "asks by its constant, and counts skips",
	"internal/kernel/kerneltest/kerneltest_linux.go":     "passes on a skip from inside the namespace",
	"internal/kernel/machinetest/packages_linux_test.go": "runs what script/machines is given",
	"internal/kernel/machinetest/kernel_linux.go":        "asks for a variable of its own, LINERATE_REQUIRE_MACHINES",
	"internal/host/stream/kit_test.go":                   "what the portable code does not have needs Linux",
	"internal/host/iperf3/server/slow_test.go":           "takes as long as a client may: make soak",
	"internal/show/cli/pairs_test.go":                    "needs programs that script/portable builds",
	"internal/show/cli/tune_netns_test.go":               "takes minutes: make soak",
	"internal/show/cli/soak_netns_test.go":               "takes minutes or hours: make soak",
}

// TestSkips: a function that skips a test asks for the variable first.
func TestSkips(t *testing.T) {
	excused := make(map[string]bool)
	for _, s := range sources(t) {
		if !s.test && !isKit(s.dir) || within(s.dir, "internal/arch") {
			continue
		}
		bare := bareSkips(s)
		if _, ok := otherSkips[s.path]; ok {
			excused[s.path] = len(bare) > 0
			continue
		}
		for _, name := range bare {
			t.Errorf("%s: %s skips without asking for %s; a skip for another reason belongs into otherSkips", s.path,
				name, requireNetns)
		}
	}
	for path := range otherSkips {
		if !excused[path] {
			t.Errorf("otherSkips excuses %s, which skips nothing without asking", path)
		}
	}
}

// bareSkips are the functions that call Skip, Skipf or SkipNow and do not
// mention the variable; benchmarks are not counted, since they check nothing.
func bareSkips(s source) []string {
	var bare []string
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || strings.HasPrefix(f.Name.Name, "Benchmark") {
			continue
		}
		skips := false
		ast.Inspect(f.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Skip" && sel.Sel.Name != "Skipf" && sel.Sel.Name != "SkipNow" {
				return true
			}
			// A variable, such as t; a test kit's own Skip asks by itself.
			if id, ok := sel.X.(*ast.Ident); !ok || id.Obj != nil {
				skips = true
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
