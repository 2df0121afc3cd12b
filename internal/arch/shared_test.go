package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// pathFunctions are functions of package os that use a file by its name.
var pathFunctions = []string{"Chmod", "Chown", "Chtimes", "Create", "CreateTemp", "Lchown", "Link", "Lstat", "Mkdir",
	"MkdirAll", "MkdirTemp", "Open", "OpenFile", "ReadDir", "ReadFile", "Remove", "RemoveAll", "Rename", "Stat", "Symlink",
	"Truncate", "WriteFile"}

// sharedDirectories begin the paths that other users can write to.
var sharedDirectories = []string{"/tmp", "/var/tmp", "/dev/shm"}

// TestSharedDirectories: a package that works in a directory that other users can write to uses a file by its
// descriptor (file.Directory), and no name twice: between two uses another user may put a link there.
func TestSharedDirectories(t *testing.T) {
	shared := map[string]bool{}
	var all []source
	for _, s := range sources(t) {
		if !s.test && !isKit(s.dir) && within(s.dir, "internal") {
			all = append(all, s)
			shared[s.dir] = shared[s.dir] || inShared(s)
		}
	}
	if n := len(slices.DeleteFunc(slices.Clone(all), func(s source) bool { return !shared[s.dir] })); n < 2 {
		t.Errorf("%d files work in shared directories: the test looks for the wrong thing", n)
	}
	for _, s := range all {
		if shared[s.dir] {
			for _, complaint := range pathViolations(s) {
				t.Error(complaint)
			}
		}
	}
}

// inShared reports whether a file names a shared directory.
func inShared(s source) (is bool) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			is = is || selects(n, "os", "TempDir")
		case *ast.CallExpr: // an empty directory is os.TempDir
			f, called := n.Fun.(*ast.SelectorExpr)
			if called && (selects(f, "os", "CreateTemp") || selects(f, "os", "MkdirTemp")) {
				at, literal := n.Args[0].(*ast.BasicLit)
				is = is || literal && at.Value == `""`
			}
		}
		return true
	})
	return is
}

// pathViolations lists where a file uses package os by name, in a package of a shared directory.
func pathViolations(s source) (list []string) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		f, is := n.(*ast.SelectorExpr)
		if is && slices.ContainsFunc(pathFunctions, func(name string) bool { return selects(f, "os", name) }) {
			list = append(list, fmt.Sprintf("%s: os.%s beside a shared directory: use file.Directory", s.path,
				f.Sel.Name))
		}
		text, is := n.(*ast.BasicLit)
		if is && slices.ContainsFunc(sharedDirectories, func(d string) bool {
			return strings.HasPrefix(strings.Trim(text.Value, "`\""), d+"/")
		}) {
			list = append(list, fmt.Sprintf("%s: %s is in a shared directory: use os.TempDir and file.Directory", s.path,
				text.Value))
		}
		return true
	})
	return list
}

// selects reports whether an expression is a name of a package.
func selects(e *ast.SelectorExpr, pkg, name string) bool {
	of, is := e.X.(*ast.Ident)
	return is && of.Name == pkg && e.Sel.Name == name
}
