package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/permitted"
	"linerate/internal/kernel/file"
	"linerate/internal/model/topology"
)

// programStudy executes a program for its hosts, which leaves a file.
const programStudy = `
study: program
topology:
  hosts:
    a: {via: [sh, -c, "touch ran; exit 1"], interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {via: [sh, -c, "exit 1"], interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links: [{from: a.eth0, to: b.eth0}]
workload: {flows: [{from: a, to: b}]}
`

// TestCommandsAreAskedAbout: a file's commands are executed once they have been permitted,
// and others, or changed ones, are not.
func TestCommandsAreAskedAbout(t *testing.T) {
	dir := t.TempDir()
	study, ran := filepath.Join(dir, "study.yaml"), filepath.Join(dir, "ran")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(study, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	executed := func() bool {
		err := os.Remove(ran)
		return err == nil
	}
	write(programStudy)
	if err := os.WriteFile(filepath.Join(dir, "list.conf"), []byte("net.ipv4.tcp_sack = 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	verbs := [][]string{
		{"run", study, "--quiet"}, {"lab", "up", study, "--until", "ready"},
		{"tune", "list.conf", "--on", study, "--quiet"},
	}
	for _, args := range verbs {
		status, out := statusOf(t, command(t, t.Context(), dir, args...))
		if status != ExitUsage || !strings.Contains(out, "a: sh -c 'touch ran; exit 1' linerate agent --stdio --node a\n") || !strings.Contains(out, "--trust") {
			t.Errorf("%v: status %d\n%s", args, status, out)
		}
		if executed() {
			t.Errorf("%v executed what was not permitted", args)
		}
	}
	if status, out := statusOf(t, command(t, t.Context(), dir, "check", study)); status != ExitOK || !strings.Contains(out, "sh -c 'touch ran; exit 1' linerate agent") {
		t.Errorf("check: status %d\n%s", status, out)
	}
	trusted := command(t, t.Context(), dir, append(verbs[1], "--trust")...)
	if _, out := statusOf(t, trusted); !executed() {
		t.Errorf("--trust did not execute: %s", out)
	}
	for _, args := range verbs {
		if _, out := statusOf(t, command(t, t.Context(), dir, args...)); !executed() {
			t.Errorf("%v: asked again:\n%s", args, out)
		}
	}
	write(strings.Replace(programStudy, "touch ran", "touch  ran", 1))
	if status, _ := statusOf(t, command(t, t.Context(), dir, verbs[0]...)); status != ExitUsage || executed() {
		t.Error("a changed command was executed")
	}
	write(strings.Replace(programStudy, "flows: [", "tool: iperf3, flows: [", 1))
	if status, out := statusOf(t, command(t, t.Context(), dir, verbs[0]...)); status != ExitUsage || !strings.Contains(out, "a: iperf3 -c 10.0.0.2 ") || !strings.Contains(out, "b: iperf3 -s ") || strings.Contains(out, "touch") {
		t.Errorf("a tool: status %d\n%s", status, out)
	}
}

// TestCommandsAreConfirmed: at a terminal the answer decides, and it is remembered.
func TestCommandsAreConfirmed(t *testing.T) {
	dir := t.TempDir()
	study, ran := filepath.Join(dir, "study.yaml"), filepath.Join(dir, "ran")
	if err := os.WriteFile(study, []byte(programStudy), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		answer   string
		executed bool
	}{{"n", false}, {"", false}, {"yes", true}, {"n", true}} { // the last is not asked
		controller, terminal, err := file.OpenPTY()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := controller.WriteString(test.answer + "\n"); err != nil {
			t.Fatal(err)
		}
		cmd := command(t, t.Context(), dir, "lab", "up", study, "--until", "ready")
		cmd.Env = append(cmd.Env, "TERM=xterm")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
		_ = cmd.Run() // its commands fail
		terminal.Close()
		controller.Close()
		if executed := os.Remove(ran) == nil; executed != test.executed {
			t.Errorf("answer %q: executed %t", test.answer, executed)
		}
	}
}

// TestBuiltInStudiesAreNotAskedAbout, and a file of the same name is.
func TestBuiltInStudiesAreNotAskedAbout(t *testing.T) {
	t.Setenv("LINERATE_NOTEBOOK", filepath.Join(t.TempDir(), "notebook.db"))
	s := streams{in: strings.NewReader("y\n"), out: &strings.Builder{}, err: &strings.Builder{}}
	commands := []topology.Command{{Node: "a", Argv: []string{"bird"}, Times: 1, Alike: "bird"}}
	if err := s.permit(context.Background(), "ecmp-bgp", false, commands); err != nil {
		t.Error(err)
	}
	if err := s.permit(context.Background(), "./ecmp-bgp", false, commands); err == nil {
		t.Error("a file was not asked about")
	}
	if err := s.permit(context.Background(), "./ecmp-bgp", false, nil); err != nil {
		t.Errorf("a file without commands: %v", err)
	}
	if _, err := os.Stat(os.Getenv("LINERATE_NOTEBOOK") + permitted.Suffix); err == nil {
		t.Error("something was permitted")
	}
}
