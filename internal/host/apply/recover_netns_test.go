//go:build linux && !portable

package apply

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/setting"
)

// leave makes a journal as a killed agent leaves it.
func leave(t *testing.T, path string, settings ...setting.Setting) {
	t.Helper()
	m, err := Open(path, Lease)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := applySettings(m, context.Background(), settings, false); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

func recoverAll(t *testing.T, options RecoverOptions) map[string]Recovered {
	t.Helper()
	list, err := Recover(options)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Recovered{}
	for _, r := range list {
		found[r.What] = r
	}
	return found
}

func TestRecoverKeepsForeignChanges(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		const ours, theirs = "net.ipv4.conf.all.arp_announce", "net.ipv4.conf.all.arp_ignore"
		leave(t, path, parameter(ours, "2"), parameter(theirs, "1"))
		kerneltest.Do(t, "sysctl", "-qw", theirs+"=8")
		value := func(key string) string { return strings.TrimSpace(kerneltest.Do(t, "sysctl", "-n", key)) }

		listed := recoverAll(t, RecoverOptions{Journal: path, List: true})
		if listed[ours].Result != Pending || listed[theirs].Result != Kept || value(ours) != "2" {
			t.Errorf("listed %+v; %s is %s", listed, ours, value(ours))
		}
		found := recoverAll(t, RecoverOptions{Journal: path})
		if found[ours].Result != Reverted || found[theirs].Result != Kept || found[theirs].Now != "8" ||
			found[theirs].Why == "" {
			t.Errorf("recovered %+v", found)
		}
		if value(ours) != "0" || value(theirs) != "8" {
			t.Errorf("%s %s, %s %s", ours, value(ours), theirs, value(theirs))
		}
		found = recoverAll(t, RecoverOptions{Journal: path, Force: true})
		if len(found) != 1 || found[theirs].Result != Reverted || value(theirs) != "0" {
			t.Errorf("forced %+v; %s is %s", found, theirs, value(theirs))
		}
		if found := recoverAll(t, RecoverOptions{Journal: path}); len(found) != 0 {
			t.Errorf("something is left: %+v", found)
		}
	})
}

func TestRecoverElsewhereAndLater(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		const key = "net.ipv4.conf.all.arp_ignore"
		leave(t, path, parameter(key, "1"))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h, _, _, err := decodeJournal(text)
		if err != nil {
			t.Fatal(err)
		}

		// In another namespace nothing is touched.
		other := strings.ReplaceAll(string(text), h.NetNS.String(), "")
		other = replaceHeader(t, other, header{JournalSchema, h.Boot, netlink.NetNS{Inode: 1, Cookie: 1}, h.PID,
			h.Started})
		if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		found := recoverAll(t, RecoverOptions{Journal: path, Force: true})
		if found[key].Result != Kept || !strings.Contains(found[key].Why, "another network namespace") {
			t.Errorf("in another namespace: %+v", found)
		}
		if _, err := Open(path, Lease); !isLeftover(err) {
			t.Errorf("a new agent: %v", err)
		}
		found = recoverAll(t, RecoverOptions{Journal: path, Forget: true})
		if found[key].Result != Forgotten || strings.TrimSpace(kerneltest.Do(t, "sysctl", "-n", key)) != "1" {
			t.Errorf("forgotten: %+v", found)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the journal is still there: %v", err)
		}

		// After a restart of the machine nothing is left to undo.
		rebooted := replaceHeader(t, string(text), header{JournalSchema, "another-boot", h.NetNS, h.PID, h.Started})
		if err := os.WriteFile(path, []byte(rebooted), 0o600); err != nil {
			t.Fatal(err)
		}
		found = recoverAll(t, RecoverOptions{Journal: path})
		if found[key].Result != Gone || strings.TrimSpace(kerneltest.Do(t, "sysctl", "-n", key)) != "1" {
			t.Errorf("after a restart: %+v", found)
		}
		if err := os.WriteFile(path, []byte(rebooted), 0o600); err != nil {
			t.Fatal(err)
		}
		open(t, path) // starts afresh

		// The kernel gives a namespace's number to another only when it is gone.
		reused := replaceHeader(t, string(text),
			header{JournalSchema, h.Boot, netlink.NetNS{Inode: h.NetNS.Inode, Cookie: h.NetNS.Cookie + 1}, h.PID,
				h.Started})
		path = filepath.Join(t.TempDir(), "journal")
		if h.NetNS.Cookie == 0 {
			t.Log("this kernel has no cookies of namespaces: not tried")
			return
		}
		if err := os.WriteFile(path, []byte(reused), 0o600); err != nil {
			t.Fatal(err)
		}
		if found := recoverAll(t, RecoverOptions{Journal: path, List: true}); found[key].Result != Gone {
			t.Errorf("in a namespace that is no more: %+v", found)
		}
		open(t, path) // starts afresh
	})
}

