package source

import (
	"fmt"
	"strings"
	"testing"
)

// spell writes a tree on one line.
func spell(n *Node) string {
	switch n.Kind {
	case List:
		var items []string
		for _, item := range n.Items {
			items = append(items, spell(item))
		}
		return "[" + strings.Join(items, " ") + "]"
	case Mapping:
		var entries []string
		for _, e := range n.Entries {
			entries = append(entries, spell(e.Key)+":"+spell(e.Value))
		}
		return "{" + strings.Join(entries, " ") + "}"
	case Null:
		return "~"
	case Bad:
		return "!"
	}
	return n.Text
}

func TestExpand(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"no braces", "a: [1, x]", "{a:[1 x]}"},
		{"a range in a list", `a: ["x{0..2}", y]`, "{a:[x0 x1 x2 y]}"},
		{"a range of one", `a: ["x{5..5}"]`, "{a:[x5]}"},
		{"negative numbers", `a: ["{-1..1}"]`, "{a:[-1 0 1]}"},
		{"two ranges, the last fastest", `a: ["{0..1}-{5..6}"]`, "{a:[0-5 0-6 1-5 1-6]}"},
		{"a range in a mapping item", `a: [{b: "x{1..2}", c: y}]`, "{a:[{b:x1 c:y} {b:x2 c:y}]}"},
		{"bound after use", `a: [{b: "{10+p}", c: "{p=1..2}"}]`, "{a:[{b:11 c:1} {b:12 c:2}]}"},
		{"bound in a mapping inside", `a: [{b: {c: "{p=1..2}"}, d: "{p}"}]`, "{a:[{b:{c:1} d:1} {b:{c:2} d:2}]}"},
		{"a list inside repeats itself", `a: [{b: "{p=1..2}", c: ["{p}.{7..8}"]}]`,
			"{a:[{b:1 c:[1.7 1.8]} {b:2 c:[2.7 2.8]}]}"},
		{"a list of lists", `a: [["{1..2}"]]`, "{a:[[1 2]]}"},
		{"a range in a key", `h{i=1..2}: {a: "{i*10}"}`, "{h1:{a:10} h2:{a:20}}"},
		{"a key that binds nothing", `h{1..2}:`, "{h1:~ h2:~}"},
		{"two ranges in a key", `h{i=0..1}{j=0..1}: "{i}{j}"`, "{h00:00 h01:01 h10:10 h11:11}"},
		{"keys inside keys", "h{i=1..2}:\n  p{j=0..1}: \"{i}.{j}\"", "{h1:{p0:1.0 p1:1.1} h2:{p0:2.0 p1:2.1}}"},
		{"a repeated key inside an item", `a: [{b: "{p=1..2}", "k{j=0..1}": "{p}{j}"}]`,
			"{a:[{b:1 k0:10 k1:11} {b:2 k0:20 k1:21}]}"},
		{"bounds from outside", `h{i=1..2}: ["{i..i+1}"]`, "{h1:[1 2] h2:[2 3]}"},
		{"arithmetic", `a: ["{p=7..7} {p+1} {p-9} {p*2} {p/2} {p%4} {-p} {(p+1)*2} {p - 2 - 1}"]`,
			"{a:[7 8 -2 14 3 3 -7 16 4]}"},
		{"literal braces", `a: "{{x}} }y"`, "{a:{x} }y}"},
		{"text stays as written", "a: [0x10, 1e3, yes, 007, 1_000, ~]", "{a:[0x10 1e3 yes 007 1_000 ~]}"},
		{"blocks of text", "a: |\n  one\n  two\nb: >\n  one\n  two\n", "{a:one\ntwo\n b:one two\n}"},
		{"quotes", `a: ['it''s', "a\tb", "#"]`, "{a:[it's a\tb #]}"},
		{"a byte order mark", "\ufeffa: 1", "{a:1}"},
		{"carriage returns", "a: 1\r\nb:\r\n  - 2\r\n", "{a:1 b:[2]}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc, problems := Parse("f", []byte(test.file))
			if problems != nil {
				t.Fatal(problems.Err())
			}
			if got := spell(doc.Root); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestExpandProblems(t *testing.T) {
	for file, want := range map[string]string{
		`a: "{0..1}"`:                                   `f:1:4: "{0..1}": nothing can be repeated here`,
		`a: ["{q}"]`:                                    `f:1:5: "{q}": "q" is not bound here`,
		`a: [{b: "{p=0..1}"}, "{p}"]`:                   `"{p}": "p" is not bound here`,
		`a: [{b: "{p=0..1}", c: "{p=0..1}"}]`:           `f:1:24: "{p=0..1}": "p" is already bound`,
		`h{p=0..1}: ["{p=0..1}"]`:                       `"p" is already bound`,
		`a: [{"k{j=0..1}": "{1..2}"}]`:                  `nothing can be repeated here`,
		`a: ["{2..1}"]`:                                 `the range runs backwards, from 2 to 1`,
		`a: ["{p=0..1}{0..p}"]`:                         `"p" is not bound here`,
		`a: ["{1/0}"]`:                                  `division by zero`,
		`a: ["{1%(1-1)}"]`:                              `division by zero`,
		`a: ["{99999*99999}"]`:                          `the result 9999800001 is too large`,
		`a: ["{99999999999}"]`:                          `99999999999 is too large`,
		`a: ["{01..10}"]`:                               `01 has a leading zero`,
		`a: ["{}"]`:                                     `{}: expected a range`,
		`a: ["{1 2}"]`:                                  `{1 2}: expected a range`,
		`a: ["{((((1))}"]`:                              `expected a range`,
		`a: ["{1..2"]`:                                  `a brace is not closed`,
		`a: ["{P Q=0..1}"]`:                             `"P Q" is not a name`,
		`a: ["{` + strings.Repeat("(", 150) + `1}"]`:    `expected a range`,
		`a: ["{p(1)}"]`:                                 `expected a range`,
		`a: ["{1/*2*/}"]`:                               `expected a range`,
		`a: ["{0x10}"]`:                                 `expected a range`,
		`a: ["{08..10}"]`:                               `08 has a leading zero`,
		`a: ["{range=0..1}"]`:                           `"range" is not a name`,
		`a: ["{` + strings.Repeat("1+", 150) + `1}"]`:   `the expression is too long`,
		`a: ["{0..99999}{0..1}"]`:                       `more than 100000 copies`,
		`a: ["{0..99999}", "{0..99999}", "{0..99999}"]`: `grow beyond 500000 values`,
		`a{0..1}: {b: 1, "b{{": 2, b: 3}`:               `key "b" is given twice, first in line 1`,
		"a: 1\nA: 1\na: 2":                              `f:3:1: key "a" is given twice, first in line 1`,
	} {
		_, problems := Parse("f", []byte(file))
		if len(problems) == 0 {
			t.Errorf("%s: no problem, want %s", file, want)
		} else if got := problems.Err().Error(); !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant %s", file, got, want)
		}
	}
}

