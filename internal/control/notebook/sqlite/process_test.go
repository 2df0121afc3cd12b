package sqlite

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/conformance"
	"linerate/internal/model/record"
)

// Processes of these tests are this test program with childJob set.
const (
	childJob  = "NOTEBOOK_CHILD"
	childPath = "NOTEBOOK_CHILD_PATH"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(childJob); job != "" {
		if err := jobs[job](os.Getenv(childPath)); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// few is how many trials "save few" saves.
const few = 50

var jobs = map[string]func(path string) error{
	"save":      func(path string) error { return saveTrials(path, 400) },
	"save few":  func(path string) error { return saveTrials(path, few) },
	"resume":    resumeLatest,
	"full":      fillDisk,
	"read-only": readOnlyDisk,
}

// child prepares a process; its words come on the returned scanner.
func child(t *testing.T, job, path string, prefix ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	argv := append(prefix, os.Args[0])
	command := exec.Command(argv[0], argv[1:]...)
	command.Env = append(os.Environ(), childJob+"="+job, childPath+"="+path)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return command, bufio.NewScanner(out)
}

// big is a trial that takes some pages of the file.
func big(order int) record.Trial {
	trial := conformance.Trial(order)
	for i := range 3000 {
		trial.Flows[0].Bins = append(trial.Flows[0].Bins, int64(i*i*i*order*7919))
	}
	return trial
}

// saveTrials begins a run and prints the order of each trial once it is saved.
func saveTrials(path string, trials int) error {
	s, err := Open(background, path)
	if err != nil {
		return err
	}
	run := conformance.Run("arp-flux", 7)
	if err := s.Begin(background, run); err != nil {
		return err
	}
	fmt.Println(run.ID)
	for order := 1; order <= trials; order++ {
		if err := s.SaveTrial(background, run.ID, big(order)); err != nil {
			return err
		}
		fmt.Println(order)
	}
	return s.Close()
}

// resumeLatest tries to take the latest run up, and holds it until its input ends.
func resumeLatest(path string) error {
	s, err := Open(background, path)
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := s.Resolve(background, "latest")
	if err != nil {
		return err
	}
	_, err = s.Resume(background, id, false)
	switch {
	case errors.Is(err, notebook.ErrHeld):
		fmt.Println("held")
	case err != nil:
		return err
	default:
		fmt.Println("mine")
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
	return nil
}

// TestKilledWhileSaving kills a process at several points of its saving: each
// trial that it had reported as saved is there, whole, and the run can be
// taken up at once.
func TestKilledWhileSaving(t *testing.T) {
	for _, after := range []int{1, 2, 5, 11} {
		t.Run(strconv.Itoa(after), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notebook.db")
			command, words := child(t, "save", path)
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			if !words.Scan() {
				t.Fatal("the child began nothing")
			}
			id, saved := words.Text(), 0
			reader := open(t, path)
			for words.Scan() {
				order, err := strconv.Atoi(words.Text())
				if err != nil {
					t.Fatalf("the child said %q", words.Text())
				}
				saved = order
				if saved == after {
					if run, err := reader.Run(t.Context(), id); err != nil || run.Status != notebook.Running {
						t.Errorf("while it lives: %v, %+v", err, run)
					}
					if err := command.Process.Kill(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := command.Wait(); err == nil {
				t.Fatal("the child was not killed: it came to its end")
			}

			run, err := reader.Resume(t.Context(), id, false)
			if err != nil {
				t.Fatal(err)
			}
			// The one after the last reported may have been saved, too.
			if len(run.Trials) < saved || len(run.Trials) > saved+1 {
				t.Errorf("%d trials, and %d were reported as saved", len(run.Trials), saved)
			}
			for i, trial := range run.Trials {
				if trial.Order != i+1 || len(trial.Flows[0].Bins) != len(big(i + 1).Flows[0].Bins) {
					t.Errorf("trial %d is order %d with %d bins", i+1, trial.Order, len(trial.Flows[0].Bins))
				}
			}
			if err := reader.SaveTrial(t.Context(), id, big(len(run.Trials)+1)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTwoProcesses lets two processes save at once, with the same proposal for
// their run's ID, while this one reads.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notebook.db")
	ids := map[string]bool{}
	var commands []*exec.Cmd
	var said []*bufio.Scanner
	for range 2 {
		command, words := child(t, "save few", path)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		commands, said = append(commands, command), append(said, words)
	}
	last := make([]string, 2)
	for i := range said {
		if !said[i].Scan() {
			t.Fatal("a child began nothing")
		}
		ids[said[i].Text()] = true
		for said[i].Scan() {
			last[i] = said[i].Text()
		}
		if err := commands[i].Wait(); err != nil {
			t.Errorf("child %d: %v: %s", i, err, last[i])
		}
	}
	if !ids["arp-flux-7"] || !ids["arp-flux-7-2"] {
		t.Fatalf("runs %v", ids)
	}
	s := open(t, path)
	for id := range ids {
		run, err := s.Run(t.Context(), id)
		if err != nil || len(run.Trials) != few || run.Status != notebook.Interrupted {
			t.Errorf("%s: %v, %d trials, status %s", id, err, len(run.Trials), run.Status)
		}
	}
}

// TestTwoResumes: one of two processes gets the run, and its death frees it.
func TestTwoResumes(t *testing.T) {
	path := begun(t)
	s := open(t, path)
	if err := s.Begin(t.Context(), conformance.Run("long-fat", 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	first, words := child(t, "resume", path)
	if _, err := first.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	if !words.Scan() || words.Text() != "mine" {
		t.Fatalf("first: %q", words.Text())
	}
	second, words := child(t, "resume", path)
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	if !words.Scan() || words.Text() != "held" {
		t.Errorf("second: %q", words.Text())
	}
	if err := second.Wait(); err != nil {
		t.Error(err)
	}
	mine := open(t, path)
	_, err := mine.Resume(t.Context(), "long-fat-1", false)
	if !errors.Is(err, notebook.ErrHeld) || !strings.Contains(err.Error(), fmt.Sprint("process ", first.Process.Pid)) {
		t.Errorf("third: %v, want ErrHeld that names process %d", err, first.Process.Pid)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // killed
	if _, err := mine.Resume(t.Context(), "long-fat-1", false); err != nil {
		t.Errorf("after its holder's death: %v", err)
	}
}
