//go:build !linux

package kerneltest

import "testing"

// InNamespace skips the test: network namespaces need Linux.
func InNamespace(t *testing.T, _ func(t *testing.T)) {
	t.Helper()
	Skip(t, "network namespaces need Linux")
}

// RequireNamespaces skips the test: network namespaces need Linux.
func RequireNamespaces(t testing.TB) {
	t.Helper()
	Skip(t, "network namespaces need Linux")
}

// AsRoot skips the test: network namespaces need Linux.
func AsRoot(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	InNamespace(t, body)
}

// OwnProcess runs body in this process, alone.
func OwnProcess(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	body(t)
}
