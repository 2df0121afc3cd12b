package source

import "testing"

// TestMisindented: a line that is indented as none around it is named with those, wherever
// the parser stops.
func TestMisindented(t *testing.T) {
	for text, want := range map[string]string{
		"a:\n  b: 1\n c: 2\n": "3:2: indented by 1; lines around it are indented by 2 " +
			"(line 2) or 0 (line 1)",
		"a:\n  b:\n    - x: 1\n   c: 2\n": "4:4: indented by 3; lines around it are indented by 4 " +
			"(line 3) or 2 (line 2)",
		"a:\n  - b: 1\n    c: 2\n   d: 3\n": "4:4: indented by 3; lines around it are indented by 4 " +
			"(line 3) or 2 (line 2)",
		"a:\n b:\n    c: 1\n  d: 2\n": "4:3: indented by 2; lines around it are indented by 4 " +
			"(line 3) or 1 (line 2)",
		"study: x\n  bad: [1]\n":           "2:3: indented by 2; lines around it are indented by 0 (line 1)",
		"study: x\n\n  # note\n  bad: 1\n": "4:3: indented by 2; lines around it are indented by 0 (line 1)",
		"a: [1]\n b: 2 # note\n":           "2:2: indented by 1; lines around it are indented by 0 (line 1)",
		"  a: 1\nb: 2\n":                   "2:1: indented by 0; lines around it are indented by 2 (line 1)",
		"about: first: second\n": "1:8: not YAML: mapping value is not allowed in this " +
			"context; a text with a colon and a blank needs quotes",
		"study: x\n  bad: [1,\n":                      `2:8: "[" is not closed`,
		"a: 1\nb: [1, 2\nc: 3\n":                      `2:4: "[" is not closed`,
		"a:\n  - {b: {c: 1}\n  - {d: 2}\n":            `2:5: "{" is not closed`,
		"a:\n  b\n    c: 1\n  d:\n    e: 2\n":         `2:3: "b" has no colon; expected "b:"`,
		"a:\n  b{c=1..3} # x\n\n    c: 1\n":           `2:3: "b{c=1..3}" has no colon; expected "b{c=1..3}:"`,
		"a:\n  \"b{1..3}\"\n    c: 1\n":               `2:3: "b{1..3}" has no colon; expected "b{1..3}:"`,
		"a:\n  two words\n    c: 1\n  d:\n    e: 2\n": `2:3: "two words" has no colon; expected "two words:"`,
		"topology\n  hosts:\n    a: 1\n":              `1:1: "topology" has no colon; expected "topology:"`,
		"a:\n  duration 1s\n  c: 2\n":                 `2:3: "duration 1s" has no colon; expected "duration: 1s"`,
		"a: [{b: 1], c: 2\n":                          `1:5: "{" is not closed`,
		"a: {b: c d: \"{1..2}\"}\n":                   `1:4: "{" is not closed, or a comma is missing before "d"`,
		"a: {b: c d: \"1\"}\n":                        `1:8: a comma is missing before "d", or the text needs quotes`,
	} {
		_, err := Parse("x.yaml", []byte(text))
		if err == nil || err.Error() != "x.yaml:"+want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{
		"a:\n  b: 1\n  c: 2\n",
		"a:\n  b:\n    - x: 1\n      y: 2\nc: 3",
		"a:\n- b\n- c\n",
		"a: {b: \"c d: 1\", e: 'f g: h'}\ni: |\n  of b: 1 and so on\n",
		"a:\n  # note\n  b: 1\n\n  c: 2",
		"a: some words\n  and more\nb: {c: 1,\n d: 2}\n",
	} {
		if _, err := Parse("x.yaml", []byte(text)); len(err) > 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
}
