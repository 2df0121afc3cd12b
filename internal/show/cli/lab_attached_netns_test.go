//go:build linux

package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/attached"
	"linerate/internal/kernel/kerneltest"
)

// TestAttachedAgent: the hosts of a lab execute the program that is attached to linerate. It carries out a study as
// the whole program does, in a part of the memory.
func TestAttachedAgent(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	dir := t.TempDir()
	agent := filepath.Join(dir, "agent")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", agent,
		"linerate/cmd/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := memoryOfAgents(t, "/linerate") // cli.test, or a copy of it
	own, err := exec.LookPath("linerate")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "linerate")
	copyProgram(t, own, program)
	if err := attached.Append(program, map[attached.Kind]string{attached.Lab: agent}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if alone := memoryOfAgents(t, "/memfd:linerate-agent"); alone > 0.7*whole {
		t.Errorf("an agent has %.0f kB, want clearly less than the %.0f kB of the whole program", alone, whole)
	}
	run := runLab(t, dir, controltest.File(t, "small.yaml"), "--seed", "7", "--replicates", "1")
	if len(run.Trials) == 0 {
		t.Error("no trials")
	}
}

var anonymous = regexp.MustCompile(`(?m)^Pss_Anon: +(\d+) kB$`)

// memoryOfAgents returns the median of the memory that each agent of a lab has for itself, without that of files, in kB
// (Documentation/filesystems/proc.rst). Each executes a file whose name has a part.
func memoryOfAgents(t *testing.T, part string) float64 {
	t.Helper()
	l := labUpFor(t, "routed.yaml")
	defer l.cmd.Wait()
	defer l.cmd.Process.Signal(os.Interrupt)
	if out := l.ask(t, "h1", "ip", "-o", "address"); !strings.Contains(out, "eth0") {
		t.Errorf("h1 has %s", out)
	}
	var all []float64
	for _, line := range marked(l.mark) {
		pid, words, _ := strings.Cut(line, " ")
		if !strings.Contains(words, "--of-lab") {
			continue
		}
		file, err := os.Readlink(filepath.Join("/proc", pid, "exe"))
		if err != nil || !strings.Contains(file, part) {
			t.Errorf("%s executes %s, %v, want %s", words, file, err, part)
		}
		text, err := os.ReadFile(filepath.Join("/proc", pid, "smaps_rollup"))
		m := anonymous.FindSubmatch(text)
		if err != nil || m == nil {
			t.Fatalf("memory of %s: %v", words, err)
		}
		kB, _ := strconv.ParseFloat(string(m[1]), 64)
		all = append(all, kB)
	}
	if len(all) < 2 {
		t.Fatalf("%d agents", len(all))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
