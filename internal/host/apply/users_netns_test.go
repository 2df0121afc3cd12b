//go:build linux && !portable

package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
	"linerate/internal/model/setting"
)

// nobody is the uid of a user other than root.
const nobody = 65534

// asUser is what a process of another user does: "change" makes a change with a journal of
// its own and undoes it, "recover" undoes what a journal has, "lock" takes the lock of the settings and keeps it.
func asUser(what, path string) error {
	if what == "recover" {
		list, err := Recover(RecoverOptions{Journal: path, Force: true})
		fmt.Println(list)
		return err
	}
	if what == "lock" {
		if _, err := (proc.Sysctls{}).Lock(namespaceLock); err != nil {
			return err
		}
		fmt.Println("locked")
		select {}
	}
	m, err := Open(path, Lease)
	if err != nil {
		return err
	}
	// Without CAP_SYS_ADMIN it is not known that the parameter is not machine-wide.
	_, err = m.Apply(context.Background(), message.ApplyRequest{Settings: []setting.Setting{parameter(arpKey, "2")},
		AllowMachine: true})
	return errors.Join(err, m.End())
}

// user is such a process; capable has CAP_NET_ADMIN.
func user(capable bool, what, path string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"HOME=/", "PATH=" + os.Getenv("PATH"), userDoes + "=" + what, killJournal + "=" + path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if capable {
		const netAdmin = 12 // CAP_NET_ADMIN, capabilities(7)
		cmd.SysProcAttr.AmbientCaps = []uintptr{netAdmin}
	}
	return cmd
}

// home is a directory of a user.
func home(t *testing.T, uid int) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "linerate-home-")
	if err == nil {
		err = os.Chown(dir, uid, uid)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestTwoUsers: of root and another user with CAP_NET_ADMIN, each with journals of his own,
// one at a time changes settings of a namespace. A user without the capability keeps no process
// from it.
func TestTwoUsers(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		his := filepath.Join(home(t, nobody), "journal-nas-1.jsonl")
		if out, err := user(false, "lock", his).CombinedOutput(); err == nil ||
			!strings.Contains(string(out), "operation not permitted") {
			t.Errorf("a user without capabilities takes the lock: %v\n%s", err, out)
		}
		m := open(t, filepath.Join(home(t, 0), "journal-nas-1.jsonl"))
		change := []setting.Setting{parameter(arpKey, "1")}
		if _, _, err := applySettings(m, context.Background(), change, false); err != nil {
			t.Fatal(err)
		}
		out, err := user(true, "change", his).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "nothing was changed: another linerate process") ||
			!strings.Contains(string(out), fmt.Sprintf("held by process %d", os.Getpid())) {
			t.Errorf("two users at once: %v\n%s", err, out)
		}
		if value := arpIgnore(t); value != "1" {
			t.Errorf("it is %s", value)
		}
		if err := errors.Join(m.RevertTo(0), m.locks.release()); err != nil {
			t.Fatal(err)
		}
		if out, err := user(true, "change", his).CombinedOutput(); err != nil {
			t.Errorf("one after the other: %v\n%s", err, out)
		}
		if value := arpIgnore(t); value != "0" {
			t.Errorf("it is %s", value)
		}

		// In the other order.
		holder := user(true, "lock", his)
		said, err := holder.StdoutPipe()
		if err == nil {
			err = holder.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = said.Read(make([]byte, 8))
		if _, _, err := applySettings(m, context.Background(), change, false); !errors.Is(err, file.ErrLocked) {
			t.Errorf("root beside another user: %v", err)
		}
		_ = holder.Process.Kill()
		_ = holder.Wait()
		if _, _, err := applySettings(m, context.Background(), change, false); err != nil {
			t.Errorf("after the other user: %v", err)
		}
		if err := m.RevertTo(0); err != nil {
			t.Error(err)
		}
	})
}

// TestTwoAgents: the second of two agents in a namespace, of whatever name and directory,
// changes nothing. Its undo would restore what the first one had set.
func TestTwoAgents(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		first, second := open(t, filepath.Join(t.TempDir(), "a")), open(t, filepath.Join(t.TempDir(), "b"))
		if _, _, err := applySettings(first, context.Background(), []setting.Setting{parameter(arpKey, "1")},
			false); err != nil {
			t.Fatal(err)
		}
		if _, _, err := applySettings(second, context.Background(), []setting.Setting{parameter(arpKey, "2")},
			false); !errors.Is(err, file.ErrLocked) {
			t.Errorf("the second agent: %v", err)
		}
		if err := errors.Join(first.RevertTo(0), second.RevertTo(0)); err != nil {
			t.Error(err)
		}
		if value := arpIgnore(t); value != "0" {
			t.Errorf("it is %s", value)
		}
	})
}

// TestForeignJournals: a journal is applied only if it is this user's or root's, and no
// other user can have written it.
func TestForeignJournals(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		dir := home(t, 0)
		good := filepath.Join(dir, "journal-nas-1.jsonl")
		leave(t, good, parameter(arpKey, "1"))
		text, err := os.ReadFile(good)
		if err != nil {
			t.Fatal(err)
		}
		write := func(path string) {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		theirs, shared := home(t, nobody), home(t, 0)
		must(os.Chmod(shared, 0o777))
		for want, path := range map[string]string{
			"symbolic link": "link", "expected a regular file": "fifo", "owned by uid 65534": "owned",
			"others can write it: expected 0600": "mode",
			"expected at most":                   "large", "expected uid 0 or root": filepath.Join(theirs, "journal"),
			"others can write it: expected 0755": filepath.Join(shared, "journal"),
		} {
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			switch filepath.Base(path) {
			case "link":
				must(os.Symlink(good, path))
			case "fifo":
				must(syscall.Mkfifo(path, 0o600))
			default:
				write(path)
			}
			switch filepath.Base(path) {
			case "owned":
				must(os.Chown(path, nobody, nobody))
			case "mode":
				must(os.Chmod(path, 0o622))
			case "large":
				must(os.Truncate(path, maxJournal+1))
			}
			list, err := Recover(RecoverOptions{Journal: path, Force: true})
			if err == nil || len(list) > 0 || !strings.Contains(err.Error(), path) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: %+v, %v, want an error with %q", path, list, err, want)
			}
			if value := arpIgnore(t); value != "1" {
				t.Fatalf("%s was applied: it is %s", path, value)
			}
		}
		// Another user who may change the network, also by a name of his own for root's journal, and root by that.
		must(os.Chmod(dir, 0o755))
		must(os.Chmod(good, 0o644))
		his := filepath.Join(theirs, "linked")
		must(os.Link(good, his)) // as fs.protected_hardlinks=0 lets him
		for _, path := range []string{good, his} {
			if out, err := user(true, "recover", path).CombinedOutput(); err == nil || arpIgnore(t) != "1" {
				t.Errorf("%s is recovered by another user: %v\n%s", path, err, out)
			}
		}
		if list, err := Recover(RecoverOptions{Journal: his, Force: true}); err == nil || arpIgnore(t) != "1" {
			t.Errorf("a link in another user's directory is recovered: %+v, %v", list, err)
		}
		if now, err := os.ReadFile(good); err != nil || string(now) != string(text) {
			t.Errorf("the journal is %q, %v", now, err)
		}
		must(os.Chmod(good, 0o600))
		if found := recoverAll(t, RecoverOptions{Journal: good}); found[arpKey].Result != Reverted ||
			arpIgnore(t) != "0" {
			t.Errorf("recovered %+v", found)
		}
	})
}
