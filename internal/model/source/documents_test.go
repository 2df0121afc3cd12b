package source

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// leaves are the scalars of a tree with their lines: "2 a.b=1".
func leaves(n *Node, path string) (list []string) {
	switch n.Kind {
	case Mapping:
		for _, e := range n.Entries {
			if sub := leaves(e.Value, path+"."+e.Key.Text); len(sub) == 1 && e.Value.Kind != List {
				list = append(list, fmt.Sprintf("%d %s", e.Key.At.Line, sub[0]))
			} else {
				list = append(list, sub...)
			}
		}
	case List:
		for i, item := range n.Items {
			for _, text := range leaves(item, fmt.Sprintf("%s[%d]", path, i)) {
				if item.Kind == Scalar {
					text = fmt.Sprintf("%d %s", item.At.Line, text)
				}
				list = append(list, text)
			}
		}
	default:
		block := ""
		if n.Block {
			block = "|"
		}
		return []string{strings.TrimPrefix(path, ".") + "=" + block + n.Text}
	}
	return list
}

// TestDocuments: files of other programs are read with the line of each key.
func TestDocuments(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string // leaves of each document
	}{
		{"a: 1\nb:\n  c: \"x y\"\n  d: 'z'\n", []string{"1 a=1 3 b.c=x y 4 b.d=z"}},
		{"---\na: 1\n---\n# nothing\n---\nb: 2\n...\n", []string{"2 a=1", "6 b=2"}},
		{"%YAML 1.1\n--- # head\nl:\n- x=1\n- {n: y, v: 0x10}\n", []string{"4 l[0]=x=1 5 l[1].n=y 5 l[1].v=0x10"}},
		{"x: &d\n  k: 1\n  m: 2\ny:\n  <<: *d\n  m: 3\nz: *d\n",
			[]string{"2 x.k=1 3 x.m=2 6 y.m=3 2 y.k=1 2 z.k=1 3 z.m=2"}},
		{"a: !!str 5\nb: true\nc: null\nd:\ne: ~\n", []string{"1 a=5 2 b=true 3 c= 4 d= 5 e="}},
		{"s: |\n  one\n\n  two\nf: >-\n  three\n  four\n", []string{"1 s=|one\n\ntwo\n 5 f=three four"}},
		{"v: \"{{ x }}\"\n", []string{"1 v={{ x }}"}},
		{"r: 1..3 {1..3}\n", []string{"1 r=1..3 {1..3}"}},
		{"\ufeffa: 1\r\nb: 2\r\n", []string{"1 a=1 2 b=2"}},
		{"# alone\n", nil},
		{"- name: x\n  value: 1\n-\n  name: y\n  value: 2\n",
			[]string{"1 [0].name=x 2 [0].value=1 4 [1].name=y 5 [1].value=2"}},
	} {
		docs, problems := Documents([]byte(test.text))
		var got []string
		for _, d := range docs {
			got = append(got, strings.Join(leaves(d, ""), " "))
		}
		if problems != nil || !slices.Equal(got, test.want) {
			t.Errorf("%q: %v\ngot  %q\nwant %q", test.text, problems, got, test.want)
		}
	}
	for text, want := range map[string]string{
		"a: 1\n---\nb: [1\n":       "line 3: not YAML",
		"a: 1\n b: 2\n":            "line ",
		"{% for x in y %}\na: 1\n": "line 1: not YAML",
		"a:\n\tb: 1\n":             "line ",
		"a: \x01\n":                "line 1: not a text file",
		"a:\n  b: 1\n  c: 2\n  d: 'it's'\n  e: 3\n":   "line 4: not YAML",
		"a: 1\nb: \"x\nc: 2\n":                        "line 2: not YAML",
		"a: 1\nb: *x\nc: 2\n":                         "line 2: not YAML: unknown anchor",
		nested("[", "]", 300):                         "line 1: nested too deeply",
		nested("{a: ", "}", 300):                      "line 1: nested too deeply",
		strings.Repeat("[", 20000):                    "line 1: not YAML: exceeded max depth",
		bomb():                                        "aliases repeat more",
		strings.Repeat("---\na: 1\n", maxDocuments+1): "line 20001: only the first 10000 documents",
	} {
		if _, problems := Documents([]byte(text)); len(problems) != 1 || !strings.Contains(problems[0].Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, problems, want)
		}
	}
	list, problems := Documents([]byte("a: 1\n---\nb: [\n---\nc: 1\n---\nd: @\n"))
	if len(list) != 2 || len(problems) != 2 || !strings.HasPrefix(fmt.Sprint(problems[0]), "line 3: ") ||
		!strings.HasPrefix(fmt.Sprint(problems[1]), "line 7: ") {
		t.Errorf("%d documents, %v", len(list), problems)
	}
}

