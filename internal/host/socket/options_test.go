package socket

import (
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestCongestionHint: the error for a refused congestion control says where it
// would be allowed.
func TestCongestionHint(t *testing.T) {
	for err, words := range map[error][]string{
		syscall.EPERM:         {"tcp_allowed_congestion_control", "CAP_NET_ADMIN"},
		syscall.ENOENT:        {"tcp_available_congestion_control", "tcp_allowed_congestion_control"},
		errors.ErrUnsupported: {"tcp_allowed_congestion_control", "CAP_NET_ADMIN"},
	} {
		for _, word := range words {
			if hint := congestionHint(err); !strings.Contains(hint, word) {
				t.Errorf("%v: %q does not name %s", err, hint, word)
			}
		}
	}
}

// TestTryCongestionControl: one that the kernel does not have is said to be missing, with
// those that are there.
func TestTryCongestionControl(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("congestion controls are Linux's")
	}
	if err := TryCongestionControl(t.Context(), "reno"); err != nil {
		t.Errorf("reno: %v", err)
	}
	err := TryCongestionControl(t.Context(), "nosuch")
	if err == nil || !strings.HasPrefix(err.Error(), `congestion control "nosuch", this host has `) || !strings.Contains(err.Error(), "reno") {
		t.Errorf("%v", err)
	}
}
