// Command manual writes linerate's manual pages and shell completions, generated from
// its command tree, to a directory for each kind: man, bash, zsh, fish.
//
//	go run ./script/manual -out DIR [-date 2026-01-31]
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra/doc"

	"linerate/internal/show/cli"
)

func main() {
	out := flag.String("out", "", "directory to write into")
	date := flag.String("date", "", "date of the manual pages, 2006-01-02; absent: today")
	flag.Parse()
	if err := write(*out, *date); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func write(out, date string) error {
	if out == "" {
		return errors.New("-out: expected a directory")
	}
	when := time.Now()
	if date != "" {
		var err error
		if when, err = time.Parse(time.DateOnly, date); err != nil {
			return fmt.Errorf("-date: %w", err)
		}
	}
	for _, kind := range []string{"man", "bash", "zsh", "fish"} {
		if err := os.MkdirAll(filepath.Join(out, kind), 0o755); err != nil {
			return err
		}
	}
	command := cli.Command()
	header := &doc.GenManHeader{Section: "1", Source: "linerate", Manual: "linerate", Date: &when}
	problems := []error{doc.GenManTree(command, header, filepath.Join(out, "man"))}
	for shell, name := range map[string]string{"bash": "linerate", "zsh": "_linerate", "fish": "linerate.fish"} {
		var text bytes.Buffer
		problems = append(problems, cli.WriteCompletion(&text, shell), os.WriteFile(filepath.Join(out, shell, name),
			text.Bytes(), 0o644))
	}
	return errors.Join(problems...)
}
