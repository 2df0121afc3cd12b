package source

import (
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds are the study files of the repository, good and bad, and a few forms of
// YAML that they do not have.
func seeds(f *testing.F) {
	files, _ := filepath.Glob("../study/testdata/wrong/*.yaml")
	more, _ := filepath.Glob("../../../studies/*.yaml")
	for _, file := range append(files, more...) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{
		"a: [1, 'x y', \"z\"]\r\nb:\r\n- c\r\n", "é: {ü: [ä]}", "? a\n: b", "a: |\n b\n", "[[[[",
		"a{p=0..3}: [\"{p..9}\"]",
		"- - - a\n  - b", "0: 0\n0:  010 \n", "0: 0\n\n -1", "\r000", "a:\n-\n- ~\n",
	} {
		f.Add([]byte(s))
	}
}

// lines splits a file as an editor does.
func lines(data []byte) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "").Replace(string(data)), "\n")
}

// FuzzParse: whatever is in a file, reading it ends, and what it finds lies
// inside the file.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		doc, problems := Parse("f", data)
		if doc == nil && len(problems) == 0 {
			t.Fatal("neither a document nor a problem")
		}
		lines := lines(data)
		inside := func(at Position, what string) {
			if at.Line < 1 || at.Line > len(lines) || at.Column < 1 ||
				at.Column > utf8.RuneCountInString(lines[at.Line-1])+1 {
				t.Fatalf("%s is at %d:%d, outside the file", what, at.Line, at.Column)
			}
		}
		for _, p := range problems {
			if p.Line != 0 {
				inside(p.Position, p.Text)
			}
		}
		if doc != nil {
			var check func(n *Node)
			check = func(n *Node) {
				inside(n.At, spell(n))
				for _, item := range n.Items {
					check(item)
				}
				for _, e := range n.Entries {
					check(e.Key)
					check(e.Value)
				}
			}
			check(doc.Root)
		}
	})
}

// FuzzTemplate: what stands between braces is understood or refused, never a
// crash; and computing it is bounded.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"eth{p=0..3}", "{15+p}", "{{x}}", "{-(-p)*2%3}", "{1..2", "{9/0}", "{=..}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := parseTemplate(text)
		if err != nil {
			return
		}
		for _, p := range parts {
			for _, e := range []ast.Expr{p.first, p.last} {
				if e == nil {
					continue
				}
				if v, err := evaluate(e, func(string) (int, bool) { return 7, true }); err == nil &&
					(v > maxNumber || v < -maxNumber) {
					t.Fatalf("%q gives %d", text, v)
				}
			}
		}
	})
}

// FuzzPosition: what stands at the place of a value is the value. Tabs are left
// out: the tokenizer's columns are off by those in front of a lonely scalar.
func FuzzPosition(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 || strings.Contains(string(data), "\t") {
			return
		}
		var problems Problems
		root := read("f", data, &problems)
		if root == nil {
			return
		}
		lines := lines(data)
		var check func(n *Node)
		check = func(n *Node) {
			if n.Kind == Scalar && n.Text != "" {
				line := []rune(lines[n.At.Line-1])
				if n.At.Column > len(line) {
					t.Fatalf("%q is at %d:%d, outside the line", n.Text, n.At.Line, n.At.Column)
				}
				if r := line[n.At.Column-1]; r != []rune(n.Text)[0] && !strings.ContainsRune(`"'|>`, r) {
					t.Fatalf("%q is at %d:%d, where %c is", n.Text, n.At.Line, n.At.Column, r)
				}
			}
			for _, item := range n.Items {
				check(item)
			}
			for _, e := range n.Entries {
				check(e.Key)
				check(e.Value)
			}
		}
		check(root)
	})
}
