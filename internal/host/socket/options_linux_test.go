package socket

import (
	"strings"
	"testing"
)

// TestTryCongestionControl: one that the kernel does not have is said to be missing, with
// those that are there.
func TestTryCongestionControl(t *testing.T) {
	if err := TryCongestionControl(t.Context(), "reno"); err != nil {
		t.Errorf("reno: %v", err)
	}
	err := TryCongestionControl(t.Context(), "nosuch")
	if err == nil || !strings.HasPrefix(err.Error(), `congestion control "nosuch", this host has `) ||
		!strings.Contains(err.Error(), "reno") {
		t.Errorf("%v", err)
	}
}
