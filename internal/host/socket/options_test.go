package socket

import (
	"errors"
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
