package cli

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// TestMain makes this test program a linerate, too, for the tests that start one,
// and what they run inside a lab.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"linerate": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"reach":    reach,
		"stranger": stranger,
	})
}

// TestScripts runs the command line as people do. To write the expected files
// anew: UPDATE_SCRIPTS=1 go test ./internal/show/cli -run TestScripts
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv(notebook.Variable, filepath.Join(env.WorkDir, "notebook.db"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"keep": keep},
	})
}

// keep enters a run of the study arp-flux, made up, into the script's notebook:
// keep SEED BLOCKS [unfinished|half|doubt].
func keep(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: keep SEED BLOCKS [unfinished|half|doubt]")
	}
	seed, err := strconv.ParseUint(args[0], 10, 64)
	ts.Check(err)
	blocks, err := strconv.Atoi(args[1])
	ts.Check(err)
	how := ""
	if len(args) > 2 {
		how = args[2]
	}
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ts.Getenv(notebook.Variable))
	ts.Check(err)
	run := sciencetest.Run(seed, blocks)
	run.ID = notebook.ProposeID(run.Study, seed)
	ts.Check(store.Begin(ctx, run))
	for _, trial := range run.Trials {
		if how == "half" && trial.Levels["direction"] == "writes" {
			trial.GoodputBps /= 2
		}
		ts.Check(store.SaveTrial(ctx, run.ID, trial))
	}
	if how != "unfinished" {
		run, err = store.Run(ctx, run.ID)
		ts.Check(err)
		conclude.Conclude(run)
		if how == "doubt" {
			run.Trust = append(run.Trust, record.Check{Check: "limit", Trial: 1, Detail: "goodput above the limit of its path"})
		}
		run.Status = notebook.Complete
		ts.Check(store.Finish(ctx, run))
	}
	ts.Check(store.Close())
}
