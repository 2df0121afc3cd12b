package controltest

import (
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// NeedsTun skips the test if err says that /dev/net/tun, which carries a lab's links, cannot
// be opened.
func NeedsTun(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "open /dev/net/tun: ") {
		kerneltest.Skip(t, err.Error())
	}
}
