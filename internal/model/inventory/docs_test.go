package inventory

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/source"
)

// TestDocs: the table of keys in docs/hosts.md is that of the types, and its example is read. -update
// writes the table.
func TestDocs(t *testing.T) {
	const page, begin, end = "../../../docs/hosts.md", "<!-- keys -->\n", "<!-- /keys -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", page)
	}
	made := before + begin + keys() + end + after
	if *update {
		err = os.WriteFile(page, []byte(made), 0o644)
	}
	if err != nil || made != string(text) && !*update {
		t.Errorf("%s differs from %q, %v: -update writes it", page, keys(), err)
	}
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(text)
	inv, err := Read("hosts.yaml", example[1])
	if err != nil || len(inv.Hosts) != 25 {
		t.Errorf("%d hosts, %v", len(inv.Hosts), err)
	}
}

// keys is a table of the keys of hosts and groups.
func keys() string {
	var b strings.Builder
	b.WriteString("\n| key | of | is |\n|---|---|---|\n")
	groups := source.Fields(reflect.TypeFor[FileGroup]())
	hosts := source.Fields(reflect.TypeFor[FileHost]())
	in := func(list []source.Field, name string) bool {
		return slices.ContainsFunc(list, func(f source.Field) bool { return f.Name == name })
	}
	for _, f := range hosts {
		of := "hosts"
		if in(groups, f.Name) {
			of = "hosts, groups"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, of, f.Doc)
	}
	for _, f := range groups {
		if !in(hosts, f.Name) {
			fmt.Fprintf(&b, "| `%s` | groups | %s |\n", f.Name, f.Doc)
		}
	}
	return b.String() + "\n"
}
