//go:build linux

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
)

// TestInterruptedRunGoesOn interrupts a run as Ctrl-C does, once it has a trial.
// It says how to go on, leaves nothing behind, and going on finishes it; more
// blocks can be added even then.
func TestInterruptedRunGoesOn(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.RequireNamespaces(t)
	dir := t.TempDir()
	mark := fmt.Sprintf("LINERATE_TEST_MARK=%d-%d", os.Getpid(), rand.Uint64())
	before := machine(t)
	var out, errs bytes.Buffer
	cmd := command(t, t.Context(), dir, "run", controltest.File(t, "small.yaml"), "--seed", "7", "--quiet")
	cmd.Env = append(cmd.Env, mark)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, trials := savedTrials(t, dir); len(trials) > 0 {
			break
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			t.Fatalf("no trial within a minute: %v\n%s", cmd.Wait(), errs.String())
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != ExitInterrupted {
		t.Fatalf("exit status %d, want %d\n%s", status, ExitInterrupted, errs.String())
	}
	hint := regexp.MustCompile(
		`interrupted after \d trials?; continue with: linerate (run --resume small-7)\n`).FindStringSubmatch(
		errs.String())
	if hint == nil {
		t.Fatalf("no word on how to go on:\n%s", errs.String())
	}
	awaitNone(t, mark, "after SIGINT")
	if after := machine(t); after != before {
		t.Errorf("SIGINT changed the machine:\n%s", controltest.FirstDifference(before, after))
	}
	id, saved := savedTrials(t, dir)
	if id != "small-7" || len(saved) >= planned {
		t.Fatalf("run %s has %d trials", id, len(saved))
	}
	// Doubts about the figures, if there are any, come before it in the sentence.
	if !strings.Contains(strings.ToLower(out.String()), "interrupted: the figures are of") {
		t.Errorf("the report does not say that it is of an interrupted run:\n%s", out.String())
	}

	run := runLab(t, dir, strings.Fields(hint[1])[1:]...)
	mustContain(t, run.Trials, saved)
	if run.Status != "complete" || len(run.Trials) != planned {
		t.Errorf("carried on: %s with %d trials, want %d", run.Status, len(run.Trials), planned)
	}
	more := runLab(t, dir, "--resume", id, "--replicates", "4")
	mustContain(t, more.Trials, run.Trials)
	if more.Status != "complete" || len(more.Trials) != planned+2 || more.Design.Replicates != 4 {
		t.Errorf("with a block more: %s with %d trials of %d blocks", more.Status, len(more.Trials),
			more.Design.Replicates)
	}
	if !strings.HasSuffix(more.Again, "small.yaml --seed 7 --replicates 4") {
		t.Errorf("again: %s", more.Again)
	}
	over := command(t, t.Context(), dir, "run", "--resume", id)
	if text, err := over.CombinedOutput(); over.ProcessState.ExitCode() != ExitUsage ||
		!strings.Contains(string(text), "the run is complete") {
		t.Errorf("carrying a complete run on: %v\n%s", err, text)
	}
}

// TestTwoRunsAtOnce of one study, with one seed, into one notebook: each has a
// name and a lab of its own.
func TestTwoRunsAtOnce(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.RequireNamespaces(t)
	dir := t.TempDir()
	var runs [2]*exec.Cmd
	var texts [2]bytes.Buffer
	var running sync.WaitGroup
	for i := range runs {
		runs[i] = command(t, t.Context(), dir, "run", controltest.File(t, "small.yaml"), "--seed", "7", "--quiet",
			"--replicates", "2")
		runs[i].Stdout, runs[i].Stderr = &texts[i], &texts[i]
		running.Go(func() { _ = runs[i].Run() })
	}
	running.Wait()
	for i, cmd := range runs {
		if status := cmd.ProcessState.ExitCode(); status != ExitOK && status != ExitDoubt {
			t.Errorf("run %d: exit status %d\n%s", i+1, status, texts[i].String())
		}
	}
	for _, id := range []string{"small-7", "small-7_2"} {
		out, err := command(t, t.Context(), dir, "report", id).Output()
		if len(out) == 0 || !strings.Contains(string(out), "2 treatments × 2 blocks") ||
			strings.Contains(string(out), "interrupted") {
			t.Errorf("%s: %v\n%s", id, err, out)
		}
		if _, err := os.Stat(filepath.Join(dir, "runs", id, "report.html")); err != nil {
			t.Error(err)
		}
	}
}

// TestPageThatHasNoPlace: that is said before anything is measured.
func TestPageThatHasNoPlace(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "runs"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, t.Context(), dir, "run", controltest.File(t, "small.yaml"), "--quiet")
	text, _ := cmd.CombinedOutput()
	if status := cmd.ProcessState.ExitCode(); status != ExitUsage ||
		!strings.Contains(string(text), "nothing was run") || !strings.Contains(string(text), "--out") {
		t.Errorf("exit status %d\n%s", status, text)
	}
}

