package source

import "testing"

// TestMisindented: a line that ends blocks without being indented as any of those around it
// is named with the indentation of its neighbours.
func TestMisindented(t *testing.T) {
	for text, want := range map[string][2]int{
		"a:\n  b: 1\n c: 2\n":                    {1, 2},
		"a:\n  b:\n    - x: 1\n   c: 2\n":        {3, 4},
		"a:\n  - b: 1\n    c: 2\n   d: 3\n":      {3, 4},
		"a:\n  b: 1\n  c: 2\n":                   {},
		"a:\n  b:\n    - x: 1\n      y: 2\nc: 3": {},
		"a:\n  - b\n  - c\n":                     {},
		"a:\n  # note\n  b: 1\n\n  c: 2":         {},
	} {
		lines := 0
		for _, r := range text {
			if r == '\n' {
				lines++
			}
		}
		if text[len(text)-1] != '\n' {
			lines++
		}
		own, others, is := misindented(text, lines)
		if is != (want != [2]int{}) || is && [2]int{own, others} != want {
			t.Errorf("%q: indented by %d, others by %d, %t; want %v", text, own, others, is, want)
		}
	}
	_, err := Parse("x.yaml", []byte("a:\n  b: 1\n c: 2\n"))
	if want := "x.yaml:3:2: indented by 1; its neighbours are indented by 2"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
