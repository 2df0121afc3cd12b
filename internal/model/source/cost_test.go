package source

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"linerate/internal/model/costtest"
)

// repeated returns n texts of a format, joined.
func repeated(n int, format, between string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, between)
}

// costs are files that take much time or memory for their size, by a number.
var costs = map[string]func(n int) string{
	"a line of scalars":        func(n int) string { return "x: [" + repeated(n, "a%d", ", ") + "]" },
	"a line of other scalars":  func(n int) string { return "x: [" + repeated(n, "ä%d", ", ") + "]" },
	"a line of quoted scalars": func(n int) string { return "x: [" + repeated(n, "'%d'", ", ") + "]" },
	"a line of mappings":       func(n int) string { return "x: [" + repeated(n/3, "{a: {b: c%d}}", ", ") + "]" },
	"a block":                  func(n int) string { return "x:\n" + repeated(n, "  - a%d", "\n") },
	"mappings":                 func(n int) string { return "x:\n" + repeated(n, "  - a: 1\n    b: %d", "\n") },
	"mappings in braces":       func(n int) string { return "x:\n" + repeated(n, "  - {a: 1, b: %d}", "\n") },
	"nested mappings": func(n int) string {
		return "x:\n" + repeated(n, "  - a: {b: 1}\n    c:\n      d: %d", "\n")
	},
	"a scalar of several lines": func(n int) string { return "x: " + repeated(n, "word%d", "\n  ") },
	"ranges":                    func(n int) string { return "x:\n" + repeated(n/100, "  - a{1..9}b%d", "\n") },
	"ranges of one": func(n int) string {
		return `x: ["{1..100000}` + strings.Repeat("{1..1}", n/10) + `"]`
	},
	"ranges in ranges": func(n int) string {
		return `x: ["{1..10}` + strings.Repeat("{1..2}", 12) + strings.Repeat("{1..1}", n/100) + `"]`
	},
}

// TestCost: twice the text takes at most about twice the time, and memory is bounded.
func TestCost(t *testing.T) {
	const n, most, megabytes = 5_000, 3.5, 192
	for name, text := range costs {
		costtest.Doubled(t, name, n, most, func(n int) func() {
			data := []byte(text(n))
			return func() { Parse("x.yaml", data) }
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Parse("x.yaml", []byte(text(n)))
		runtime.ReadMemStats(&after)
		if all := (after.TotalAlloc - before.TotalAlloc) >> 20; all > megabytes {
			t.Errorf("%s: %d MiB were allocated", name, all)
		}
	}
	for name, c := range map[string]struct {
		text string
		many bool
	}{
		"a mapping":                   {repeated(maxKeys+1, "k%d: 1", "\n"), true},
		"one within a list":           {"x:\n  - " + repeated(maxKeys+1, "k%d: 1", "\n    "), true},
		"one with mappings in it":     {repeated(maxKeys+1, "k%d: {a: [b], c: {}}", "\n"), true},
		"one in braces":               {"{" + repeated(maxKeys+1, "k%d: 1", ", ") + "}", true},
		"mappings":                    {"x:\n" + repeated(maxKeys/2, "  - a: 1\n    b: %d\n    c: 1", "\n"), false},
		"mappings in braces":          {"x:\n" + repeated(maxKeys/2, "  - {a: 1, b: %d, c: 1}", "\n"), false},
		"mappings in a line":          {"x: [" + repeated(maxKeys/2, "{a: 1, b: %d, c: 1}", ", ") + "]", false},
		"mappings of different depth": {repeated(maxKeys/2, "a%d:\n  b: 1\n  c:\n    d: 1", "\n"), false},
	} {
		_, problems := Parse("x.yaml", []byte(c.text))
		many := len(problems) > 0
		if many != c.many || many && !strings.Contains(problems.Error(), "more than 20000 keys") {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