// TestPageThatCannotBeWritten: when the place goes away while the trials are
// made, what was measured is shown and kept all the same.
func TestPageThatCannotBeWritten(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.RequireNamespaces(t)
	dir := t.TempDir()
	var out, errs bytes.Buffer
	cmd := command(t, t.Context(), dir, "run", controltest.File(t, "small.yaml"), "--seed", "7", "--quiet",
		"--replicates", "2")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(dir, "runs")
	kerneltest.Await(t, "the place has been looked at, and the run has begun", func() bool {
		_, err := os.Stat(filepath.Join(dir, "notebook.db"))
		return err == nil
	})
	if err := errors.Join(os.RemoveAll(place), os.WriteFile(place, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != ExitFailed {
		t.Errorf("exit status %d, want %d", status, ExitFailed)
	}
	if !strings.Contains(out.String(), "kernel defaults") {
		t.Errorf("the report is not shown:\n%s", out.String())
	}
	hint := regexp.MustCompile(`linerate (report small-7 --out) DIR\n`).FindStringSubmatch(errs.String())
	if hint == nil || strings.Contains(errs.String(), "--resume") {
		t.Fatalf("stderr:\n%s", errs.String())
	}
	again := command(t, t.Context(), dir, append(strings.Fields(hint[1]), "elsewhere")...)
	if text, err := again.CombinedOutput(); err != nil && again.ProcessState.ExitCode() != ExitDoubt {
		t.Fatalf("%v\n%s", err, text)
	}
	if _, err := os.Stat(filepath.Join(dir, "elsewhere", "report.html")); err != nil {
		t.Error(err)
	}
}

// TestRunIsFoundByItsName: a run is given a name, and a page; a note reaches the page, and
// removing the run removes it.
func TestRunIsFoundByItsName(t *testing.T) {
	kerneltest.Parallel(t)
	dir := t.TempDir()
	run := runLab(t, dir, controltest.File(t, "small.yaml"), "--replicates", "4", "--name", "old cable", "--wait")
	page := filepath.Join(dir, "runs", run.ID, "report.html")
	linerate := func(args ...string) string {
		t.Helper()
		out, err := command(t, t.Context(), dir, args...).CombinedOutput()
		if err != nil && !strings.Contains(err.Error(), fmt.Sprint(ExitDoubt)) {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if run.Name != "old cable" || !strings.Contains(linerate("report", "old cable"), "“old cable” · ") {
		t.Errorf("the run's name is %q", run.Name)
	}
	linerate("note", "old cable", "port 3")
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "port 3") {
		t.Errorf("the page has no note: %v", err)
	}
	linerate("runs", "rm", "--yes", "old cable")
	if _, err := os.Stat(filepath.Dir(page)); err == nil {
		t.Error("the page is still there")
	}
}
