//go:build !(linux && amd64)

package kerneltest

import "testing"

// Supervised skips the test: it needs seccomp and is implemented for amd64 only.
func Supervised(t *testing.T, _ func(*testing.T, string), _ func(string, Call) Fault) bool {
	t.Helper()
	Skip(t, "system calls are supervised on Linux, amd64")
	return false
}
