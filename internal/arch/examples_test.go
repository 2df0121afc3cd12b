package arch

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var block = regexp.MustCompile("(?ms)^```(console|yaml)\n(.*?)^```$")

// touchesNothing are the verbs that the examples are executed with; of the
// others only the flags are checked.
var touchesNothing = []string{"studies", "show", "check", "schema", "limits"}

// TestExamples executes the commands in the documents. Commands start
// with "$ "; make targets must exist; linerate's verbs and flags must exist;
// verbs that touch nothing are run, in an empty directory, in the order of the
// document. YAML examples must pass linerate check.
func TestExamples(t *testing.T) {
	root := moduleRoot(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "bin", "linerate")
	build := exec.Command("go", "build", "-o", program, "./cmd/linerate")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	e := examples{t: t, dir: dir, program: program, makefile: string(makefile), helps: map[string]string{}}
	for name, text := range documents(t) {
		for _, m := range block.FindAllStringSubmatch(text, -1) {
			if m[1] == "yaml" {
				e.study(name, m[2])
				continue
			}
			for line := range strings.Lines(m[2]) {
				if command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
					command, _, _ = strings.Cut(command, " # ")
					e.command(name, command)
				}
			}
		}
	}
	if e.ran == 0 || e.studies == 0 {
		t.Errorf("ran %d commands and checked %d studies of the documents, want some of both", e.ran, e.studies)
	}
}

type examples struct {
	t                      *testing.T
	dir, program, makefile string
	ran, studies           int
	helps                  map[string]string // what a verb's --help has printed
}

// run executes a command line of a document and returns its stdout.
func (e *examples) run(name, command string) string {
	e.t.Helper()
	out, errs, err := e.execute(command)
	if err != nil {
		e.t.Errorf("%s: %s: %v\n%s", name, command, err, errs)
	}
	return out
}

// execute executes a command line in the empty directory.
func (e *examples) execute(command string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = e.dir, &out, &errs
	cmd.Env = append(os.Environ(), "HOME="+e.dir, "XDG_STATE_HOME=", "PATH="+filepath.Dir(e.program)+
		string(os.PathListSeparator)+os.Getenv("PATH"))
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// missing matches what linerate says of a program that a study needs.
var missing = regexp.MustCompile(`(\S+) is not installed`)

// study checks a study, or an inventory. Its programs need not be on this machine: they are not run.
func (e *examples) study(name, text string) {
	e.studies++
	file := filepath.Join(e.dir, "example.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
	check := "bin/linerate check example.yaml"
	if strings.HasPrefix(text, "hosts:") {
		check = "bin/linerate hosts --inventory example.yaml"
	}
	_, errs, _ := e.execute(check)
	for _, m := range missing.FindAllStringSubmatch(errs, -1) {
		standIn := filepath.Join(filepath.Dir(e.program), m[1])
		if err := os.WriteFile(standIn, []byte("#!/bin/false\n"), 0o700); err != nil {
			e.t.Fatal(err)
		}
	}
	e.run(name, check)
}

func (e *examples) command(name, command string) {
	words := strings.Fields(command)
	switch {
	case words[0] == "make":
		for _, target := range words[1:] {
			if !strings.Contains(e.makefile, "\n"+target+":") {
				e.t.Errorf("%s: %s: the Makefile has no target %s", name, command, target)
			}
		}
	case filepath.Base(words[0]) == "linerate" && len(words) > 1:
		e.linerate(name, command, words[1:])
	}
}

func (e *examples) linerate(name, command string, words []string) {
	verb := words[:1]
	if slices.Contains([]string{"lab", "limits", "new"}, words[0]) && len(words) > 1 {
		verb = words[:2]
	}
	help, known := e.helps[strings.Join(verb, " ")]
	if !known {
		help = e.run(name, "bin/linerate "+strings.Join(verb, " ")+" --help")
		e.helps[strings.Join(verb, " ")] = help
	}
	if !strings.Contains(help, "linerate "+strings.Join(verb, " ")) {
		e.t.Errorf("%s: %s: no such verb", name, command)
	}
	for _, word := range words {
		if word == "--" {
			break // what follows is another program's
		}
		flag, _, _ := strings.Cut(word, "=")
		if strings.HasPrefix(flag, "--") && !regexp.MustCompile(regexp.QuoteMeta(flag)+`\b`).MatchString(help) {
			e.t.Errorf("%s: %s: no flag %s", name, command, flag)
		}
	}
	if words[0] == "new" { // it writes a file, which another document's example may have made
		e.ran++
		e.run(name, command+" --force")
	}
	if slices.Contains(touchesNothing, words[0]) {
		e.ran++
		out := e.run(name, command)
		if out == "" && !strings.Contains(command, ">") {
			e.t.Errorf("%s: %s: printed nothing on stdout", name, command)
		}
	}
}
