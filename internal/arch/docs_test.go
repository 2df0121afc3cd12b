package arch

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// documents are the Markdown files of the project, by path below the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	walk(t, func(file, slash string) {
		if path.Ext(slash) != ".md" || strings.Contains(slash, "testdata/") {
			return
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[slash] = string(text)
	})
	return all
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	code    = regexp.MustCompile("`[^`\n]*`")
)

// TestLinks: a link inside the project leads to a file, and to a heading of it.
func TestLinks(t *testing.T) {
	docs := documents(t)
	if len(docs) == 0 {
		t.Fatal("no documents found")
	}
	for from, text := range docs {
		for _, complaint := range brokenLinks(moduleRoot(t), from, text, docs) {
			t.Error(complaint)
		}
	}
}

// TestHeadingsOnce: a section stands in a document once; its link could lead to the first alone.
func TestHeadingsOnce(t *testing.T) {
	for file, text := range documents(t) {
		seen := map[string]bool{}
		for _, line := range strings.Split(fence.ReplaceAllString(text, ""), "\n") {
			if strings.HasPrefix(line, "## ") && seen[line] {
				t.Errorf("%s has the section %q twice", file, line)
			}
			seen[line] = true
		}
	}
}

func brokenLinks(root, from, text string, docs map[string]string) []string {
	var broken []string
	prose := code.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
	for _, m := range link.FindAllStringSubmatch(prose, -1) {
		target := m[1]
		if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
			continue
		}
		file, anchor, _ := strings.Cut(target, "#")
		to := from
		if file != "" {
			to = path.Join(path.Dir(from), file)
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
				broken = append(broken, fmt.Sprintf(
					"%s: the link %s leads nowhere: want an existing file below the project's root", from, target))
				continue
			}
		}
		if anchor != "" && !slices.Contains(anchors(docs[to]), anchor) {
			broken = append(broken, fmt.Sprintf("%s: the link %s: no heading of %s has that name", from, target, to))
		}
	}
	return broken
}

// anchors are the names that a forge gives to a document's headings.
func anchors(text string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				b.WriteRune(r)
			case r == ' ':
				b.WriteByte('-')
			}
		}
		all = append(all, b.String())
	}
	return all
}

// TestIndex: the index has a link to each document but itself and the decision records,
// which docs/architecture.md lists, and a row for each built-in study.
func TestIndex(t *testing.T) {
	docs := documents(t)
	index := docs["docs/README.md"]
	for file := range docs {
		if name, is := strings.CutPrefix(file, "docs/"); is && name != "README.md" &&
			!strings.HasPrefix(name, "decisions/") && !strings.Contains(index, "("+name) {
			t.Errorf("docs/README.md does not link %s", file)
		}
	}
	built, err := filepath.Glob("../../studies/*.yaml")
	if err != nil || len(built) == 0 {
		t.Fatalf("%d built-in studies, %v", len(built), err)
	}
	for _, file := range built {
		if name := strings.TrimSuffix(filepath.Base(file), ".yaml"); !strings.Contains(index, "| ["+name+"](") {
			t.Errorf("docs/README.md: the table of built-in studies has no row for %s", name)
		}
	}
}

func TestBrokenLinksAreFound(t *testing.T) {
	docs := map[string]string{"a.md": "# One thing: two\n"}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.md"), []byte(docs["a.md"]), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"[x](a.md)":                      0,
		"[x](a.md#one-thing-two)":        0,
		"[x](a.md#three)":                1,
		"[x](b.md)":                      1,
		"[x](#one-thing-two)":            0,
		"[x](https://example.org/b.md)":  0,
		"`[x](b.md)`":                    0,
		"```\n[x](b.md)\n```\n[y](c.md)": 1,
	} {
		if got := brokenLinks(root, "a.md", text, docs); len(got) != want {
			t.Errorf("%q: %v, want %d complaints", text, got, want)
		}
	}
}

var decisionName = regexp.MustCompile(`^docs/decisions/(\d{4})-[a-z0-9-]+\.md$`)

// TestDecisions: decision records are numbered without gaps, have the same
// four parts, and are listed in their index.
func TestDecisions(t *testing.T) {
	docs := documents(t)
	var records []string
	for file := range docs {
		if strings.HasPrefix(file, "docs/decisions/") && path.Base(file) != "README.md" {
			records = append(records, file)
		}
	}
	slices.Sort(records)
	if len(records) == 0 {
		t.Fatal("no decision records found")
	}
	for i, file := range records {
		m := decisionName.FindStringSubmatch(file)
		if want := fmt.Sprintf("%04d", i+1); m == nil || m[1] != want {
			t.Errorf("%s: want a name like docs/decisions/%s-words.md", file, want)
			continue
		}
		if !strings.HasPrefix(docs[file], "# "+m[1]+" ") {
			t.Errorf("%s: the title begins %q, want # %s", file, firstLine(docs[file]), m[1])
		}
		at := 0
		for _, part := range []string{"\n## Context\n", "\n## Choice\n", "\n## Evidence\n", "\n## Rejected\n"} {
			next := strings.Index(docs[file], part)
			if next <= at {
				t.Errorf(
					"%s: want the parts Context, Choice, Evidence, Rejected, in this order; missing or misplaced: %s",
					file, strings.TrimSpace(part))
				break
			}
			at = next
		}
		if !strings.Contains(docs["docs/decisions/README.md"], "("+path.Base(file)+")") {
			t.Errorf("docs/decisions/README.md does not list %s", file)
		}
	}
}

// TestPackagesInArchitecture: the architecture document mentions every package.
func TestPackagesInArchitecture(t *testing.T) {
	text := documents(t)["docs/architecture.md"]
	for name, dir := range packageNames(t) {
		if own, ok := layerOf(dir); !ok || own.dir == dir || isKit(dir) || !within(dir, "internal") {
			continue
		}
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/architecture.md does not mention `%s` (%s)", name, dir)
		}
	}
}

var cited = regexp.MustCompile(`docs/[a-z0-9/-]+\.md`)

// TestCitedDocuments: a document named in a comment exists.
func TestCitedDocuments(t *testing.T) {
	docs := documents(t)
	for _, s := range sources(t) {
		if within(s.dir, "internal/arch") {
			continue
		}
		for _, name := range cited.FindAllString(s.text, -1) {
			if _, ok := docs[name]; !ok {
				t.Errorf("%s: names %s, which does not exist", s.path, name)
			}
		}
	}
}

var citedFile = regexp.MustCompile(`\b[a-z0-9_]+\.go\b`)

// TestCitedFiles: a Go file named in a comment is one of the module.
func TestCitedFiles(t *testing.T) {
	exists := make(map[string]bool)
	for _, s := range sources(t) {
		exists[path.Base(s.path)] = true
	}
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, name := range citedFile.FindAllString(group.Text(), -1) {
				if !exists[name] {
					t.Errorf("%s: names %s, which does not exist", s.path, name)
				}
			}
		}
	}
}

var requirement = regexp.MustCompile(`(?m)^\t(\S+) v\S+( // indirect)?$`)

// TestLibraries: the decision record names every direct requirement of go.mod.
func TestLibraries(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(moduleRoot(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	record := documents(t)["docs/decisions/0020-libraries.md"]
	found := requirement.FindAllStringSubmatch(string(mod), -1)
	if len(found) == 0 {
		t.Fatal("no requirements found in go.mod")
	}
	for _, m := range found {
		if m[2] == "" && !strings.Contains(record, m[1]) {
			t.Errorf("docs/decisions/0020-libraries.md does not say what %s is for", m[1])
		}
	}
}
