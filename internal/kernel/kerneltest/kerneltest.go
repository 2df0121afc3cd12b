// Package kerneltest runs tests inside namespaces of their own. It re-executes
// the test binary for one test in a fresh user, network and mount namespace,
// which works for root and for ordinary users alike, and needs no clean-up: the
// kernel takes everything away with the process.
//
// It is for tests only; no package imports it.
package kerneltest

import (
	"os"
	"testing"
)

// requireNetns names the environment variable that turns a skipped namespace test
// into a failed one: where namespaces are known to work, a skip hides a fault.
const requireNetns = "LINERATE_REQUIRE_NETNS"

// inside is set in the re-executed process.
const inside = "LINERATE_TEST_INSIDE_NETNS"

// Parallel lets a test run beside others that call it: one that measures nothing, or on links
// so slow that others beside it change nothing that it asserts. In the process that InNamespace
// makes for a test it runs alone, and may change its environment.
func Parallel(t *testing.T) {
	if os.Getenv(inside) == "" {
		t.Parallel()
	}
}

// long names the environment variable by which tests run that take ten seconds and more, and
// whose parts shorter tests have as well.
const long = "LINERATE_LONG"

// Long skips the test unless make long runs it.
func Long(t *testing.T) {
	t.Helper()
	if os.Getenv(long) == "" {
		t.Skip("takes long: make long runs it")
	}
}

// Skip skips the test because the kernel refuses what it needs, or fails it
// where that must not happen.
func Skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(requireNetns) == "1" {
		t.Fatalf("%s=1 but this test cannot run: %s", requireNetns, why)
	}
	t.Skip(why)
}
