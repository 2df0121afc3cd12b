package netstate

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of drivers into docs/counters.md")

// The table of drivers in docs/counters.md is that of the code.
func TestDocumentedDrivers(t *testing.T) {
	const file, head = "../../../docs/counters.md",
		"| driver | frame check sequences | refreshed | source |\n|---|---|---|---|\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatalf("%s has no table with the head %q", file, head)
	}
	_, after, _ := strings.Cut(rest, "\n\n")
	var rows strings.Builder
	for _, name := range slices.Sorted(maps.Keys(countings)) {
		c := countings[name]
		fcs, refreshed := "not counted", "at each reading"
		if c.FCS {
			fcs = "counted"
		}
		if c.RefreshS > 0 {
			fcs, refreshed = "not known", fmt.Sprintf("every %g s", c.RefreshS)
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", name, fcs, refreshed, c.Source)
	}
	want := before + head + rows.String() + "\n" + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf(
			"the table of %s is not that of driver.go: go test ./internal/model/netstate -run TestDocumentedDrivers "+
				"-update", file)
	}
}