// nested is a document with brackets within brackets.
func nested(begin, end string, deep int) string {
	return "a: " + strings.Repeat(begin, deep) + strings.Repeat(end, deep) + "\n"
}

// bomb is a document whose aliases repeat each other.
func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		text += fmt.Sprintf("a%d: &a%[1]d [%s]\n", i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1),
			10), ", "))
	}
	return text
}

// TestJSON: values of JSON have the lines of their keys.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{\n \"a\": 1,\n \"b\": [true,\n  \"x\"],\n \"c\": {\"d\": null}\n}\n": "2 a=1 3 b[0]=true 4 b[1]=x 5 5 c.d=",
		"{\"a\":1}\n{\"b\":2.50}": "1 a=1 / 2 b=2.50",
		"[]":                      "",
	} {
		docs, err := JSON([]byte(text))
		var got []string
		for _, d := range docs {
			got = append(got, strings.Join(leaves(d, ""), " "))
		}
		if shown := strings.Join(got, " / "); err != nil || shown != want {
			t.Errorf("%q: %v, %q, want %q", text, err, shown, want)
		}
	}
	for text, want := range map[string]string{
		"":                         "line 1: not JSON",
		"{\n\"a\": 1,\n":           "not JSON: unexpected",
		"{\"a\": 1}}":              "not JSON",
		"{a: 1}":                   "line 1: not JSON",
		strings.Repeat("[", 1e6):   "nested too deeply",
		strings.Repeat("{", 10):    "not JSON",
		"{\"a\":\n\n tru}":         "not JSON",
		strings.Repeat(" ", 5<<20): "at most",
	} {
		if _, err := JSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// TestDocumentsAreBounded: a document of four times the size takes about four times the memory, of which
// the square of its size would take sixteen times.
func TestDocumentsAreBounded(t *testing.T) {
	taken := func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Documents([]byte(text))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for name, text := range map[string]func(n int) string{
		"keys":      func(n int) string { return strings.Repeat("a: 1\n", n) },
		"words":     func(n int) string { return "a: " + strings.Repeat("b ", n) },
		"items":     func(n int) string { return strings.Repeat("- [{a: b}, c]\n", n) },
		"documents": func(n int) string { return strings.Repeat("---\na: 1\n", n/10) },
		"aliases":   func(n int) string { return "a: &a 1\n" + strings.Repeat("b: *a\n", n) },
		"merges":    func(n int) string { return "a: &a {b: 1}\n" + strings.Repeat("c: {<<: *a}\n", n) },
		"mistake":   func(n int) string { return strings.Repeat("a: 1\n", n) + "b: [" },
		"open":      func(n int) string { return strings.Repeat("a: {", n/4) },
	} {
		const n = 5000
		if few, many := taken(text(n)), taken(text(4*n)); many > 8*few {
			t.Errorf("%s: %d bytes, and %d for four times as many", name, few, many)
		}
	}
}

// FuzzDocuments: whatever a file has, reading it ends, and its nodes have lines of the file.
func FuzzDocuments(f *testing.F) {
	for _, seed := range []string{"a: 1\n---\nb: |\n  x\n", "x: &a [1]\ny: *a\n<<: {b: 1}\n", "{\"a\": [1, null]}",
		"a: >\n b\n\n c\n", "? a\n: b\n", "!!x {a: b}", "- - a\n  - b", "a: 'x\n\n  y'\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
		documents, _ := Documents([]byte(text))
		values, _ := JSON([]byte(text))
		for _, docs := range [][]*Node{documents, values} {
			visits := 0
			var visit func(n *Node)
			visit = func(n *Node) {
				if visits++; visits > 2*maxCopied || n.At.Line > lines {
					t.Fatalf("%d nodes, line %d of %d", visits, n.At.Line, lines)
				}
				for _, item := range n.Items {
					visit(item)
				}
				for _, e := range n.Entries {
					visit(e.Key)
					visit(e.Value)
				}
			}
			for _, d := range docs {
				visit(d)
			}
		}
	})
}
