package apply

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestPowerCut ends an agent behind each call that writes its journal. If it was killed, the
// journal has each change that is not undone. After a power cut, whatever is left of what
// was not synced, the journal keeps no agent from starting.
func TestPowerCut(t *testing.T) {
	var calls []kerneltest.Call
	if !kerneltest.Supervised(t, func(t *testing.T, dir string) {
		j, _, _, err := openJournal(filepath.Join(dir, "journal.jsonl"), exampleHeader())
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range []struct {
			line    line
			durable bool
			promise string // the numbers of the entries that are in the journal
		}{
			{line{Entry: exampleEntry(1)}, true, "1"}, {line{Entry: exampleEntry(2)}, true, "12"}, {line{Entry: exampleEntry(2)}, false, "12"},
			{line{Entry: exampleEntry(3)}, true, "123"}, {line{Done: 3}, false, "12"}, {line{Done: 2}, false, "1"}, {line{Entry: exampleEntry(4)}, true, "14"}, {line{Done: 4}, false, "1"},
		} {
			// Before the line, what may be undone is; after it, what is to be there is.
			if !step.durable {
				promise(t, dir, step.promise)
			}
			if _, err := j.append(step.line, step.durable); err != nil {
				t.Fatalf("line %d: %v", i, err)
			}
			promise(t, dir, step.promise)
		}
		promise(t, dir, "")
		if err := j.reset(); err != nil {
			t.Fatal(err)
		}
	}, func(dir string, c kerneltest.Call) kerneltest.Fault {
		if strings.HasPrefix(c.Path, dir) {
			calls = append(calls, c)
		}
		return kerneltest.Fault{}
	}) {
		return
	}
	disk, promised, random, read := kerneltest.NewDisk(), "", rand.New(rand.NewPCG(7, 8)), 0
	at := filepath.Join(t.TempDir(), "journal.jsonl")
	for i, c := range calls {
		if filepath.Base(c.Path) == "promised" {
			if c.Op == kerneltest.Write {
				promised = string(c.Data)
			}
			continue
		}
		disk.Do(c)
		for n := range 5 * kerneltest.Remains {
			remains := min(n, kerneltest.Mixed)
			if err := os.Remove(at); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			text, there := disk.Cut(remains, random)[filepath.Join(filepath.Dir(c.Path), "journal.jsonl")]
			if there {
				if err := os.WriteFile(at, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			read++
			now := exampleHeader()
			if remains != kerneltest.Kept {
				now.Boot = "another boot"
			}
			j, _, entries, err := openJournal(at, now)
			if err != nil {
				t.Fatalf("cut behind call %d (%s), %d: %v\n%q", i, c.Op, remains, err, text)
			}
			for _, seq := range strings.TrimSpace(promised) {
				if remains == kerneltest.Kept && index(entries, int(seq-'0')) < 0 {
					t.Errorf("cut behind call %d (%s), %d: change %c is not in the journal\n%q", i, c.Op, remains, seq, text)
				}
			}
			if err := j.close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d calls, %d journals read", len(calls), read)
	if read < 200 {
		t.Error("the test does not test")
	}
}

// promise notes which changes are in the journal from now on, in the list of calls.
func promise(t *testing.T, dir, entries string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "promised"), []byte(entries+" "), 0o600); err != nil {
		t.Fatal(err)
	}
}
