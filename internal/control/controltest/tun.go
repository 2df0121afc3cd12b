package controltest

import (
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// NeedsTun skips the test if an error says that a lab's links cannot be carried without taps.
func NeedsTun(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "open /dev/net/tun: ") {
		kerneltest.Skip(t, err.Error())
	}
}
