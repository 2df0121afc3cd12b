package sqlite

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/conformance"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// golden are notebooks that earlier versions wrote: each format of the file with each
// schema of runs. In each are the run arp-flux-7, complete, with two trials of package
// conformance and the note "a note", and long-fat-1 with one, whose process ended.
//
// A new format or schema adds a file, written by the code before it; none is ever changed.
var golden = []struct {
	name   string
	format int
	reads  bool // the schema of its runs is today's
}{
	{"format1-run-v1", 1, false},
	{"format2-run-v1", 2, false},
	{"format2-run-v2", 2, true},
	{"format4-run-v2", 4, true},
}

// unpacked is one of the golden notebooks.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestGolden: notebooks of earlier versions are converted; their runs are read with all
// that was stored, and carried on, or it is said which version reads them.
func TestGolden(t *testing.T) {
	newest := golden[len(golden)-1]
	if newest.format != len(migrations) || !newest.reads {
		t.Errorf("the format is %d, and the newest golden notebook has %d", len(migrations), newest.format)
	}
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notebook.db")
			if err := os.WriteFile(path, unpacked(t, g.name), 0o600); err != nil {
				t.Fatal(err)
			}
			if g.format < len(migrations) {
				if _, err := OpenReadOnly(background, path); !errors.Is(err, notebook.ErrOlder) {
					t.Errorf("read only: %v, want %v", err, notebook.ErrOlder)
				}
			}
			s := open(t, path)
			list, err := s.Runs(background, notebook.Filter{})
			if err != nil || len(list) != 2 || list[0].ID != "long-fat-1" || list[0].Status != notebook.Interrupted ||
				list[0].Trials != 1 ||
				list[1].ID != "arp-flux-7" || list[1].Status != notebook.Complete || list[1].Trials != 2 ||
				list[1].Notes != 1 || !list[1].Started.Equal(conformance.Started) {
				t.Fatalf("runs: %+v, %v", list, err)
			}
			for _, one := range list {
				run, err := s.Run(background, one.ID)
				if !g.reads {
					if !errors.Is(err, notebook.ErrOldRun) {
						t.Errorf("%s: %v, want %v", one.ID, err, notebook.ErrOldRun)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if lost := lostFrom(t, s, run); len(lost) > 0 {
					t.Errorf("%s: read without %s", one.ID, strings.Join(lost, ", "))
				}
			}
			notes, err := s.Notes(background, "arp-flux-7")
			if err != nil || len(notes) != 1 || notes[0].Text != "a note" || !notes[0].Time.Equal(conformance.Started) {
				t.Errorf("notes: %+v, %v", notes, err)
			}
			if g.reads {
				run, err := s.Resume(background, "long-fat-1", false)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.SaveTrial(background, run.ID, conformance.Trial(2)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// lostFrom lists the keys of a run's stored documents that the run is read without, or with
// another value.
func lostFrom(t *testing.T, s *Store, run *record.Run) (lost []string) {
	t.Helper()
	compare := func(what string, document []byte, value any) {
		var stored, read any
		if err := unpack(document, &stored); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil {
			t.Fatal(err)
		}
		lost = append(lost, missing(what, stored, read)...)
	}
	documents := func(query string) (list [][]byte) {
		rows, err := s.db.Query(query, run.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var document []byte
			if err := rows.Scan(&document); err != nil {
				t.Fatal(err)
			}
			list = append(list, document)
		}
		return list
	}
	header := *run
	header.Trials = nil
	compare("run", documents("SELECT document FROM run WHERE id = ?")[0], header)
	for i, document := range documents(
		"SELECT trial.document FROM trial JOIN run ON run.number = trial.run WHERE run.id = ? ORDER BY place") {
		compare(fmt.Sprintf("trial %d", i+1), document, run.Trials[i])
	}
	return lost
}

// missing lists what of a JSON value another one has not.
func missing(at string, old, now any) (list []string) {
	switch old := old.(type) {
	case map[string]any:
		other, _ := now.(map[string]any)
		for key, value := range old {
			list = append(list, missing(at+"."+key, value, other[key])...)
		}
	case []any:
		other, _ := now.([]any)
		for i, value := range old {
			var there any
			if i < len(other) {
				there = other[i]
			}
			list = append(list, missing(fmt.Sprintf("%s[%d]", at, i), value, there)...)
		}
	default:
		// Zero values are left out by some versions.
		if old != nil && !reflect.ValueOf(old).IsZero() && !reflect.DeepEqual(old, now) {
			list = append(list, fmt.Sprintf("%s (%v, now %v)", at, old, now))
		}
	}
	return list
}

// TestConversionPowerCut cuts the power behind each call while a notebook of the first
// format is converted: it is of the first format or of the newest, with all of its runs.
func TestConversionPowerCut(t *testing.T) {
	kerneltest.Slow(t)
	old := unpacked(t, golden[0].name)
	var calls []kerneltest.Call
	if !kerneltest.Supervised(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "notebook.db")
		f, err := os.Create(path)
		if err == nil {
			_, err = f.Write(old)
			err = errors.Join(err, f.Sync(), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := open(t, path).Close(); err != nil {
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
	formats := map[int]int{}
	cuts(t, calls, func(path string) error {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || len(text) < len(old) {
			return nil // before the old one was there
		}
		s := newStore(path, false)
		if err := s.connect(background, nil); err != nil {
			return err
		}
		id, err := identify(background, s.db, len(migrations))
		if err = errors.Join(err, s.db.Close()); err != nil {
			return err
		}
		if formats[id.format]++; id.format != golden[0].format && id.format != len(migrations) {
			return fmt.Errorf("format %d", id.format)
		}
		if s, err = Open(background, path); err != nil {
			return err
		}
		list, err := s.Runs(background, notebook.Filter{})
		if err == nil && (len(list) != 2 || list[1].Trials != 2) {
			err = fmt.Errorf("runs %+v", list)
		}
		return errors.Join(err, s.Close())
	}, func(kerneltest.Call) bool { return false })
	if formats[golden[0].format] == 0 || formats[len(migrations)] == 0 {
		t.Errorf("formats %v: the test does not test", formats)
	}
}
