// Command types reports the errors of all packages and their tests as each argument,
// such as freebsd/amd64, would compile them: imports, constraints, names and types. It
// takes seconds where a build takes minutes, since no code is generated; what only code
// generation and linking find is left to the builds of script/release.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
)

func main() {
	wrong := 0
	for _, target := range os.Args[1:] {
		system, arch, _ := strings.Cut(target, "/")
		begin := time.Now()
		// Without NeedDeps the types of dependencies would be read from what a build of
		// them exports.
		list, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
				packages.NeedSyntax,
			Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0"),
			Tests: true,
		}, "./...")
		if err != nil {
			fmt.Fprintf(os.Stderr, "types: %s: %v\n", target, err)
			os.Exit(1)
		}
		if n := packages.PrintErrors(list); n > 0 || len(list) == 0 {
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
