package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
)

// written creates files for a run, in a directory of their own, and adds their paths.
func written(t testing.TB, s notebook.Store, id string, names ...string) (paths []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), id)
	must(t, os.Mkdir(dir, 0o755))
	paths = append(paths, dir+string(filepath.Separator))
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	must(t, s.AddFiles(t.Context(), id, paths...))
	for _, path := range paths[1:] {
		must(t, os.WriteFile(path, []byte(id), 0o644))
	}
	return paths
}

// Erase removes the files of a run, and directories if they are empty.
func Erase(_ string, paths []string) error {
	var problems []error
	// Directories last.
	paths = slices.SortedFunc(slices.Values(paths), func(a, b string) int { return len(b) - len(a) })
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !os.IsPathSeparator(path[len(path)-1]) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

func filesOf(t testing.TB, s notebook.Store, id string) []string {
	t.Helper()
	paths, err := s.Files(t.Context(), id)
	must(t, err)
	return paths
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func filesAreKept(t testing.TB, open Opener) {
	s := open()
	first, second := begin(t, s, "arp-flux", 1), begin(t, s, "arp-flux", 2)
	paths := written(t, s, first.ID, "report.html", "run.json")
	must(t, s.AddFiles(t.Context(), first.ID, paths[1])) // a path added twice is stored once
	same(t, "files", filesOf(t, open(), first.ID), paths)
	must(t, s.AddFiles(t.Context(), second.ID, paths[1]))
	same(t, "files of the first after the second took one", filesOf(t, s, first.ID), []string{paths[0], paths[2]})
	same(t, "files of the second", filesOf(t, s, second.ID), []string{paths[1]})
	want(t, "files of no run", s.AddFiles(t.Context(), "arp-flux-3", "/x"), notebook.ErrNotFound)
}

func removed(t testing.TB, open Opener) {
	s := open()
	gone, kept := begin(t, s, "arp-flux", 1), begin(t, s, "arp-flux", 2)
	for _, run := range []*record.Run{gone, kept} {
		save(t, s, run.ID, 1, 2)
		must(t, s.AddNote(t.Context(), run.ID, record.Note{Time: Started, Text: run.ID}))
	}
	files, others := written(t, s, gone.ID, "report.html", "trials.jsonl.gz"), written(t, s, kept.ID, "report.html")
	mine := filepath.Join(filepath.Dir(others[1]), "mine.txt")
	must(t, os.WriteFile(mine, nil, 0o644))

	want(t, "remove what is held", open().Remove(t.Context(), Erase, gone.ID), notebook.ErrHeld)
	want(t, "remove what this store holds", s.Remove(t.Context(), Erase, gone.ID), notebook.ErrHeld)
	complete(t, s, gone)
	want(t, "remove one that is held with one that is not", s.Remove(t.Context(), Erase, gone.ID, kept.ID),
		notebook.ErrHeld)
	want(t, "remove one that there is with one that is not", s.Remove(t.Context(), Erase, gone.ID, "arp-flux-9"),
		notebook.ErrNotFound)
	if len(read(t, s, gone.ID).Trials) != 2 || !exists(files[1]) {
		t.Error("a removal that failed removed something")
	}

	must(t, open().Remove(t.Context(), Erase, gone.ID))
	_, err := s.Run(t.Context(), gone.ID)
	want(t, "read what was removed", err, notebook.ErrNotFound)
	want(t, "note on what was removed", s.AddNote(t.Context(), gone.ID, record.Note{Text: "x"}), notebook.ErrNotFound)
	want(t, "remove again", s.Remove(t.Context(), Erase, gone.ID), notebook.ErrNotFound)
	_, err = s.Resume(t.Context(), gone.ID, true)
	want(t, "resume what was removed", err, notebook.ErrNotFound)
	for _, path := range files {
		if exists(path) {
			t.Errorf("%s is still there", path)
		}
	}

	// Files of other runs stay, also after their run is removed.
	if run := read(t, s, kept.ID); len(run.Trials) != 2 || len(run.Notes) != 1 || !exists(others[1]) {
		t.Errorf("the other run: %d trials, %d notes, page there: %v", len(run.Trials), len(run.Notes),
			exists(others[1]))
	}
	complete(t, s, kept)
	must(t, s.Remove(t.Context(), Erase, kept.ID))
	if exists(others[1]) || !exists(mine) {
		t.Errorf("page there: %v, the user's file there: %v", exists(others[1]), exists(mine))
	}
	// The ID can be used again, with nothing left of the removed run.
	again := begin(t, s, "arp-flux", 1)
	same(t, "ID", again.ID, gone.ID)
	if run := read(t, s, again.ID); len(run.Trials)+len(run.Notes)+len(filesOf(t, s, again.ID)) != 0 {
		t.Errorf("a new run has %d trials, %d notes", len(run.Trials), len(run.Notes))
	}
}

func listingActive(t testing.TB, open Opener) {
	s := open()
	complete(t, s, begin(t, s, "arp-flux", 1))
	begin(t, open(), "arp-flux", 2)
	dead := open()
	begin(t, dead, "arp-flux", 3)
	must(t, dead.Close())
	list, err := s.Runs(t.Context(), notebook.Filter{Active: true})
	must(t, err)
	if len(list) != 1 || list[0].ID != "arp-flux-2" {
		t.Errorf("active: %+v, want arp-flux-2", list)
	}
}

func concurrentRemovals(t testing.TB, open Opener) {
	s := open()
	run := begin(t, s, "arp-flux", 7)
	save(t, s, run.ID, 1)
	files := written(t, s, run.ID, "report.html")
	complete(t, s, run)
	stores := []notebook.Store{open(), open(), open(), open()}
	var won atomic.Int32
	together(len(stores)+1, func(i int) {
		if i == len(stores) { // one lists meanwhile
			for range 10 {
				if _, err := s.Runs(t.Context(), notebook.Filter{}); err != nil {
					t.Errorf("list: %v", err)
				}
			}
			return
		}
		switch err := stores[i].Remove(t.Context(), Erase, run.ID); {
		case err == nil:
			won.Add(1)
		case !errors.Is(err, notebook.ErrHeld) && !errors.Is(err, notebook.ErrNotFound):
			t.Errorf("remove: %v", err)
		}
	})
	if won.Load() != 1 || exists(files[1]) {
		t.Errorf("%d stores removed the run, want one; page there: %v", won.Load(), exists(files[1]))
	}
}

func concurrentNames(t testing.TB, open Opener) {
	// A name and an equal ID are requested concurrently: one of them is refused.
	for seed := range uint64(10) {
		id := notebook.ProposeID("nas", seed)
		stores := []notebook.Store{open(), open()}
		runs := []*record.Run{Run("nas", seed), Run("other", seed)}
		runs[1].Name = id
		errs := make([]error, 2)
		together(2, func(i int) { errs[i] = stores[i].Begin(t.Context(), runs[i]) })
		must(t, errs[0])
		if taken := errors.Is(errs[1], notebook.ErrNameTaken); taken != (runs[0].ID == id) || !taken && errs[1] != nil {
			t.Errorf("run %s, and a run named %s: %v", runs[0].ID, id, errs[1])
		}
		for _, s := range stores {
			must(t, s.Close())
		}
	}
}
