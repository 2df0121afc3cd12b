package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/control/permitted"
	"linerate/internal/kernel/file"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/sciencetest"
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
		if status != ExitUsage ||
			!strings.Contains(out, "a: sh -c 'touch ran; exit 1' linerate agent --stdio --node a\n") ||
			!strings.Contains(out,
				"Give --trust once: it permits these commands now, and from then on without --trust") {
			t.Errorf("%v: status %d\n%s", args, status, out)
		}
		if executed() {
			t.Errorf("%v executed what was not permitted", args)
		}
	}
	if status, out := statusOf(t, command(t, t.Context(), dir, "check", study)); status != ExitOK ||
		!strings.Contains(out, "sh -c 'touch ran; exit 1' linerate agent") {
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
	if status, out := statusOf(t, command(t, t.Context(), dir, verbs[0]...)); status != ExitUsage ||
		!strings.Contains(out, "a: iperf3 -c 10.0.0.2 ") || !strings.Contains(out, "b: iperf3 -s ") ||
		strings.Contains(out, "touch") {
		t.Errorf("a tool: status %d\n%s", status, out)
	}
}

// TestResumedRunsAreAskedAbout: a notebook may be from elsewhere, with runs that name
// commands. What was permitted when a run was begun is not asked about again.
func TestResumedRunsAreAskedAbout(t *testing.T) {
	kerneltest.Parallel(t)
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "notebook.db"))
	if err != nil {
		t.Fatal(err)
	}
	run := sciencetest.Run(7, 1)
	run.ID, run.Study, run.StudyFile = "program-7", "program", programStudy
	run.Design.Replicates = 2
	err = store.Begin(t.Context(), run)
	for _, trial := range run.Trials {
		err = errors.Join(err, store.SaveTrial(t.Context(), run.ID, trial))
	}
	run.Status = notebook.Interrupted
	if err := errors.Join(err, store.Finish(t.Context(), run), store.Close()); err != nil {
		t.Fatal(err)
	}
	resume, keep := []string{"run", "--resume", run.ID, "--quiet", "--replicates", "20"},
		[]string{"tune", "--run", run.ID, "--keep", "kept.conf", "--quiet"}
	for _, args := range [][]string{resume, keep} {
		status, out := statusOf(t, command(t, t.Context(), dir, args...))
		if status != ExitUsage ||
			!strings.Contains(out, "a: sh -c 'touch ran; exit 1' linerate agent --stdio --node a\n") ||
			!strings.Contains(out, "--trust") {
			t.Errorf("%v: status %d\n%s", args, status, out)
		}
	}
	if os.Remove(ran) == nil {
		t.Error("a run's commands were executed that had not been permitted")
	}
	for _, args := range [][]string{append(resume, "--trust"), resume} {
		if _, out := statusOf(t, command(t, t.Context(), dir, args...)); os.Remove(ran) != nil {
			t.Errorf("%v did not execute:\n%s", args, out)
		}
	}
	if _, out := statusOf(t, command(t, t.Context(), dir, keep...)); strings.Contains(out, "not been permitted") {
		t.Errorf("%v: asked again:\n%s", keep, out)
	}
}

// TestForeignPermissions: a directory with a notebook, from somebody who has permitted the
// commands of its runs and studies, permits nothing to who unpacks it, whatever lies in it.
func TestForeignPermissions(t *testing.T) {
	theirs, own := t.TempDir(), t.TempDir()
	const study = "study.yaml"
	write := func(path string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(theirs, study), []byte(programStudy))
	run := []string{"run", study, "--quiet"}
	if _, out := statusOf(t, command(t, t.Context(), theirs, append(run, "--trust")...)); os.Remove(
		filepath.Join(theirs, "ran")) != nil {
		t.Fatalf("--trust did not execute: %s", out)
	}
	list, err := os.ReadFile(filepath.Join(theirs, "state", "linerate", permitted.Name))
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(theirs, permitted.Name), list)
	write(filepath.Join(theirs, "notebook.db-permitted"), list) // where it was once
	refused := command(t, t.Context(), theirs, run...)
	refused.Env = append(refused.Env, "XDG_STATE_HOME="+own)
	if status, out := statusOf(t, refused); status != ExitUsage || !strings.Contains(out, "have not been permitted") ||
		os.Remove(filepath.Join(theirs, "ran")) == nil {
		t.Errorf("somebody else's permission: status %d\n%s", status, out)
	}
	if _, out := statusOf(t, command(t, t.Context(), theirs, run...)); os.Remove(filepath.Join(theirs, "ran")) != nil {
		t.Errorf("their own was not kept:\n%s", out)
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
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
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
	_, text, err := readStudy(nil, "ecmp-bgp")
	if err != nil {
		t.Fatal(err)
	}
	resumed := &record.Run{ID: "ecmp-bgp-7", Study: "ecmp-bgp", StudyFile: string(text)}
	if err := s.permitRun(context.Background(), resumed, false); err != nil {
		t.Errorf("a run of a built-in study that is resumed: %v", err)
	}
	resumed.Design.Set = []string{"topology.hosts.server1.via=[evil]"}
	if err := s.permitRun(context.Background(), resumed, false); err == nil || !strings.Contains(err.Error(), "evil") {
		t.Errorf("a run that replaces what a built-in study executes: %v", err)
	}
	if _, err := os.Stat(filepath.Join(state, "linerate", permitted.Name)); err == nil {
		t.Error("something was permitted")
	}
}
