package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// dataOnly are directories whose findings are data: package wording says them in words.
var dataOnly = []string{"internal/model/cause", "internal/model/fact", "internal/model/hint",
	"internal/science/bottleneck", "internal/science/diagnose", "internal/science/trust", "internal/science/tuning"}

// TestNoSentences: a text with two blanks is a sentence or a part of one, which stands in package
// wording. Errors are texts and regular expressions are of others' texts: both are excepted, as are
// packages for tests.
func TestNoSentences(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || strings.HasSuffix(s.dir, "test") || !slices.ContainsFunc(dataOnly, func(dir string) bool {
			return within(s.dir, dir)
		}) {
			continue
		}
		for _, complaint := range sentences(s) {
			t.Error(complaint)
		}
	}
}

// sentences are the texts of a file with two blanks or more that are no texts of errors or regular
// expressions, and not numbers alone.
func sentences(s source) (complaints []string) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			x, method := callee(n)
			if f, is := n.Fun.(*ast.Ident); is {
				method = f.Name
			}
			if x == "errors" || x == "regexp" || x == "fmt" && method == "Errorf" || method == "panic" {
				return false
			}
		case *ast.ImportSpec, *ast.Field: // tags
			return false
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(n.Value)
			letters := strings.ContainsFunc(strings.ReplaceAll(text, "%d", ""), unicode.IsLetter)
			if err == nil && letters && strings.Count(strings.TrimSpace(text), " ") > 1 {
				complaints = append(complaints, fmt.Sprintf("%s:%d: a sentence: %s", s.path,
					s.fset.Position(n.Pos()).Line, n.Value))
			}
		}
		return true
	})
	return complaints
}
