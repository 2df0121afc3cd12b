//go:build linux && !portable

package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/setting"
)

// The child of the kill test: it applies and reverts, and kills itself at the
// given step.
const (
	killJournal = "LINERATE_TEST_KILL_JOURNAL"
	killCase    = "LINERATE_TEST_KILL_CASE"
	killStep    = "LINERATE_TEST_KILL_STEP"
)

// TestMain runs the tests without guards, which revert what the tests leave, unless a
// test asks for them.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == GuardCommand {
		if err := RunGuard(os.Stdin, os.Args[2:]); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(guarded) == "" {
		detach = func(*os.File, ...string) (<-chan struct{}, error) { return make(chan struct{}), nil }
	}
	if path := os.Getenv(killJournal); path != "" {
		if what := os.Getenv(userDoes); what != "" {
			if err := asUser(what, path); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
		if with := os.Getenv(holdWith); with != "" {
			fmt.Fprintln(os.Stderr, hold(path, with))
			os.Exit(1)
		}
		if err := dieAtStep(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func dieAtStep(path string) error {
	last, err := strconv.Atoi(os.Getenv(killStep))
	if err != nil {
		return err
	}
	m, err := Open(path, Lease)
	if err != nil {
		return err
	}
	step := 0
	m.step = func(string) {
		if step++; step == last {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	if _, _, err := applySettings(m, context.Background(), killCases()[os.Getenv(killCase)], false); err != nil {
		return err
	}
	return errors.Join(m.RevertTo(0), m.Close())
}

func killCases() map[string][]setting.Setting {
	kinds, queues := everyKind(), queueKinds()
	return map[string][]setting.Setting{
		"plain": {kinds["sysctl"], kinds["route, replaced"], kinds["rule"], kinds["qdisc in place of another"],
			kinds["neighbour, known"]},
		"forward": {kinds["ip_forward"], kinds["address of another subnet"]},
		"many":    {kinds["addresses in a row"], kinds["addresses of a new subnet"]},
		"mac":     {kinds["link mac"]},
		"down":    {kinds["link down"]},
		"mtu":     {kinds["link mtu below IPv6's"]},
		"nic":     {kinds["nic channels"], kinds["nic features"]},
		asRoot:    {queues["queue"], kinds["nic channels"]},
		"packets": {kinds["link, BIG TCP"], kinds["rule with everything"]},
	}
}

// An agent is killed at each of its steps in turn: before the journal is written,
// after it, after the change, between the steps of the undo. Recovery must bring
// everything back, and find nothing more to do when it is repeated.
func TestKilledAtEveryStep(t *testing.T) {
	kerneltest.Slow(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		cases := killCases()
		delete(cases, asRoot)
		killAtEveryStep(t, slices.Collect(maps.Keys(cases)))
	})
}

// asRoot is the case of settings that only root may make.
const asRoot = "queues, as root"

func killAtEveryStep(t *testing.T, cases []string) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	before := look(t)
	for _, name := range cases {
		results := map[string]int{}
		step := 1
		for ; step < 100; step++ {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), killJournal+"="+path, killCase+"="+name, killStep+"="+strconv.Itoa(step))
			output, err := child.CombinedOutput()
			if err == nil {
				break // it lived through all steps
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%s: killed at step %d: %v\n%s", name, step, err, output)
			}
			if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
				if _, entries, _, err := decodeJournal(text); err == nil && len(entries) > 0 {
					if _, err := Open(path, Lease); !isLeftover(err) {
						t.Errorf("%s: step %d: a new agent takes over the journal: %v", name, step, err)
					}
				}
			}
			list, err := Recover(RecoverOptions{Journal: path})
			if err != nil {
				t.Fatalf("%s: step %d: %v", name, step, err)
			}
			for _, r := range list {
				results[r.Result]++
				if r.Result != Reverted && r.Result != Unchanged {
					t.Errorf("%s: step %d: %+v", name, step, r)
				}
			}
			if d := differences(before, look(t)); d != "" {
				t.Fatalf("%s: killed at step %d, recovered %+v, not as before:\n%s", name, step, list, d)
			}
			if again, err := Recover(RecoverOptions{Journal: path}); err != nil || len(again) != 0 {
				t.Errorf("%s: step %d: recovering again: %+v, %v", name, step, again, err)
			}
		}
		if step < 6 || step == 100 || results[Reverted] == 0 || results[Unchanged] == 0 {
			t.Errorf("%s: %d steps, results %v: the test does not test", name, step, results)
		}
	}
}

func isLeftover(err error) bool {
	var left *LeftoverError
	return errors.As(err, &left) && len(left.What) > 0
}

// When the journal cannot be written, nothing may be changed.
func TestFullDisk(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k,mode=700"); err != nil {
			kerneltest.Skip(t, "a small file system cannot be mounted: "+err.Error())
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		})
		m := open(t, filepath.Join(dir, "journal"))
		before := look(t)
		fill := filepath.Join(dir, "fill")
		if err := os.WriteFile(fill, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("the disk is not full: %v", err)
		}
		change := []setting.Setting{parameter("net.ipv4.conf.all.arp_ignore", "1")}
		refuse := func(when string) {
			t.Helper()
			_, _, err := applySettings(m, context.Background(), change, false)
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "nothing was changed") {
				t.Errorf("%s: %v", when, err)
			}
		}
		refuse("full from the start")
		if d := differences(before, look(t)); d != "" {
			t.Errorf("changed without a journal:\n%s", d)
		}
		// Full after the first entries: what is there must stay readable.
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		if _, _, err := applySettings(m, context.Background(),
			[]setting.Setting{parameter("net.ipv4.conf.all.arp_announce", "2")}, false); err != nil {
			t.Fatal(err)
		}
		middle := look(t)
		_ = os.WriteFile(fill, make([]byte, 1<<20), 0o600) // as much as fits
		change = change[:0]
		for range 200 { // more than the rest of the journal's last page holds
			change = append(change, parameter("net.ipv4.conf.all.arp_ignore", "1"),
				parameter("net.ipv4.conf.all.arp_ignore", "2"))
		}
		if _, _, err := applySettings(m, context.Background(), change, false); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("full in the middle: %v", err)
		}
		if d := differences(middle, look(t)); d != "" {
			t.Errorf("not reverted to before the request:\n%s", d)
		}
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		if err := m.RevertTo(0); err != nil {
			t.Error(err)
		}
		if d := differences(before, look(t)); d != "" {
			t.Errorf("not as before:\n%s", d)
		}
	})
}
