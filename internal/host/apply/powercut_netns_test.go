//go:build linux && !portable

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/setting"
)

// TestJournalLosesPower has an agent apply some settings and revert some of them, and end.
// Meanwhile the disk of its journal, such as one of another machine, has lost its power, and
// comes back with any part of what was not synced; the settings are still there. Recovery
// from that brings everything back. Where a line is left without the one before, the
// journal is refused, and nothing is guessed.
func TestJournalLosesPower(t *testing.T) {
	kerneltest.Slow(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		disk, random := kerneltest.NewDisk(), rand.New(rand.NewPCG(9, 10))
		kerneltest.Supervised(t, losePower, func(dir string, c kerneltest.Call) kerneltest.Fault {
			journal := filepath.Join(dir, "journal.jsonl")
			switch {
			case c.Path == filepath.Join(dir, "cut") && c.Op == kerneltest.Write:
				text, there := disk.Cut(int(c.Data[0]), random)[journal]
				err := os.Remove(journal)
				if there {
					err = os.WriteFile(journal, text, 0o600)
				}
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					return kerneltest.Fault{Errno: syscall.EIO}
				}
			case c.Path == filepath.Join(dir, "new"):
				disk = kerneltest.NewDisk()
			case c.Path == dir || strings.HasPrefix(c.Path, journal):
				disk.Do(c)
			}
			return kerneltest.Fault{}
		})
	})
}

func losePower(t *testing.T, dir string) {
	scene(t)
	tell := func(name string, remains int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte{byte(remains)}, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "journal.jsonl")
	before, brief, settings := look(t), glance(t), killCases()["plain"]
	results := map[string]int{}
	round := func(applied, kept, remains int) {
		tell("new", 0)
		m, err := Open(path, Lease)
		if err != nil {
			t.Fatal(err)
		}
		var marks []int
		for _, s := range settings[:applied] {
			_, mark, err := applySettings(m, context.Background(), []setting.Setting{s}, false)
			if err != nil {
				t.Fatal(err)
			}
			marks = append(marks, mark)
		}
		if kept < applied {
			err = m.RevertTo(marks[kept])
		}
		if err := errors.Join(err, m.Close()); err != nil {
			t.Fatal(err)
		}
		tell("cut", remains)
		list, err := Recover(RecoverOptions{Journal: path})
		if _, torn := errors.AsType[*json.SyntaxError](err); torn && remains == kerneltest.Mixed {
			results["refused"]++
			tell("cut", kerneltest.Kept)
			list, err = Recover(RecoverOptions{Journal: path})
		}
		if err != nil {
			t.Fatalf("%d of %d settings kept, %d: %v", kept, applied, remains, err)
		}
		for _, r := range list {
			results[r.Result]++
			if r.Result != Reverted && r.Result != Unchanged {
				t.Errorf("%d of %d settings kept, %d: %+v", kept, applied, remains, r)
			}
		}
		if d := differences(brief, glance(t)); d != "" {
			t.Fatalf("%d of %d settings kept, %d: recovered %+v, not as before:\n%s", kept, applied, remains, list, d)
		}
	}
	want := 0
	for remains := range kerneltest.Remains {
		for applied := range len(settings) + 1 {
			for kept := range applied + 1 {
				round(applied, kept, remains)
				want += kept
			}
		}
	}
	t.Logf("%d changes were there: %v", want, results)
	if results[Reverted] != want || results[Unchanged] == 0 {
		t.Errorf("%v: expected %d %s, and some %s, whose undoing was lost", results, want, Reverted, Unchanged)
	}
	if d := differences(before, look(t)); d != "" {
		t.Errorf("not as before:\n%s", d)
	}
}
