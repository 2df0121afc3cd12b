// Command release makes what people install: static archives for every system, .deb and
// .rpm packages with manual pages and shell completions, and checksums.
//
//	release -version v1.2.3 -out dist
//
// It is a module of its own, so that its libraries are not dependencies of linerate.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	version := flag.String("version", "", "version to build, such as v1.2.3")
	out := flag.String("out", "dist", "directory to write into")
	flag.Parse()
	if *version == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: release -version VERSION [-out DIR]")
		os.Exit(2)
	}
	files, err := release(*version, *out, targets)
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	for _, f := range files {
		fmt.Println(filepath.Join(*out, f))
	}
}
