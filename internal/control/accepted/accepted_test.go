package accepted

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"linerate/internal/model/record"
)

// folder is an environment with a notebook in a directory of the test's own.
func folder(t *testing.T) (getenv func(string) string, path string) {
	dir := filepath.Join(t.TempDir(), "new")
	return func(name string) string {
		return map[string]string{"LINERATE_NOTEBOOK": filepath.Join(dir, "notebook.db")}[name]
	}, filepath.Join(dir, Name)
}

func put(n int) func(*record.AcceptedRules) error {
	return func(r *record.AcceptedRules) error {
		return r.Put(record.AcceptedRule{Rule: fmt.Sprint("rule-", n), Until: "2027-01-31", Because: "known"})
	}
}

// TestChange: concurrent changes are all kept, in a file for this user alone, and one that
// fails changes nothing.
func TestChange(t *testing.T) {
	getenv, path := folder(t)
	if r, err := Read(getenv); err != nil || len(r.Accepted) != 0 {
		t.Fatal(r, err)
	}
	var all sync.WaitGroup
	for n := range 12 {
		all.Go(func() {
			if err := Change(getenv, put(n)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := Change(getenv, func(r *record.AcceptedRules) error {
		r.Accepted = nil
		return errors.New("no")
	}); err == nil {
		t.Error("the error of change is lost")
	}
	r, err := Read(getenv)
	if err != nil || len(r.Accepted) != 12 {
		t.Errorf("%d kept, %v", len(r.Accepted), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}

// TestBadFile: a file that is not whole or that others can write is an error, and is kept.
func TestBadFile(t *testing.T) {
	getenv, path := folder(t)
	if err := Change(getenv, put(1)); err != nil {
		t.Fatal(err)
	}
	good, _ := os.ReadFile(path)
	for text, want := range map[string]string{
		string(good[:len(good)-9]):                                       "expected accepted findings",
		`{"schema":"linerate.run/v2"}`:                                   `its schema is "linerate.run/v2"`,
		strings.Replace(string(good), "2027-01-31", "soon", 1):           `accepted[0]: until "soon": expected a date`,
		strings.Replace(string(good), `"known"`, `"\u001b[31m"`, 1):      "printable",
		strings.Repeat(" ", record.LargestAccepted+1):                    "at most",
		strings.Replace(string(good), `"rule": "rule-1"`, `"x": "y"`, 1): "rule is empty",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(getenv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
		if err := Change(getenv, put(2)); err == nil {
			t.Errorf("%.60s: it was replaced", text)
		}
		if now, _ := os.ReadFile(path); string(now) != text {
			t.Errorf("%.60s: it was replaced", text)
		}
	}
	if err := errors.Join(os.WriteFile(path, good, 0o600), os.Chmod(path, 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(getenv); err == nil {
		t.Error("a file that others can write is read")
	}
}

// TestBounded: there are at most so many.
func TestBounded(t *testing.T) {
	var r record.AcceptedRules
	n := 0
	for ; n < 5000 && put(n)(&r) == nil; n++ {
	}
	if n == 5000 || n < 100 {
		t.Errorf("%d were accepted", n)
	}
	if err := put(0)(&r); err != nil {
		t.Errorf("one in place of another: %v", err)
	}
	if !r.Remove("rule-3", "") || r.Remove("rule-3", "") || r.Remove("rule-4", "nas") {
		t.Error("removed wrongly")
	}
}
