// Command linerate finds out why a network is not running at line rate, and proves the
// fix. All verbs are in internal/show/cli.
package main

import (
	"os"

	"linerate/internal/show/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
