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
	"linerate/internal/kernel/kerneltest"
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
	"resume":    resumeLongFat,
	"remove":    removeAll,
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

// resumeLongFat tries to take the run long-fat-1 up, and holds it until its input ends.
func resumeLongFat(path string) error {
	s, err := Open(background, path)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Resume(background, "long-fat-1", false)
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
	kerneltest.Slow(t)
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
	kerneltest.Slow(t)
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
	if !ids["arp-flux-7"] || !ids["arp-flux-7_2"] {
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
	kerneltest.Slow(t)
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

// removable is how many runs with two files each "remove" removes.
const removable = 40

// removeAll removes every run, one after another, once it has said that it begins.
func removeAll(path string) error {
	s, err := Open(background, path)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("begun")
	for i := range removable {
		if err := s.Remove(background, conformance.Erase, notebook.ProposeID("arp-flux", uint64(i))); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return nil
}

// TestKilledWhileRemoving kills a process at several points of its removing: once the
// notebook is opened again, each run is there with all its trials, or gone with
// all of them and its files.
func TestKilledWhileRemoving(t *testing.T) {
	kerneltest.Slow(t)
	for _, after := range []int{0, 3, 17} {
		t.Run(strconv.Itoa(after), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notebook.db")
			s := open(t, path)
			files := map[string][]string{}
			for i := range removable {
				run := conformance.Run("arp-flux", uint64(i))
				dir := filepath.Join(t.TempDir(), run.ID)
				files[run.ID] = []string{filepath.Join(dir, "report.html"), filepath.Join(dir, "run.json"), dir + "/"}
				for _, err := range []error{s.Begin(t.Context(), run), s.SaveTrial(t.Context(), run.ID, big(1)),
					os.Mkdir(dir, 0o755), os.WriteFile(files[run.ID][0], nil, 0o644),
					os.WriteFile(files[run.ID][1], nil, 0o644),
					s.AddFiles(t.Context(), run.ID, files[run.ID]...)} {
					if err != nil {
						t.Fatal(err)
					}
				}
				run.Status = notebook.Complete
				if err := s.Finish(t.Context(), run); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			command, words := child(t, "remove", path)
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			for words.Scan() && words.Text() != strconv.Itoa(after) {
			}
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for words.Scan() { // what it said before it died
			}
			_ = command.Wait() // killed, or at its end
			s = open(t, path)
			gone := 0
			for id, paths := range files {
				run, err := s.Run(t.Context(), id)
				if err != nil && !errors.Is(err, notebook.ErrNotFound) {
					t.Fatal(err)
				}
				if err != nil {
					gone++
				} else if len(run.Trials) != 1 {
					t.Errorf("%s has %d trials", id, len(run.Trials))
				}
				for _, path := range paths {
					if _, lost := os.Stat(path); lost == nil && err != nil {
						t.Errorf("run %s is gone, and its %s is there", id, path)
					}
				}
			}
			if gone <= after {
				t.Errorf("%d runs are gone, and %d were reported", gone, after+1)
			}
		})
	}
}

// TestForeignNotebook: a notebook from elsewhere names files of this user, as an earlier version of the format would
// have removed them. Opening it, reading and writing removes none.
func TestForeignNotebook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notebook.db")
	canary := filepath.Join(t.TempDir(), "canary")
	run := conformance.Run("arp-flux", 7)
	s := open(t, path)
	for _, step := range []func() error{
		func() error { return os.WriteFile(canary, nil, 0o644) },
		func() error { return s.Begin(t.Context(), run) },
		func() error { return s.AddFiles(t.Context(), run.ID, canary) },
		func() error {
			_, err := s.db.ExecContext(t.Context(), "INSERT INTO leftover VALUES (?)", canary)
			return err
		},
		s.Close,
		func() (err error) { s, err = Open(t.Context(), path); return err },
		func() error { return s.AddNote(t.Context(), run.ID, record.Note{Text: "x"}) },
		func() error { return s.Remove(t.Context(), nil, run.ID) },
		s.Close,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(canary); err != nil {
		t.Errorf("a file that the notebook names: %v", err)
	}
}
