package cli

import (
	"strings"
	"testing"
)

// TestNothingToRecover: the output says whose agents were looked for.
func TestNothingToRecover(t *testing.T) {
	for ofUser, want := range map[bool]string{false: "no agent has left a change",
		true: "no agent of this user has left a change"} {
		var b strings.Builder
		if err := printRecovery(&b, recovery{ofUser: ofUser}); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v: %q, want %q", err, b.String(), want)
		}
	}
}
