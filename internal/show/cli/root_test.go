package cli

import (
	"runtime"
	"testing"
)

// TestVersionLine: what is not known is left out.
func TestVersionLine(t *testing.T) {
	end := ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	for commit, want := range map[string]string{"": "v1.2.3" + end, "0123456789ab-dirty": "v1.2.3, commit 0123456789ab-dirty" + end} {
		if got := versionLine("v1.2.3", commit); got != want {
			t.Errorf("commit %q: %q, want %q", commit, got, want)
		}
	}
}
