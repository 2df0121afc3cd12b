package flow

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of protocols and options in the documents")

// TestDocs: the tables of protocols and options in the documents are those of the rows.
// With -update they are written.
func TestDocs(t *testing.T) {
	for page, table := range map[string]string{
		"traffic":      optionTable(func(o *Option) bool { return o.For(TCP) && !o.Planned }),
		"transactions": optionTable(func(o *Option) bool { return slices.Equal(o.Protocols, transactional) }),
		"datagrams":    optionTable(func(o *Option) bool { return o.For(UDP) && !o.Planned }),
		"measure":      flagTable(),
	} {
		page = "../../../docs/" + page + ".md"
		const begin, end = "<!-- options -->\n", "<!-- /options -->"
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, found := strings.Cut(string(text), begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no place for the table: want %q and %q", page, begin, end)
		}
		want := before + begin + "\n" + table + "\n" + end + after
		switch {
		case want == string(text):
		case *update:
			err = os.WriteFile(page, []byte(want), 0o644)
		default:
			t.Errorf("%s is not of these options; write it with -update", page)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func optionTable(fit func(*Option) bool) string {
	var b strings.Builder
	b.WriteString("| option | means | when absent |\n|---|---|---|\n")
	for _, o := range Options {
		if fit(o) {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.Key, o.Doc, o.Absent)
		}
	}
	return b.String()
}

func flagTable() string {
	var b strings.Builder
	b.WriteString("| flag | for | means | when absent |\n|---|---|---|---|\n")
	for _, o := range Options {
		protocols := strings.Join(o.Protocols, ", ")
		if o.Protocols == nil {
			protocols = "all"
		}
		if o.Type != "" {
			fmt.Fprintf(&b, "| `--%s` | %s | %s | %s |\n", o.Flag(), protocols, o.Doc, o.Absent)
		}
	}
	return b.String()
}
