// Command types type-checks all packages and their tests for each argument, such as freebsd/amd64 or,
// with a build tag, linux/amd64,portable, and reports the errors that a compiler would find: imports,
// constraints, names and types. It takes seconds where a build takes minutes, since it generates no
// code. Errors that only code generation and linking find are left to the builds of script/cross and
// script/release.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
)

func main() {
	wrong := 0
	for _, target := range os.Args[1:] {
		system, arch, _ := strings.Cut(target, "/")
		arch, tag, _ := strings.Cut(arch, ",")
		begin := time.Now()
		// Without NeedDeps the types of dependencies would be read from what a build of
		// them exports. Of those, only what they declare is of interest.
		list, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
				packages.NeedSyntax,
			Env:       append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0"),
			Tests:     true,
			ParseFile: parse, BuildFlags: []string{"-tags=" + tag},
		}, "./...")
		if err != nil {
			fmt.Fprintf(os.Stderr, "types: %s: %v\n", target, err)
			os.Exit(1)
		}
		if n := errorsOf(list); n > 0 || len(list) == 0 {
			fmt.Fprintf(os.Stderr, "types: %s: %d errors in %d packages\n", target, n, len(list))
			wrong++
			continue
		}
		fmt.Printf("types for %s: %.0f s\n", target, time.Since(begin).Seconds())
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

// parse parses a file; one of another module or the standard library without the bodies of its
// functions, which take most of the time and are checked where they are made.
func parse(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	own := filepath.Ext(name) != ".go" // main of a test, made by go list
	if dir, wrong := os.Getwd(); wrong != nil || strings.HasPrefix(name, dir+string(filepath.Separator)) {
		own = true
	}
	if err != nil || own {
		return file, err
	}
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if is && f.Type.TypeParams == nil && f.Name.Name != "init" { // which need theirs
			f.Body = nil
		}
	}
	return file, nil
}

// errorsOf prints the errors of packages, without those of what they import, and returns their number.
func errorsOf(list []*packages.Package) (n int) {
	for _, p := range list {
		for _, err := range p.Errors {
			fmt.Fprintln(os.Stderr, err)
			n++
		}
	}
	return n
}
