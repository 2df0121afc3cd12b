package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/study"
)

func TestNeighbourWarning(t *testing.T) {
	text, err := os.ReadFile("../controltest/testdata/small.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("small.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	// The client finds both of the server's addresses, the server the client.
	if got := neighboursNeeded(plan); got != 3 {
		t.Errorf("%d entries, want 3", got)
	}
	root := t.TempDir()
	file := filepath.Join(root, strings.ReplaceAll(neighbourTable, ".", "/"))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	sysctls := proc.Sysctls{Root: root}
	if got := NeighbourWarning(plan, sysctls); got != "" {
		t.Errorf("where the size is not known: %q", got)
	}
	for size, warned := range map[string]bool{"3\n": true, "1024\n": false} {
		if err := os.WriteFile(file, []byte(size), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := NeighbourWarning(plan, sysctls); strings.Contains(got, "3 neighbour entries") != warned {
			t.Errorf("room for %s: %q", strings.TrimSpace(size), got)
		}
	}
}
