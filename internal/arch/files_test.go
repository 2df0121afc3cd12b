package arch

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// TestFilesInOrder: in the packages below internal/show, files that use each other's
// names do so in one direction. Package imports show that direction between packages
// only.
func TestFilesInOrder(t *testing.T) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./internal/show/...")
	list.Dir, list.Stderr = moduleRoot(t), os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	var checked []listed
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if dir := strings.TrimPrefix(p.ImportPath, module); within(dir, "internal/show") && !isKit(dir) {
			checked = append(checked, p)
		}
	}
	if len(checked) < 5 {
		t.Fatalf("%d packages below internal/show", len(checked))
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, p := range checked {
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		for _, circle := range circles(t, p.ImportPath, fset, imports, files) {
			t.Errorf("%s: files use each other's names in a circle: %s", p.ImportPath, strings.Join(circle, " → "))
		}
	}
}

// TestCirclesAreFound: a method counts as a use of the file that declares it.
func TestCirclesAreFound(t *testing.T) {
	for want, texts := range map[string][]string{
		"":      {"type T struct{}; func (T) M() {}", "func F() { T{}.M() }"},
		"a → b": {"type T struct{}; func (T) M() { F() }", "func F() { T{}.M() }"},
	} {
		fset := token.NewFileSet()
		var files []*ast.File
		for i, text := range texts {
			file, err := parser.ParseFile(fset, string(rune('a'+i)), "package x;"+text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		var got []string
		for _, circle := range circles(t, "x", fset, nil, files) {
			got = append(got, strings.Join(circle, " → "))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: circles %q, want %q", texts, got, want)
		}
	}
}

// circles returns the groups of files of a package that reach each other by the
// package-level names and methods that they use.
func circles(t *testing.T, path string, fset *token.FileSet, imports types.Importer, files []*ast.File) [][]string {
	t.Helper()
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	pkg, err := (&types.Config{Importer: imports}).Check(path, fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	fileOf := func(at token.Pos) string { return filepath.Base(fset.Position(at).Filename) }
	uses := make(map[string]map[string]bool)
	for id, object := range info.Uses {
		_, isMethod := object.(*types.Func)
		if object.Pkg() != pkg || object.Parent() != pkg.Scope() && !isMethod {
			continue // a local name or a field: the use of a field's struct counts
		}
		from, to := fileOf(id.Pos()), fileOf(object.Pos())
		if uses[from] == nil {
			uses[from] = make(map[string]bool)
		}
		uses[from][to] = true
	}
	reach := make(map[string]map[string]bool)
	for from := range uses {
		reach[from] = make(map[string]bool)
		for next := []string{from}; len(next) > 0; next = next[1:] {
			for to := range uses[next[0]] {
				if to != next[0] && !reach[from][to] {
					reach[from][to] = true
					next = append(next, to)
				}
			}
		}
	}
	var found [][]string
	for from := range reach {
		var circle []string
		for other := range reach[from] {
			if reach[other][from] {
				circle = append(circle, other)
			}
		}
		slices.Sort(circle)
		if len(circle) > 1 && circle[0] == from {
			found = append(found, circle)
		}
	}
	return found
}
