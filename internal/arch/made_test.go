package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// makers are the names of package os by which files are made, moved or removed.
var makers = []string{"Create", "CreateTemp", "Link", "Mkdir", "MkdirAll", "MkdirTemp", "O_CREATE", "Remove",
	"RemoveAll", "Rename", "Symlink", "WriteFile"}

// made has, for each directory whose code makes files, the words by which docs/files.md lists them; empty: it makes
// none of its own.
var made = map[string]string{
	"internal/control/notebook/sqlite": "notebook.db",
	"internal/control/tune":            "tune --keep",
	"internal/host/apply":              "journal-NODE-NETNS.jsonl",
	"internal/host/bgp":                "BIRD",
	"internal/host/service":            "nginx, nsd, Postfix",
	"internal/host/snmpd":              "snmpd",
	"internal/kernel/file":             "", // by which the others make theirs
	"internal/show/cli":                "fix --out",
	"internal/show/export":             "export --out",
	"internal/show/html":               "runs/RUN/report.html",
}

// TestFilesAreListed: docs/files.md lists what each of them makes.
func TestFilesAreListed(t *testing.T) {
	text := documents(t)["docs/files.md"]
	seen := map[string]bool{}
	for _, s := range sources(t) {
		if s.test || isKit(s.dir) || !within(s.dir, "internal") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			f, is := n.(*ast.SelectorExpr)
			if !is || !slices.ContainsFunc(makers, func(name string) bool { return selects(f, "os", name) }) {
				return true
			}
			seen[s.dir] = true
			if words, listed := made[s.dir]; !listed || !strings.Contains(text, words) {
				t.Errorf("%s: os.%s: docs/files.md does not list what it makes", s.path, f.Sel.Name)
			}
			return true
		})
	}
	for dir := range made {
		if !seen[dir] {
			t.Errorf("%s is listed and makes no file", dir)
		}
	}
}
