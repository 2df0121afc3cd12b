package proc

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestChildrenHaveNoSecrets, and all else of the environment.
func TestChildrenHaveNoSecrets(t *testing.T) {
	if os.Getenv("COMMAND_CHILD") == "1" {
		_, _ = os.Stdout.WriteString(strings.Join(os.Environ(), "\n"))
		os.Exit(0)
	}
	t.Setenv("COMMAND_CHILD", "1")
	for _, name := range secrets {
		t.Setenv(name, "hunter2")
	}
	t.Setenv("LINERATE_TOKENS", "kept")
	out, err := Command(os.Args[0], "-test.run=^TestChildrenHaveNoSecrets$").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(string(out), "\n")
	if strings.Contains(string(out), "hunter2") || !slices.Contains(got, "LINERATE_TOKENS=kept") ||
		!slices.Contains(got, "COMMAND_CHILD=1") {
		t.Errorf("a child's environment: %q", got)
	}
}
