package notebook

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestLocation: the variable names a file or a URL that a store is registered for; files beside it are kept where a
// file would be.
func TestLocation(t *testing.T) {
	here, err := filepath.Abs("x/notes.db")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		environment map[string]string
		path        string
		problem     string
	}{
		{environment: map[string]string{Variable: "/n/x.db", "XDG_DATA_HOME": "/d", "HOME": "/h"}, path: "/n/x.db"},
		{environment: map[string]string{Variable: "x/notes.db"}, path: here},
		{environment: map[string]string{"XDG_DATA_HOME": "/d", "HOME": "/h"}, path: "/d/linerate/notebook.db"},
		{environment: map[string]string{"XDG_DATA_HOME": "relative", "HOME": "/h"},
			path: "/h/.local/share/linerate/notebook.db"},
		{environment: map[string]string{"HOME": "/h"}, path: "/h/.local/share/linerate/notebook.db"},
		{problem: "set LINERATE_NOTEBOOK"},
		{environment: map[string]string{"HOME": "relative"}, problem: "set LINERATE_NOTEBOOK"},
		{environment: map[string]string{Variable: "postgres://db/notes"}, problem: "expected the path of a file"},
	} {
		path, err := Location(func(name string) string { return c.environment[name] })
		if path != c.path || (err != nil) != (c.problem != "") || err != nil &&
			!strings.Contains(err.Error(), c.problem) {
			t.Errorf("%v: %q, %v, want %q, %q", c.environment, path, err, c.path, c.problem)
		}
	}
	Register("test", Opener{Open: func(context.Context, string) (Store, error) { return nil, nil }})
	defer delete(openers, "test")
	at := func(name string) string {
		return map[string]string{Variable: "test://db/notes", "XDG_DATA_HOME": "/d"}[name]
	}
	if location, err := Location(at); location != at(Variable) || err != nil {
		t.Errorf("%q, %v, want the URL", location, err)
	}
	if directory, err := Directory(at); directory != "/d/linerate" || err != nil {
		t.Errorf("%q, %v, want /d/linerate", directory, err)
	}
}

// references are runs with results and without names.
func references(ids ...string) (list []Reference) {
	for _, id := range ids {
		list = append(list, Reference{ID: id, Results: true})
	}
	return list
}

func TestFind(t *testing.T) {
	ids := references("arp-flux-9", "long-fat-7", "arp-flux-72", "arp-flux-7_2", "arp-flux-7")
	ids[0].Results, ids[4].Name = false, "old cable"
	for reference, want := range map[string]string{
		"old cable": "arp-flux-7", "old": "arp-flux-7", "arp-flux-9": "arp-flux-9",
		"latest": "long-fat-7", "last": "long-fat-7", "long": "long-fat-7",
		"arp-flux-7": "arp-flux-7", "arp-flux-7_": "arp-flux-7_2",
	} {
		if got, err := Find(reference, "n.db", ids); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", reference, got, err, want)
		}
	}
	for reference, want := range map[string]string{
		"arp":        `run "arp": several runs match: arp-flux-9, arp-flux-72, arp-flux-7_2, arp-flux-7 (old cable)`,
		"arp-flux-8": `run "arp-flux-8": no such run in notebook n.db; nearest: arp-flux-9, arp-flux-7 (old cable), arp-flux-72, arp-flux-7_2`,
		"nosuch":     `run "nosuch": no such run in notebook n.db`,
	} {
		_, err := Find(reference, "n.db", ids)
		var problem *ReferenceError
		if !errors.As(err, &problem) || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", reference, err, want)
		}
	}
	if _, err := Find("latest", "n.db", nil); err == nil || !strings.Contains(err.Error(), "has no runs yet") {
		t.Errorf("empty notebook: %v", err)
	}
	many := references("a1", "a2", "a3", "a4", "a5", "a6", "a7")
	if _, err := Find("a", "n.db", many); !strings.Contains(err.Error(), "a5, and 2 more") || many[5].ID != "a6" {
		t.Errorf("many: %v, of %v", err, many)
	}
	if _, err := Find("latest", "n.db", []Reference{{ID: "a1"}}); !errors.Is(err, ErrNoResults) ||
		!strings.Contains(err.Error(), "no run has a finished trial in notebook n.db; without any: a1") {
		t.Errorf("latest of a run without trials: %v", err)
	}
	// A run that is really called so comes before the word.
	if got, err := Find("last", "n.db", references("x", "last")); got != "last" || err != nil {
		t.Errorf("a run called last: %q, %v", got, err)
	}
}

func TestCheckID(t *testing.T) {
	for id, good := range map[string]bool{
		"arp-flux-7": true, "Mine_1.2": true, strings.Repeat("a", 200): true,
		"": false, ".hidden": false, "a/b": false, "a b": false, "é": false, "a\n": false,
		strings.Repeat("a", 201): false,
	} {
		if err := CheckID(id); (err == nil) != good {
			t.Errorf("%q: %v, want good %v", id, err, good)
		}
	}
}

// TestFreeID: a number is one higher than the highest, so that the ID of a removed run names no
// other.
func TestFreeID(t *testing.T) {
	for _, c := range []struct {
		taken []string
		want  string
	}{
		{nil, "nas-7"}, {[]string{"nas-8", "nas-70"}, "nas-7"}, {[]string{"nas-7"}, "nas-7_2"},
		{[]string{"nas-7", "nas-7_13", "nas-7_2"}, "nas-7_14"}, {[]string{"nas-7_3"}, "nas-7_4"},
		{[]string{"nas-7", "nas-7-5", "nas-7_before", "nas-7__9", "nas-7_99999999999"}, "nas-7_2"},
	} {
		if got := FreeID("nas-7", c.taken); got != c.want {
			t.Errorf("beside %q: %s, want %s", c.taken, got, c.want)
		}
	}
}
