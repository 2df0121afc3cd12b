// Command attach appends the agent of a lab's hosts, and that for hosts without linerate, to linerate: attach LINERATE
// AGENT CARRIED.
package main

import (
	"fmt"
	"os"

	"linerate/internal/kernel/attached"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: attach LINERATE AGENT CARRIED")
		os.Exit(2)
	}
	programs := map[attached.Kind]string{attached.Lab: os.Args[2], attached.Carried: os.Args[3]}
	if err := attached.Append(os.Args[1], programs); err != nil {
		fmt.Fprintln(os.Stderr, "attach:", err)
		os.Exit(1)
	}
}
