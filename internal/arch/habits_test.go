package arch

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// longest is the most lines a file may have: beyond it, it holds two things.
const longest = 500

// TestPackageComments: whoever opens a package learns first what it is for.
func TestPackageComments(t *testing.T) {
	documented := make(map[string]string) // by directory: the comment
	name := make(map[string]string)
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		name[s.dir] = s.file.Name.Name
		if s.file.Doc != nil {
			documented[s.dir] += s.file.Doc.Text()
		}
	}
	for dir, pkg := range name {
		want := "Package " + pkg + " "
		if pkg == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		comment := documented[dir]
		switch {
		case !strings.HasPrefix(comment, want):
			t.Errorf("%s: the package comment begins %q, want %q", dir, firstLine(comment), want)
		case strings.Count(comment, want) > 1:
			t.Errorf("%s: more than one file has a package comment", dir)
		case len(strings.Fields(comment)) < 8:
			t.Errorf("%s: the package comment says too little: %q", dir, strings.TrimSpace(comment))
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// TestFileLength: a file is read in one sitting.
func TestFileLength(t *testing.T) {
	for _, s := range sources(t) {
		if n := strings.Count(s.text, "\n"); n > longest {
			t.Errorf("%s: %d lines, want at most %d", s.path, n, longest)
		}
	}
}

// unfinished finds notes to oneself. Put together here, so that it does not
// find itself.
var unfinished = regexp.MustCompile(`\b(` + "TO" + "DO|FIX" + "ME|XX" + "X|HA" + `CK)\b`)

// ours tells whether a file is text that people of the project wrote.
func ours(slash string) bool {
	switch path.Ext(slash) {
	case ".go", ".md", ".yaml", ".yml", ".sh", ".py", ".css", ".js", ".html", ".tmpl", ".mod":
		return !strings.Contains(slash, "testdata/")
	}
	base := path.Base(slash)
	return base == "Makefile" || strings.HasPrefix(slash, "script/") || strings.HasPrefix(slash, ".ci/")
}

// TestNothingUnfinished: what is not done is not pretended.
func TestNothingUnfinished(t *testing.T) {
	walk(t, func(file, slash string) {
		if !ours(slash) {
			return
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if word := unfinished.FindString(line); word != "" {
				t.Errorf("%s:%d: %s", slash, i+1, word)
			}
		}
	})
}
