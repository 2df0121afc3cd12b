package cli

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/control/active"
	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
)

// linuxPrograms are further ones, on Linux.
var linuxPrograms = map[string]func(){}

// programsOfLinux are further programs of TestMain's.
var programsOfLinux = map[string]func(){}

// TestMain makes this test program a linerate, too, for the tests that start one,
// and what they run inside a lab.
func TestMain(m *testing.M) {
	programs := map[string]func(){
		"linerate": func() {
			inspect()
			os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"reach":    reachAddress,
		"stranger": stranger,
	}
	maps.Copy(programs, linuxPrograms)
	maps.Copy(programs, programsOfLinux)
	// Under nohup(1) the programs that the tests start would ignore SIGHUP as well: a signal that is
	// handled has its default action after execve(2).
	if programs[filepath.Base(os.Args[0])] == nil && signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Main(m, programs)
}

// TestScripts runs the command line as people do. To write the expected files
// anew: UPDATE_SCRIPTS=1 go test ./internal/show/cli -run TestScripts
func TestScripts(t *testing.T) {
	kerneltest.Parallel(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv(notebook.Variable, filepath.Join(env.WorkDir, "notebook.db"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"keep": keep, "hold": hold, "active": announce},
	})
}

// keep enters a run of the study arp-flux, made up, into the script's notebook:
// keep SEED BLOCKS [whole|unfinished|failed|half|doubt|beyond|advice|other [NAME]]; beyond has a
// trial beyond the limit of its path, other is a run of another study.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: keep SEED BLOCKS [whole|unfinished|failed|half|doubt|beyond|advice|other [NAME]]")
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
	if how == "other" {
		run.Study, run.StudyFile = "other", "study: other\n"
		run.Topology.Links[0].Impairment.Rate *= 2
		run.Environment.Hosts[0].Kernel += "-other"
	}
	run.ID = notebook.ProposeID(run.Study, seed)
	if len(args) > 3 {
		run.Name = args[3]
	}
	ts.Check(store.Begin(ctx, run))
	for _, trial := range run.Trials {
		if how == "half" && trial.Levels["direction"] == "writes" {
			trial.GoodputBps /= 2
		}
		if how == "beyond" && trial.Order == 1 { // the limit of its path
			trial.GoodputBps *= 100
		}
		if how == "advice" { // a cause that no setting removes
			trial.Hosts[0].End.SNMP = map[string]int64{"TcpExt.TCPMemoryPressures": 1}
		}
		ts.Check(store.SaveTrial(ctx, run.ID, trial))
	}
	switch how {
	case "unfinished":
	case "failed":
		run.Status, run.Error = notebook.Interrupted, "no such interface"
		ts.Check(store.Finish(ctx, run))
	default:
		run, err = store.Run(ctx, run.ID)
		ts.Check(err)
		conclude.Conclude(run)
		if how == "doubt" {
			run.Trust = append(run.Trust, record.Check{Check: "limit", Trial: 1,
				Detail: "goodput above the limit of its path"})
		}
		run.Status = notebook.Complete
		ts.Check(store.Finish(ctx, run))
	}
	ts.Check(store.Close())
}

// hold begins a run as keep does, and keeps making it until the script ends: hold SEED
// [BLOCKS].
func hold(ts *testscript.TestScript, _ bool, args []string) {
	seed, err := strconv.ParseUint(args[0], 10, 64)
	ts.Check(err)
	store, err := sqlite.Open(context.Background(), ts.Getenv(notebook.Variable))
	ts.Check(err)
	ts.Defer(func() { _ = store.Close() })
	blocks := 0
	if len(args) > 1 {
		blocks, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	run := sciencetest.Run(seed, blocks)
	run.Started = time.Now()
	ts.Check(store.Begin(context.Background(), run))
	for _, trial := range run.Trials {
		ts.Check(store.SaveTrial(context.Background(), run.ID, trial))
	}
}

// announce marks something as active on the script's machine until the time is over:
// active TIME WHAT.
func announce(ts *testscript.TestScript, _ bool, args []string) {
	length, err := time.ParseDuration(args[0])
	ts.Check(err)
	claim, _, err := active.Enter(filepath.Join(ts.Getenv("TMPDIR"), filepath.Base(active.Directory())),
		active.Work{What: args[1], Since: time.Now()})
	ts.Check(err)
	left := make(chan struct{})
	go func() {
		time.Sleep(length)
		_ = claim.Leave()
		close(left)
	}()
	ts.Defer(func() { <-left })
}