func TestSet(t *testing.T) {
	const file = "a: {b: 1, c: [x, {d: y}]}\ne:\n"
	for set, want := range map[string]string{
		"a.b=2":          "{a:{b:2 c:[x {d:y}]} e:~}",
		"a.c[0]=z":       "{a:{b:1 c:[z {d:y}]} e:~}",
		"a.c[1].d={1+1}": "{a:{b:1 c:[x {d:2}]} e:~}",
		"e.f.g=1=2":      "{a:{b:1 c:[x {d:y}]} e:{f:{g:1=2}}}",
		"h=":             "{a:{b:1 c:[x {d:y}]} e:~ h:}",
	} {
		doc, problems := Parse("f", []byte(file), set)
		if problems != nil {
			t.Errorf("%s: %v", set, problems.Err())
		} else if got := spell(doc.Root); got != want {
			t.Errorf("%s: got %s, want %s", set, got, want)
		}
	}
	for set, want := range map[string]string{
		"a":         "--set a: expected path=value",
		"=1":        "--set =1: expected path=value",
		"a=1":       "--set a=1: a is a mapping; expected the path of a single value",
		"a.c[2]=1":  "--set a.c[2]=1: [2]: the list has 2 items",
		"a.c[-1]=1": "[-1]: the list has 2 items",
		"a.b.x=1":   `there is no x inside "1"`,
		"a.b={q}":   `--set a.b={q}: "{q}": "q" is not bound here`,
	} {
		_, problems := Parse("f", []byte(file), set)
		if len(problems) == 0 {
			t.Errorf("%s: no problem, want %s", set, want)
		} else if got := problems.Err().Error(); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", set, got, want)
		}
	}
}

func TestPosition(t *testing.T) {
	const file = `# a comment
top:
  names:
    first: {x: 1}
    "second{1..2}":
      y: [a, b]
  list:
    - {k: v}
    -   k: w
`
	doc, problems := Parse("f", []byte(file))
	if problems != nil {
		t.Fatal(problems.Err())
	}
	for path, want := range map[string]string{
		"top":                 "2:1",
		"top.names":           "3:3",
		"top.names[0]":        "4:5",
		"top.names[0].x":      "4:16",
		"top.names[0].absent": "4:5",
		"top.names[2]":        "5:5",
		"top.names[2].y[1]":   "6:14",
		"top.list[0]":         "8:7",
		"top.list[0].k":       "8:11",
		"top.list[1]":         "9:9",
		"top.list[1].k":       "9:12",
		"top.list[7]":         "7:3",
		"nothing.at.all":      "2:1",
	} {
		at := doc.Position(path)
		if got := fmt.Sprintf("%d:%d", at.Line, at.Column); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]bool{"top.names[0].x": true, "top.names[0].y": false, "top.list[2]": false} {
		if got := doc.Has(path); got != want {
			t.Errorf("Has(%s) is %v", path, got)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"abc", "abc", 0}, {"abc", "adc", 1}, {"abc", "ac", 1},
		{"abc", "acb", 1}, {"kitten", "sitting", 3}} {
		if got := EditDistance(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"duration", "warmup", "server", "eth0", "eth1"}
	for name, want := range map[string]string{
		"durration": "duration", "Duration": "duration", "wramup": "warmup", "sever": "server",
		"eth2": "eth0", "x": "", "completely": "", "": "", "dur": "",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) is %q, want %q", name, got, want)
		}
	}
}
