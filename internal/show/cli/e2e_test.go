package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
)

// command is a linerate of its own, with a notebook of its own. What a hypervisor did
// to its trials is for the tests' verdict, not for the run to wait for.
func command(t *testing.T, ctx context.Context, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("linerate") // put there by TestMain
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LINERATE_NOTEBOOK="+filepath.Join(dir, "notebook.db"), "XDG_STATE_HOME="+
		filepath.Join(dir, "state"), "LINERATE_MAX_RETRY_TIME=0s")
	return cmd
}

// runLab runs a study and returns its result. Statuses besides 0 and 3 fail. If the
// test does, it says what the machine did meanwhile.
func runLab(t *testing.T, dir string, args ...string) *record.Run {
	t.Helper()
	return startLab(t, dir, args...)()
}

// startLab starts runLab; the function that it returns waits for its end.
func startLab(t *testing.T, dir string, args ...string) func() *record.Run {
	t.Helper()
	kerneltest.RequireNamespaces(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	cmd := command(t, ctx, dir, append([]string{"run", "--json", "--quiet", "--trust"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { // of a test that fails before it waits
		cancel()
		<-ended
	})
	return func() *record.Run {
		t.Helper()
		err := <-ended
		close(ended)
		if err != nil && cmd.ProcessState.ExitCode() != ExitDoubt {
			controltest.NeedsTun(t, errors.New(errs.String()))
			t.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
		}
		return recorded(t, dir, cmd.Args, out.Bytes())
	}
}

// recorded is the run of a result document with its trials.
func recorded(t *testing.T, dir string, args []string, document []byte) *record.Run {
	t.Helper()
	var run record.Run
	if err := json.Unmarshal(document, &run); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, document)
	}
	run.Trials = recordedTrials(t, dir, run.ID)
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for _, c := range run.Trust {
			if c.Check == trust.Steal || c.Check == trust.Generator || c.Check == trust.Clock {
				t.Logf("%s, passed %t: trial %d: %s", c.Check, c.Pass, c.Trial, c.Detail)
			}
		}
	})
	return &run
}

// recordedTrials are a run's trials with all that was read in them, which the result
// document leaves out.
func recordedTrials(t *testing.T, dir, id string) []record.Trial {
	t.Helper()
	out, err := command(t, t.Context(), dir, "export", id, "--trials").Output()
	if err != nil {
		t.Fatalf("export the trials of run %s: %v %s", id, err, stderr(err))
	}
	return trialsOf(t, id, out)
}

// trialsOf are a run's trials in what export --trials has written.
func trialsOf(t *testing.T, id string, exported []byte) (trials []record.Trial) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(exported))
	if err != nil {
		t.Fatalf("the trials of run %s: %v", id, err)
	}
	for d := json.NewDecoder(z); d.More(); {
		var trial record.Trial
		if err := d.Decode(&trial); err != nil {
			t.Fatal(err)
		}
		trials = append(trials, trial)
	}
	return trials
}

// stderr is what a command that failed wrote there.
func stderr(err error) string {
	if exit, ok := err.(*exec.ExitError); ok {
		return string(exit.Stderr)
	}
	return ""
}
