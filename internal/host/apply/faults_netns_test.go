//go:build linux && !portable

package apply

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestEveryCallFails has each call of an agent that applies settings and reverts them fail
// in turn: of the journal (with nothing written, or half of it), of kernel parameters, and
// messages to the kernel. Once calls succeed again, reverting and recovering bring
// everything back, and leave no journal.
func TestEveryCallFails(t *testing.T) {
	kerneltest.Slow(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(5, 6))
		var left int
		all, failed := false, map[string]int{} // all: each call has failed
		if !kerneltest.Supervised(t, failEach, func(dir string, c kerneltest.Call) kerneltest.Fault {
			switch {
			case c.Path == filepath.Join(dir, "arm"):
				if c.Op == kerneltest.Write {
					if all = all || left > 0; all { // a call of this number did not come
						return kerneltest.Fault{Errno: syscall.ENODATA}
					}
					left = int(c.Data[0])
				}
			case left > 0 && (c.Op == kerneltest.Send || strings.HasPrefix(c.Path, dir) ||
				strings.HasPrefix(c.Path, "/proc/sys/")):
				if left--; left == 0 {
					failed[c.Op]++
					switch {
					case c.Op == kerneltest.Send:
						return kerneltest.Fault{Errno: syscall.ENOBUFS}
					case random.IntN(2) == 0:
						return kerneltest.Fault{Errno: syscall.ENOSPC, Torn: strings.HasPrefix(c.Path, dir)}
					}
					return kerneltest.Fault{Errno: syscall.EIO}
				}
			}
			return kerneltest.Fault{}
		}) {
			return
		}
		t.Logf("failed: %v", failed)
		for _, op := range []string{kerneltest.Create, kerneltest.Write, kerneltest.Sync, kerneltest.Rename,
			kerneltest.Remove, kerneltest.Send} {
			if failed[op] == 0 {
				t.Errorf("no %s failed: the test does not test", op)
			}
		}
	})
}

// failEach applies and reverts, again and again, with another call that fails.
func failEach(t *testing.T, dir string) {
	scene(t)
	arm := func(n int) error { return os.WriteFile(filepath.Join(dir, "arm"), []byte{byte(n)}, 0o600) }
	path := filepath.Join(dir, "journal.jsonl")
	before, brief := look(t), glance(t)
	for n := 1; ; n++ {
		if err := arm(n); err != nil {
			t.Fatal(err)
		}
		m, problems := Open(path, Lease)
		if problems == nil {
			_, _, problems = applySettings(m, context.Background(), killCases()["plain"], false)
			problems = errors.Join(problems, m.RevertTo(0))
		}
		if err := arm(0); err != nil {
			break // there is no call of this number
		}
		if m != nil {
			// What could not be reverted stays in the journal for recovery, as when an agent ends.
			_ = m.Close()
		}
		list, err := Recover(RecoverOptions{Journal: path})
		if err != nil {
			t.Fatalf("call %d failed with %v; then: %v", n, problems, err)
		}
		for _, r := range list {
			if r.Result != Reverted && r.Result != Unchanged {
				t.Errorf("call %d failed with %v; then: %+v", n, problems, r)
			}
		}
		if d := differences(brief, glance(t)); d != "" {
			t.Fatalf("call %d failed with %v; recovered %+v, not as before:\n%s", n, problems, list, d)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("call %d failed with %v; the journal is still there", n, problems)
		}
	}
	if d := differences(before, look(t)); d != "" {
		t.Errorf("not as before:\n%s", d)
	}
}

// glance is what look sees of the settings that are changed here, in less time.
func glance(t *testing.T) string {
	t.Helper()
	return carrier.ReplaceAllString(kerneltest.Do(t, "sh", "-ec", `tc qdisc show dev eth1
		cat /proc/sys/net/ipv4/conf/all/arp_ignore
		exec ip -batch - <<-end
			route show table all
			rule show
			neigh show nud permanent
		end`), "")
}
