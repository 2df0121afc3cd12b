package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestPowerCut ends an agent behind each call that writes its journal. Whatever is left of
// what was not synced, each line that was durable is read back as it was written. If the
// agent was killed, the journal has each change that is not undone. After a restart it keeps
// no agent from starting.
func TestPowerCut(t *testing.T) {
	var calls []kerneltest.Call
	if !kerneltest.Supervised(t, func(t *testing.T, dir string) {
		j, _, _, err := openJournal(filepath.Join(dir, "journal.jsonl"), exampleHeader())
		if err != nil {
			t.Fatal(err)
		}
		note := func(name, text string) { // in the list of calls
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text+" "), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for i, step := range []struct {
			line    line
			durable bool
			promise string // the numbers of the entries that are in the journal
		}{
			{line{Entry: exampleEntry(1)}, true, "1"}, {line{Entry: exampleEntry(2)}, true, "12"},
			{line{Entry: amended()}, false, "12"},
			{line{Entry: exampleEntry(3)}, true, "123"}, {line{Done: 3}, false, "12"}, {line{Done: 2}, false, "1"},
			{line{Entry: exampleEntry(4)}, true, "14"}, {line{Done: 4}, false, "1"},
		} {
			// Before the line, what may be undone is; after it, what is to be there is.
			if !step.durable {
				note("promised", step.promise)
			}
			if _, err := j.append(step.line, step.durable); err != nil {
				t.Fatalf("line %d: %v", i, err)
			}
			if step.durable {
				text, err := os.ReadFile(j.path)
				if err != nil {
					t.Fatal(err)
				}
				note("durable", string(text))
			}
			note("promised", step.promise)
		}
		note("promised", "")
		note("durable", "")
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
	disk, noted, random, read, whole := kerneltest.NewDisk(), map[string]string{}, rand.New(rand.NewPCG(7, 8)), 0, 0
	at := filepath.Join(t.TempDir(), "journal.jsonl")
	for i, c := range calls {
		if name := filepath.Base(c.Path); name == "promised" || name == "durable" {
			if c.Op == kerneltest.Write {
				noted[name] = strings.TrimSuffix(string(c.Data), " ")
			}
			continue
		}
		disk.Do(c)
		for n := range 5 * kerneltest.Remains {
			remains := min(n, kerneltest.Mixed)
			text := disk.Cut(remains, random)[filepath.Join(filepath.Dir(c.Path), "journal.jsonl")]
			fail := func(format string, args ...any) {
				t.Helper()
				t.Fatalf("cut behind call %d (%s), %d: %s\n%q", i, c.Op, remains, fmt.Sprintf(format, args...), text)
			}
			if !strings.HasPrefix(string(text), noted["durable"]) {
				fail("a line is lost that was durable:\n%q", noted["durable"])
			}
			read++
			entries, err := reopened(t, at, text, exampleHeader())
			switch _, torn := errors.AsType[*json.SyntaxError](err); {
			case torn && remains == kerneltest.Mixed: // behind the durable lines
			case err != nil:
				fail("%v", err)
			default:
				whole++
				_, want, _, _ := decodeJournal([]byte(noted["durable"]))
				for _, e := range want {
					n := index(entries, e.Seq)
					switch {
					case n < 0 && strings.Contains(noted["promised"], strconv.Itoa(e.Seq)):
						fail("durable change %d is not in the journal", e.Seq)
					case n >= 0 && !alike(t, entries[n], e) && !(e.Seq == 2 && alike(t, entries[n], amended())):
						fail("change %d is another than was written: %+v", e.Seq, entries[n])
					}
				}
				for _, seq := range noted["promised"] {
					if remains == kerneltest.Kept && index(entries, int(seq-'0')) < 0 {
						fail("change %c is not in the journal", seq)
					}
				}
			}
			restarted := exampleHeader()
			restarted.Boot = "another boot"
			if _, err := reopened(t, at, text, restarted); err != nil {
				fail("after a restart: %v", err)
			}
		}
	}
	t.Logf("%d calls, %d journals read, %d whole", len(calls), read, whole)
	if read < 200 || whole < read/2 {
		t.Error("the test does not test")
	}
}

// amended replaces the second change of the journal.
func amended() *entry {
	e := exampleEntry(2)
	e.New = State{Text: "2"}
	return e
}

func alike(t *testing.T, a, b *entry) bool {
	t.Helper()
	return bytes.Equal(encode(t, a), encode(t, b))
}

// reopened is what openJournal reads from a file with this text; nil: there is no file.
func reopened(t *testing.T, at string, text []byte, here header) ([]*entry, error) {
	t.Helper()
	err := os.Remove(at)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if text != nil {
		err = errors.Join(err, os.WriteFile(at, text, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	j, _, entries, err := openJournal(at, here)
	if err == nil {
		err = j.close()
	}
	return entries, err
}

func index(entries []*entry, seq int) int {
	return slices.IndexFunc(entries, func(e *entry) bool { return e.Seq == seq })
}
