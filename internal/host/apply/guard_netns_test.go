//go:build linux && !portable

package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/setting"
)

const (
	guarded  = "LINERATE_TEST_GUARDED" // set: changes have guards
	holdWith = "LINERATE_TEST_HOLD"    // what a process does with a change that it has made
	userDoes = "LINERATE_TEST_USER"    // what a process of another user does
	arpKey   = "net.ipv4.conf.all.arp_ignore"
)

// awaitGone waits until a journal does not exist any more.
func awaitGone(t *testing.T, path, why string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(path)
			t.Fatalf("%s: nothing was reverted:\n%s", why, text)
		}
	}
}

func arpIgnore(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(kerneltest.Do(t, "sysctl", "-n", arpKey))
}

// TestGuardAfterKill kills an agent at each of its steps: before the first write, between
// writes, during the undo. Its guard restores everything, without a command.
func TestGuardAfterKill(t *testing.T) {
	kerneltest.Slow(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		path := filepath.Join(t.TempDir(), "journal-nas-1.jsonl")
		before := look(t)
		for _, name := range []string{"plain", "down"} {
			step, left := 1, 0
			for ; step < 100; step++ {
				child := exec.Command(os.Args[0])
				child.Env = append(os.Environ(), guarded+"=1", killJournal+"="+path, killCase+"="+name, killStep+"="+
					strconv.Itoa(step))
				output, err := child.CombinedOutput()
				if err == nil {
					break // it lived through all steps
				}
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Fatalf("%s: killed at step %d: %v\n%s", name, step, err, output)
				}
				if _, err := os.Stat(path); err == nil {
					left++
				}
				awaitGone(t, path, fmt.Sprintf("%s: killed at step %d", name, step))
				if d := differences(before, look(t)); d != "" {
					t.Fatalf("%s: killed at step %d, not as before:\n%s", name, step, d)
				}
			}
			if step < 6 || step == 100 || left == 0 {
				t.Errorf("%s: %d steps, %d journals left: the test does not test", name, step, left)
			}
		}
	})
}

// holder is a process with a change and a short lease.
func holder(t *testing.T, path, with string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), guarded+"=1", killJournal+"="+path, holdWith+"="+with)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if n, err := out.Read(make([]byte, 8)); n == 0 {
		t.Fatalf("the change was not made: %v", err)
	}
	return cmd
}

// shortLease is that of the processes of these tests.
const shortLease = 3 * time.Second

// held keeps hold's manager from the garbage collector, which would close its files, the lock
// and the pipe of renewals among them.
var held *Manager

func hold(path, with string) error {
	m, err := Open(path, shortLease)
	if err != nil {
		return err
	}
	held = m
	if _, _, err := applySettings(m, context.Background(), []setting.Setting{parameter(arpKey, "1")},
		false); err != nil {
		return err
	}
	if with == "renewals" {
		m.Keep()
	}
	fmt.Println("changed")
	select {}
}

// TestGuardAfterLease: the lease of a process that is stopped ends, which a change does not
// outlive, nor the process. That of a process that renews it does not end.
func TestGuardAfterLease(t *testing.T) {
	kerneltest.Slow(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal-nas-1.jsonl")
		for _, with := range []string{"nothing", "renewals"} {
			agent := holder(t, path, with)
			if with == "renewals" {
				time.Sleep(2 * shortLease)
				if arpIgnore(t) != "1" {
					t.Fatal("reverted although the lease was renewed")
				}
				if err := agent.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			awaitGone(t, path, with)
			if value := arpIgnore(t); value != "0" {
				t.Errorf("%s: it is %s after the lease", with, value)
			}
			_ = agent.Wait()
			if status := agent.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
				t.Errorf("%s: the process is still there: %v", with, agent.ProcessState)
			}
		}
	})
}

// TestGuardAndRecovery: the first of the two restores. Without its guard a journal stays for
// recovery, also beside the guard of the next agent.
func TestGuardAndRecovery(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal-nas-1.jsonl")
		agent := holder(t, path, "renewals")
		guard := children(t, agent.Process.Pid)
		if len(guard) != 1 {
			t.Fatalf("processes %v: expected one guard", guard)
		}
		// It keeps nothing open that others wait for, such as sshd(8), and no lock.
		stat := strings.Fields(kerneltest.Do(t, "cat", fmt.Sprintf("/proc/%d/stat", guard[0])))
		if stat[5] != stat[0] { // proc(5): session
			t.Errorf("the guard %s is in session %s", stat[0], stat[5])
		}
		for fd := range 3 {
			file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", guard[0], fd))
			if err != nil || fd == 0 && !strings.HasPrefix(file, "pipe:") || fd > 0 && file != "/dev/null" {
				t.Errorf("descriptor %d of the guard is %q, %v", fd, file, err)
			}
		}
		if locks := kerneltest.Do(t, "cat", "/proc/locks"); strings.Contains(locks, fmt.Sprintf(" %d ", guard[0])) {
			t.Errorf("the guard %d has a lock:\n%s", guard[0], locks)
		}
		if err := syscall.Kill(guard[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = agent.Process.Kill()
		_ = agent.Wait()
		if _, err := Open(path, Lease); !isLeftover(err) {
			t.Errorf("a new agent: %v", err)
		}
		if found := recoverAll(t, RecoverOptions{Journal: path}); found[arpKey].Result != Reverted ||
			arpIgnore(t) != "0" {
			t.Errorf("recovered %+v", found)
		}
		for range 10 { // at the same time
			agent := holder(t, path, "renewals")
			_ = agent.Process.Kill()
			found := recoverAll(t, RecoverOptions{Journal: path})
			_ = agent.Wait()
			for _, r := range found {
				if r.Result != Reverted && r.Result != Unchanged && r.Result != InUse && !r.busy {
					t.Errorf("beside the guard: %+v", r)
				}
			}
			awaitGone(t, path, "beside recovery")
			if value := arpIgnore(t); value != "0" {
				t.Fatalf("it is %s: %+v", value, found)
			}
		}
	})
}

// children are the processes that a process has started.
func children(t *testing.T, pid int) (list []int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, _ := os.ReadFile(task) // a thread may have ended
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}
