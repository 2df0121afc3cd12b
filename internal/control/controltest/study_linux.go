package controltest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/control/run"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/trust"
	"linerate/internal/show/wording"
)

// Fuller is the largest ratio of what a link is counted to have carried to what it can carry, in a
// window of a second or two. It may exceed 1 because a receiver that was paused had not read all data
// when the window began. The trust check limit catches larger excesses.
const Fuller = 1.03

// longest bounds a run of a test.
const longest = 10 * time.Minute

// Study says what to run. A field that is zero has the value of the study file.
type Study struct {
	File       string // its path
	Set        []string
	Only       []string
	Parts      []string
	Seed       uint64
	Replicates int
	Budget     time.Duration
	Notebook   string // path of the file to keep the run in; empty: a temporary one
}

// Run runs a study and returns its result with all trials and with the words of its findings. If the
// test fails, it logs the trust checks that say whether the machine was disturbed.
func Run(t *testing.T, s Study) *record.Run {
	t.Helper()
	return Start(t, s)()
}

// Start starts a study like Run. The function that it returns waits for the end and returns the
// result.
func Start(t *testing.T, s Study) func() *record.Run {
	t.Helper()
	wait := begin(t, s)
	return func() *record.Run {
		t.Helper()
		made, err := wait()
		if err != nil {
			t.Fatalf("%s: %v", s.File, err)
		}
		t.Cleanup(func() {
			for _, c := range wording.Checks(made.Trust) {
				if t.Failed() && slices.Contains(ofTheMachine, c.Check) {
					t.Logf("%s, passed %t: trial %d: %s", c.Check, c.Pass, c.Trial, c.Detail)
				}
			}
		})
		return made
	}
}

// Try is like Run, but returns the error instead of failing the test.
func Try(t *testing.T, s Study) (*record.Run, error) {
	t.Helper()
	return begin(t, s)()
}

func begin(t *testing.T, s Study) func() (*record.Run, error) {
	t.Helper()
	kerneltest.Slow(t)
	kerneltest.RequireNamespaces(t)
	plan, o := s.plan(t)
	if s.Notebook == "" {
		s.Notebook = filepath.Join(t.TempDir(), "notebook.db")
	}
	store, err := sqlite.Open(t.Context(), s.Notebook)
	if err != nil {
		t.Fatal(err)
	}
	var made *record.Run
	var failed error
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), longest)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		made, failed = run.New(ctx, plan, store, o)
	}()
	t.Cleanup(func() { // also of a test that fails before it waits
		cancel()
		<-ended
		store.Close()
	})
	return func() (*record.Run, error) {
		<-ended
		NeedsTun(t, failed)
		if made != nil {
			made = wording.Run(made)
		}
		return made, failed
	}
}

// plan is what is to be run.
func (s Study) plan(t *testing.T) (*study.Plan, run.Options) {
	t.Helper()
	text, err := os.ReadFile(s.File)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := study.Parse(s.File, text, s.Set...)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(parsed, s.Parts...)
	if err == nil {
		plan, err = plan.Only(s.Only)
	}
	o := run.Options{Only: s.Only, Set: s.Set, Seed: s.Seed, StudyFile: string(text)}
	if s.Replicates > 0 {
		o.Redesign.Replicates = &s.Replicates
	}
	if s.Budget > 0 {
		budget := unit.Duration(s.Budget)
		o.Redesign.Budget = &budget
	}
	if err == nil {
		err = plan.Redesign(o.Redesign)
	}
	if err != nil {
		t.Fatal(err)
	}
	parsed.Topology.Locate(filepath.Dir(s.File))
	for _, name := range parsed.Published {
		path := name
		if !strings.HasSuffix(name, ".csv") { // a built-in one
			path = filepath.Join(root(t), "studies", "published", name+".csv")
		} else if !filepath.IsAbs(name) {
			path = filepath.Join(filepath.Dir(s.File), name)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		table, err := record.ParsePublished(name, string(text))
		if err != nil {
			t.Fatal(err)
		}
		o.Published = append(o.Published, table)
	}
	return plan, o
}

// root is the module's directory.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, there := os.Stat(filepath.Join(dir, "go.mod")); there == nil {
			return dir
		}
		if dir == "/" {
			break
		}
	}
	t.Fatal("the working directory is in no module")
	return ""
}

// File returns the path of a study file in testdata.
func File(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(root(t), "internal", "control", "controltest", "testdata", name)
}

// BuiltIn returns the path of a copy of a built-in study. replace has pairs of texts: each occurrence
// of the first in the study is replaced by the second.
func BuiltIn(t *testing.T, study string, replace ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), "studies", study+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for words := range slices.Chunk(replace, 2) {
		if !strings.Contains(text, words[0]) {
			t.Fatalf("the study does not say %q any more", words[0])
		}
		text = strings.ReplaceAll(text, words[0], words[1])
	}
	return Write(t, text)
}

// Write writes text to a study file and returns its path.
func Write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "study.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// ofTheMachine are the trust checks that may fail because the machine was busy with something else,
// or paused. A test cannot prevent that.
var ofTheMachine = []string{trust.Clock, trust.Generator, trust.Steal, trust.Steady}

// Failures lists the failed trust checks, except those that a busy machine explains.
func Failures(checks []record.Check) string {
	var b strings.Builder
	for _, c := range checks {
		if !c.Pass && !slices.Contains(ofTheMachine, c.Check) {
			fmt.Fprintf(&b, "%s: %+v\n", c.Check, c.Facts)
		}
	}
	return b.String()
}

// Treatment returns the treatment of a run with this name.
func Treatment(t *testing.T, run *record.Run, name string) record.Treatment {
	t.Helper()
	var names []string
	for _, tr := range run.Treatments {
		if tr.Name == name {
			return tr
		}
		names = append(names, tr.Name)
	}
	t.Fatalf("no treatment %q among %s", name, strings.Join(names, "; "))
	return record.Treatment{}
}

// Found returns a run's finding with this ID of a treatment, and whether there is one.
func Found(run *record.Run, id, treatment string) (record.Finding, bool) {
	for _, f := range run.Findings {
		if f.ID == id && slices.Contains(f.Treatments, treatment) {
			return f, true
		}
	}
	return record.Finding{}, false
}

// Figures returns the fields of a flow that explain what limits it, as JSON, for the message of a
// test.
func Figures(f record.Flow) string {
	f.ModeNote, f.Bins, f.Path = "", nil, nil
	text, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// AsPredicted fails the test for each flow whose path is not the one that the kernels predicted. In
// each trial, the first few flows whose path differs are excused, at most as many as excused says.
func AsPredicted(t *testing.T, run *record.Run, excused int) {
	t.Helper()
	for _, trial := range run.Trials {
		left := excused
		for _, f := range trial.Flows {
			if f.ReceivedBytes == 0 {
				continue // what sent nothing was seen nowhere
			}
			same, known := f.AsPredicted()
			if !same && known && left > 0 {
				left--
				continue
			}
			if !same || !known {
				t.Errorf("trial %d (%s), flow %s → %s: predicted %v%s, seen at %v, %d bytes", trial.Order,
					trial.Treatment, f.Source, f.Destination, f.Predicted, f.PredictedNote, f.Observed, f.ReceivedBytes)
			}
		}
	}
}
