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
	GoFiles, Imports        []string
}

// typedPackage is a package whose types have been checked.
type typedPackage struct {
	listed
	fset  *token.FileSet
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// typed checks the types of the packages that match a pattern of go list and are wanted.
func typed(t *testing.T, matching string, wanted func(listed) bool) (all []typedPackage) {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports", matching)
	list.Dir, list.Stderr = moduleRoot(t), os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	fset := token.NewFileSet()
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		p := typedPackage{fset: fset}
		if err := d.Decode(&p.listed); err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module) && wanted(p.listed) {
			all = append(all, p)
		}
	}
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for i := range all {
		p := &all[i]
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, file)
		}
		p.check(t, imports)
	}
	return all
}

// check sets the package and its info from its files.
func (p *typedPackage) check(t *testing.T, imports types.Importer) {
	t.Helper()
	p.info = &types.Info{Uses: make(map[*ast.Ident]types.Object), Types: make(map[ast.Expr]types.TypeAndValue)}
	var err error
	if p.pkg, err = (&types.Config{Importer: imports}).Check(p.ImportPath, p.fset, p.files, p.info); err != nil {
		t.Fatal(err)
	}
}

// TestFilesInOrder: in the packages below internal/show, files that use each other's
// names do so in one direction. Package imports show that direction between packages
// only.
func TestFilesInOrder(t *testing.T) {
	checked := typed(t, "./internal/show/...", func(p listed) bool {
		dir := strings.TrimPrefix(p.ImportPath, module)
		return within(dir, "internal/show") && !isKit(dir)
	})
	if len(checked) < 5 {
		t.Fatalf("%d packages below internal/show", len(checked))
	}
	for _, p := range checked {
		for _, circle := range circles(p) {
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
		p := typedPackage{listed: listed{ImportPath: "x"}, fset: token.NewFileSet()}
		for i, text := range texts {
			file, err := parser.ParseFile(p.fset, string(rune('a'+i)), "package x;"+text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, file)
		}
		p.check(t, nil)
		var got []string
		for _, circle := range circles(p) {
			got = append(got, strings.Join(circle, " → "))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: circles %q, want %q", texts, got, want)
		}
	}
}

// circles returns the groups of files of a package that reach each other by the
// package-level names and methods that they use.
func circles(p typedPackage) [][]string {
	fileOf := func(at token.Pos) string { return filepath.Base(p.fset.Position(at).Filename) }
	uses := make(map[string]map[string]bool)
	for id, object := range p.info.Uses {
		_, isMethod := object.(*types.Func)
		if object.Pkg() != p.pkg || object.Parent() != p.pkg.Scope() && !isMethod {
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