// What an agent of another name has left changed here blocks a new
// one as well; what it left elsewhere, or still works on, does not.
func TestLeftoversOfOtherNames(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		own, others := filepath.Join(dir, "journal-b-1.jsonl"), filepath.Join(dir, "journal-a-1.jsonl")
		change := parameter("net.ipv4.conf.all.arp_ignore", "1")
		alive, err := Open(others, Lease)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := applySettings(alive, context.Background(), []setting.Setting{change}, false); err != nil {
			t.Fatal(err)
		}
		try := func() error {
			m, err := Open(own, Lease)
			if err != nil {
				return err
			}
			return m.Close()
		}
		if err := try(); err != nil {
			t.Errorf("beside an agent that is alive: %v", err)
		}
		if err := alive.RevertTo(0); err != nil {
			t.Fatal(err)
		}
		if err := alive.Close(); err != nil {
			t.Fatal(err)
		}

		leave(t, others, change)
		var left *LeftoverError
		if err := try(); !errors.As(err, &left) || left.Journal != others || len(left.What) != 1 {
			t.Errorf("beside what was left: %v", err)
		}
		text, err := os.ReadFile(others)
		if err != nil {
			t.Fatal(err)
		}
		h, _, _, err := decodeJournal(text)
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := replaceHeader(t, string(text), header{JournalSchema, h.Boot, netlink.NetNS{Inode: 1, Cookie: 1},
			h.PID, h.Started})
		if err := os.WriteFile(others, []byte(elsewhere), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := try(); err != nil {
			t.Errorf("beside what was left elsewhere: %v", err)
		}
		everywhere := strings.NewReplacer("net.ipv4.conf.all.arp_ignore", "vm.swappiness", `"namespace"`,
			`"machine"`).Replace(elsewhere)
		if err := os.WriteFile(others, []byte(everywhere), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := try(); !isLeftover(err) {
			t.Errorf("beside what was left for the whole machine: %v", err)
		}
	})
}

func replaceHeader(t *testing.T, text string, h header) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n")
	if !found {
		t.Fatal("no header")
	}
	return string(encode(t, h)) + rest
}

func TestOneAgentPerJournal(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		first := open(t, path)
		change := []setting.Setting{parameter("net.ipv4.conf.all.arp_ignore", "1")}
		if _, _, err := applySettings(first, context.Background(), change, false); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, Lease); !errors.Is(err, file.ErrLocked) || !strings.Contains(err.Error(), path) {
			t.Errorf("a second agent: %v", err)
		}
		for _, r := range recoverAll(t, RecoverOptions{Journal: path, Force: true}) {
			if r.Result != InUse || !strings.Contains(r.Why, strconv.Itoa(os.Getpid())) {
				t.Errorf("recovery under a running agent: %+v", r)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("the journal was touched: %v", err)
		}
		if err := first.RevertTo(0); err != nil {
			t.Error(err)
		}
	})
}
