// Command attach appends the program of a lab's hosts to linerate: attach LINERATE AGENT.
package main

import (
	"fmt"
	"os"

	"linerate/internal/kernel/attached"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: attach LINERATE AGENT")
		os.Exit(2)
	}
	if err := attached.Append(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "attach:", err)
		os.Exit(1)
	}
}
