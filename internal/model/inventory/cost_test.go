package inventory

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"linerate/internal/model/costtest"
	"linerate/internal/model/syntax"
)

// repeated returns n texts of a format with the number of each, joined.
func repeated(n int, format, between string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
	}
	return strings.Join(list, between)
}

// costs are files that have most of a kind of line, by a number.
var costs = map[string]func(n int) string{
	"names":           func(n int) string { return repeated(n, "h#", "\n") },
	"names of a line": func(n int) string { return repeated(n, "h#", ",") },
	"node lists":      func(n int) string { return repeated(n/10, "h#n[0-9]", "\n") },
	"groups in groups": func(n int) string {
		return "[g0]\nh[1:99]\n" + repeated(n/2, "[g#x:children]\ng#\n[g#]", "\n") + "\n[g0:children]\n" +
			repeated(n/2, "g#x", "\n")
	},
	"a chain of groups": func(n int) string {
		return "[g" + fmt.Sprint(n/2-1) + "]\nh[1:999]\n" + repeated(n/2-1, "[g#:children]\ng#0\n[g#0]", "\n")
	},
	"ini":        func(n int) string { return "[web]\n" + repeated(n, "h# ansible_host=10.0.0.1 rack=r# x='a b'", "\n") },
	"ini labels": func(n int) string { return "[web]\n" + repeated(n, "h linerate_l#=1", "\n") },
	"yaml": func(n int) string {
		return "web:\n  hosts:\n" + repeated(n, "    h#: {ansible_host: 10.0.0.1, rack: r#}", "\n")
	},
	"yaml in yaml": func(n int) string {
		return repeated(n/100, "g#: {children: {a#: {children: {b#: {hosts: {h#: }}}}}}", "\n")
	},
	"json": func(n int) string {
		return `{"_meta": {"hostvars": {` + repeated(n, `"h#": {"ansible_host": "a", "x": [1, 2], "rack": #}`, ",") +
			`}}, "web": {"hosts": [` + repeated(n, `"h#"`, ",") + `]}}`
	},
	"json objects": func(n int) string {
		return `{"_meta": {"hostvars": {` + repeated(n, `"h#": {"x": [[[]],[[]],{}]}`, ",") + `}}}`
	},
	"switches": func(n int) string { return repeated(n/2, "SwitchName=s# Nodes=n#", "\n") },
	"a line of switches": func(n int) string {
		return "SwitchName=s Nodes=" + repeated(n, "n#", ",") + " Switches=" + repeated(n, "s#", ",")
	},
	"quotes":        func(n int) string { return "[web]\nh x=" + strings.Repeat(`"a\"" `, n) },
	"brackets":      func(n int) string { return "x=1 [\n" + strings.Repeat("[", n) + strings.Repeat("a", n) },
	"nothing":       func(n int) string { return strings.Repeat(" \n#\n", n) },
	"one long word": func(n int) string { return "[web]\n" + strings.Repeat("a", 10*n) + ":" },
	"options": func(n int) string {
		return "[web]\nh ansible_ssh_common_args='" + repeated(n, "-o A#=b", " ") + "'"
	},
}

// ownCosts are those of hosts.yaml. The parser of study files takes more than twice the time for twice
// the keys of a mapping, and bounds them (TestCost of package source).
var ownCosts = map[string]func(n int) string{
	"hosts": func(n int) string { return "hosts:\n" + repeated(n, "  h#: {rack: r#}", "\n") },
	"groups of hosts": func(n int) string {
		return "hosts:\n" + repeated(n, "  h#:", "\n") + "\ngroups:\n" + repeated(n/2, "  g#: {hosts: [h#]}", "\n")
	},
	"groups with a pattern": func(n int) string {
		return "hosts:\n" + repeated(n, "  h#:", "\n") + "\ngroups:\n" + repeated(n/2, "  g#: {hosts: [\"h*\"]}", "\n")
	},
}

// TestCost: twice the file takes at most about twice the time, and memory is bounded.
func TestCost(t *testing.T) {
	testCost(t, costs, 5_000, 2.3, 256)
	testCost(t, ownCosts, 2_500, 3.5, 256)
}

func testCost(t *testing.T, costs map[string]func(n int) string, n int, most float64, megabytes uint64) {
	t.Helper()
	for name, text := range costs {
		costtest.Doubled(t, name, n, most, func(n int) func() {
			data := []byte(text(n))
			return func() {
				if inv, err := Read("hosts", data); err == nil {
					_, _ = inv.Select("h*", "!g1")
				}
			}
		})
		var before, after runtime.MemStats
		data := []byte(text(2 * n))
		runtime.ReadMemStats(&before)
		_, _ = Read("hosts", data)
		runtime.ReadMemStats(&after)
		if all := (after.TotalAlloc - before.TotalAlloc) >> 20; all > megabytes {
			t.Errorf("%s: %d MiB were allocated", name, all)
		}
	}
}

// FuzzRead: whatever a file has, its hosts are names, and what reaches them is no option.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && !strings.HasSuffix(file, ".golden") {
			f.Add(text, "web*,!rack=3")
		}
	}
	for _, all := range []map[string]func(n int) string{costs, ownCosts} {
		for _, make := range all {
			f.Add([]byte(make(3)), "&all,h[1-2]:x")
		}
	}
	f.Add([]byte("#!/bin/sh\n"), "")
	f.Fuzz(func(t *testing.T, text []byte, selection string) {
		if len(text) > 1<<14 || len(selection) > 1<<10 {
			return
		}
		inv, err := Read("f", text)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an error without words")
			}
			return
		}
		if err := syntax.Check(inv); err != nil {
			t.Fatal(err)
		}
		for _, h := range inv.Hosts {
			if !isName(h.Name) || len(h.Via) == 0 || strings.HasPrefix(h.Via[0], "-") {
				t.Fatalf("%q is reached by %q", h.Name, h.Via)
			}
			for i, word := range h.Via {
				// The word behind an option without a value, or behind a value, is what ssh connects to.
				if !h.Written && h.Via[0] == "ssh" && i > 4 && strings.HasPrefix(word, "-o") && word != "-o" {
					t.Fatalf("%q is reached by %q", h.Name, h.Via)
				}
			}
		}
		if found, err := inv.Select(selection); err == nil && len(found) == 0 && len(inv.Hosts) > 0 {
			t.Fatalf("%q selects nothing", selection)
		}
	})
}
