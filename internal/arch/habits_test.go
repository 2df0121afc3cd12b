package arch

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Limits of a file: lines, and columns of a line, of which a tab takes four.
const (
	longest = 500
	widest  = 120
)

// TestPackageComments: every package has one comment, which says what it is for.
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

// packageNames returns the directory of each package of the module by its name, main
// excepted, and reports names that two directories share.
func packageNames(t *testing.T) map[string]string {
	t.Helper()
	dirs := make(map[string]string)
	for _, s := range sources(t) {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if other, taken := dirs[name]; taken && other != s.dir && name != "main" {
			t.Errorf("%s and %s are both package %s", other, s.dir, name)
		}
		dirs[name] = s.dir
	}
	return dirs
}

// mention matches a package that a comment names, before punctuation or as a
// possessive: elsewhere "package" is followed by ordinary words.
var mention = regexp.MustCompile(`\bpackage ([a-z0-9]+)(?:'s|[,.;:)])`)

// TestPackageNames: no two packages share a name, and a package that a comment
// mentions exists.
func TestPackageNames(t *testing.T) {
	dirs := packageNames(t)
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, m := range mention.FindAllStringSubmatch(strings.ReplaceAll(group.Text(), "\n", " "), -1) {
				if _, exists := dirs[m[1]]; !exists &&
					!slices.Contains([]string{"net", "syscall", "itself", "each", "has", "manager", "of"}, m[1]) {
					t.Errorf("%s: a comment mentions package %s, which does not exist",
						s.fset.Position(group.Pos()), m[1])
				}
			}
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// TestFileLength: no file is longer than longest.
func TestFileLength(t *testing.T) {
	for _, s := range sources(t) {
		if n := strings.Count(s.text, "\n"); n > longest {
			t.Errorf("%s: %d lines, want at most %d", s.path, n, longest)
		}
	}
}

// TestLineWidth: no line is wider than widest, except by strings that cannot be broken (raw ones,
// such as tags, and those without blanks) and, in tests, by tables of strings.
func TestLineWidth(t *testing.T) {
	for _, s := range sources(t) {
		strung := make(map[int]int) // by line: the columns of its strings
		ast.Inspect(s.file, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if ok && l.Kind == token.STRING && (s.test || l.Value[0] == '`' || !strings.Contains(l.Value, " ")) {
				at := s.fset.Position(l.Pos()).Line
				for i, part := range strings.Split(l.Value, "\n") {
					strung[at+i] += columns(part)
				}
			}
			return true
		})
		for i, line := range strings.Split(s.text, "\n") {
			text := strings.Join(strings.Fields(line), " ")
			if n := columns(line); n > widest && columns(text)-strung[i+1] > widest/2 {
				t.Errorf("%s:%d: %d columns, want at most %d", s.path, i+1, n, widest)
			}
		}
	}
}

// columns returns the width of text, in which a tab takes four.
func columns(text string) int { return utf8.RuneCountInString(strings.ReplaceAll(text, "\t", "    ")) }

// unfinished matches such notes. Its words are concatenated so that it does not match
// itself.
var unfinished = regexp.MustCompile(`\b(` + "TO" + "DO|FIX" + "ME|XX" + "X|HA" + `CK)\b`)

// ours reports whether a file is text written for the project.
func ours(slash string) bool {
	switch path.Ext(slash) {
	case ".go", ".md", ".yaml", ".yml", ".sh", ".py", ".css", ".js", ".html", ".tmpl", ".mod":
		return !strings.Contains(slash, "testdata/")
	}
	base := path.Base(slash)
	return base == "Makefile" || strings.HasPrefix(slash, "script/") || strings.HasPrefix(slash, ".ci/")
}

// TestNothingUnfinished: no file has a note about unfinished work.
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
