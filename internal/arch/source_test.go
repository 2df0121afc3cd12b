package arch

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// source is one Go file of the module.
type source struct {
	path string // below the module's root, with slashes
	dir  string
	test bool
	text string
	file *ast.File
	fset *token.FileSet
}

// imports maps each import path of the file to its position.
func (s source) imports() map[string]token.Position {
	all := make(map[string]token.Position)
	for _, spec := range s.file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			all[path] = s.fset.Position(spec.Pos())
		}
	}
	return all
}

// localName is what the file calls an imported package; "" when it does not
// import it.
func (s source) localName(path string) string {
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		base := path[strings.LastIndex(path, "/")+1:]
		if strings.HasPrefix(base, "v") && strings.Count(path, "/") > 0 {
			if _, err := strconv.Atoi(base[1:]); err == nil { // math/rand/v2
				parent := path[:strings.LastIndex(path, "/")]
				return parent[strings.LastIndex(parent, "/")+1:]
			}
		}
		return base
	}
	return ""
}

// uses calls f for every name the file takes from an imported package.
func (s source) uses(path string, f func(name string, at token.Position)) {
	local := s.localName(path)
	if local == "" {
		return
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// An identifier without an object is a package's name, not a variable.
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == local && id.Obj == nil {
			f(sel.Sel.Name, s.fset.Position(sel.Pos()))
		}
		return true
	})
}

// moduleRoot is the directory of go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the test's directory")
		}
		dir = parent
	}
}

// walk calls f with every file that belongs to the project: not what is built,
// recorded or hidden (but .ci is ours).
func walk(t *testing.T, f func(file, slash string)) {
	t.Helper()
	if err := walkModule(func(file, slash string) error { f(file, slash); return nil }); err != nil {
		t.Fatal(err)
	}
}

func walkModule(f func(file, slash string) error) error {
	root, err := root()
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		slash := filepath.ToSlash(rel)
		if !d.IsDir() {
			return f(file, slash)
		}
		name := d.Name()
		if slash == "bin" || slash == "runs" || slash != "." && strings.HasPrefix(name, ".") && name != ".ci" {
			return filepath.SkipDir
		}
		return nil
	})
}

// sources returns every Go file of the module, whatever its build constraints. They are parsed once.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var parsed = sync.OnceValues(func() (all []source, err error) {
	fset := token.NewFileSet()
	err = walkModule(func(file, slash string) error {
		if !strings.HasSuffix(slash, ".go") || strings.Contains(slash, "testdata/") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s := source{path: slash, test: strings.HasSuffix(slash, "_test.go"), text: string(text), fset: fset}
		if i := strings.LastIndex(slash, "/"); i >= 0 {
			s.dir = slash[:i]
		}
		if s.file, err = parser.ParseFile(fset, slash, text, parser.ParseComments); err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errors.New("no Go files found")
	}
	return all, err
})

// within reports whether a directory is another or lies below it.
func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

// isKit reports whether a package is there for tests only.
func isKit(dir string) bool {
	base := path.Base(dir)
	return strings.HasSuffix(base, "test") || base == "conformance"
}

// layerOf finds the layer of a directory.
func layerOf(dir string) (layer, bool) {
	for _, r := range layers {
		if within(dir, r.dir) {
			return r, true
		}
	}
	return layer{}, false
}

// matches reports whether an import path is one of the patterns; a pattern that
// ends in / stands for everything below it.
func matches(path string, patterns []string) bool {
	for _, p := range patterns {
		if path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}
