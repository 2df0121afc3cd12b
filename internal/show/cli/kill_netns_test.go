//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// kills is how many instants of a run are tried; fewer as an ordinary user, of whom
// the kernel keeps less that could be left.
func kills() int {
	if os.Getuid() != 0 {
		return 8
	}
	return 20
}

// TestKilledConductorLeavesNothing kills a conductor at random instants of a
// run, which cannot say goodbye then, and holds the machine against what it was
// before: its processes, ports, addresses, rules, routes and sysctls. In the end
// the run is resumed and must not repeat a trial that was finished.
func TestKilledConductorLeavesNothing(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.RequireNamespaces(t)
	dir := t.TempDir()
	mark := fmt.Sprintf("LINERATE_TEST_MARK=%d-%d", os.Getpid(), rand.Uint64())
	before := machine(t)

	fresh := []string{"run", controltest.File(t, "small.yaml"), "--seed", "7", "--quiet"}
	args := fresh
	var saved []record.Trial
	for kill := range kills() {
		cmd := command(t, t.Context(), dir, args...)
		cmd.Env = append(cmd.Env, mark)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		delay := time.Duration(rand.Int64N(int64(1200 * time.Millisecond)))
		time.Sleep(delay)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		awaitNone(t, mark, fmt.Sprintf("kill %d, %v after the start", kill+1, delay))
		if after := machine(t); after != before {
			t.Fatalf("kill %d, %v after the start, changed the machine:\n%s", kill+1, delay,
				controltest.FirstDifference(before, after))
		}
		id, trials := savedTrials(t, dir)
		mustContain(t, trials, saved)
		saved = trials
		switch {
		case id == "":
		case len(trials) == planned:
			// Killed after its last trial was saved: the next one is a new run.
			args, saved = fresh, nil
		default:
			args = []string{"run", "--resume", id, "--quiet"}
		}
	}

	cmd := command(t, t.Context(), dir, args...)
	if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != ExitDoubt {
		t.Fatalf("carrying the last run on: %v\n%s", err, out)
	}
	_, trials := savedTrials(t, dir)
	mustContain(t, trials, saved)
	if len(trials) != planned {
		t.Fatalf("%d trials at the end, %d were planned", len(trials), planned)
	}
}

// planned is the number of trials in small.yaml: 2 treatments × 3 blocks.
const planned = 6

// savedTrials are those of the latest run in the notebook.
func savedTrials(t *testing.T, dir string) (string, []record.Trial) {
	t.Helper()
	id := latest(t, dir)
	if id == "" {
		return "", nil
	}
	return id, recordedTrials(t, dir, id)
}

// latest names the latest run; nothing when none was begun yet.
func latest(t *testing.T, dir string) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "notebook.db")); err != nil {
		return ""
	}
	out, err := command(t, t.Context(), dir, "runs", "--json").Output()
	if err != nil {
		t.Fatalf("listing runs: %v %s", err, stderr(err))
	}
	var list struct {
		Runs []struct {
			ID string `json:"id"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(list.Runs) == 0 {
		return ""
	}
	return list.Runs[0].ID
}

// mustContain fails when an earlier trial is gone, or was made again.
func mustContain(t *testing.T, trials, earlier []record.Trial) {
	t.Helper()
	for _, old := range earlier {
		found := false
		for _, now := range trials {
			found = found || now.Order == old.Order && now.Started.Equal(old.Started) &&
				now.GoodputBps == old.GoodputBps
		}
		if !found {
			t.Fatalf("trial %d, which was saved, is gone or was repeated", old.Order)
		}
	}
}

// awaitNone waits until no process has the mark in its environment.
func awaitNone(t *testing.T, mark, when string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		left := marked(mark)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: these processes are still there: %v", when, left)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func marked(mark string) []string {
	var list []string
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		environment, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && bytes.Contains(environment, []byte(mark)) {
			words, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
			list = append(list, e.Name()+" "+strings.ReplaceAll(string(words), "\x00", " "))
		}
	}
	return list
}

// machine is everything of the machine's own network that a lab could touch.
func machine(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, object := range []string{"link", "address", "rule", "route", "-6 route"} {
		args := append([]string{"-o"}, strings.Fields(object)...)
		out, err := exec.CommandContext(t.Context(), "ip", args...).Output()
		if err != nil {
			t.Fatalf("ip %v: %v", args, err)
		}
		fmt.Fprintf(&b, "ip %s\n%s", object, steady(string(out)))
	}
	for key, value := range sysctls() {
		fmt.Fprintf(&b, "%s = %s\n", key, value)
	}
	return sortedLines(b.String())
}

// steady leaves out what changes by itself: the time that addresses learnt from
// routers still live.
func steady(text string) string {
	words := strings.Fields(text)
	for i := 1; i < len(words); i++ {
		if words[i-1] == "valid_lft" || words[i-1] == "preferred_lft" || words[i-1] == "expires" {
			words[i] = "…"
		}
	}
	return strings.Join(words, " ") + "\n"
}

func sortedLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// watched are the parameters that a lab could touch: all of the network's, the
// limits of user namespaces, and what hosts and real-time threads have of their
// own. Others change by themselves while processes come and go.
var watched = []string{"net", "user", "kernel/hostname", "kernel/domainname", "kernel/sched_rt_runtime_us",
	"kernel/sched_rt_period_us"}

// counts are among them and yet no parameters.
var counts = []string{"net/netfilter/nf_conntrack_count"}

func sysctls() map[string]string {
	const root = "/proc/sys/"
	values := map[string]string{}
	for _, top := range watched {
		_ = filepath.WalkDir(root+top, func(path string, d fs.DirEntry, err error) error {
			key := strings.TrimPrefix(path, root)
			if err != nil || d.IsDir() || slices.Contains(counts, key) {
				return nil
			}
			if text, err := os.ReadFile(path); err == nil {
				values[key] = strings.TrimSpace(string(text))
			}
			return nil
		})
	}
	return values
}
