// Package kerneltest runs tests inside namespaces of their own. It re-executes the test binary for one
// test in a new user, network and mount namespace. This works for root and for ordinary users, and needs
// no clean-up: the kernel deletes everything with the process.
//
// It is for tests only; no package imports it.
package kerneltest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// requireNetns names the environment variable that turns a skipped namespace test
// into a failed one: where namespaces are known to work, a skip hides a fault.
const requireNetns = "LINERATE_REQUIRE_NETNS"

// inside is set in the re-executed process.
const inside = "LINERATE_TEST_INSIDE_NETNS"

// Parallel lets a test run concurrently with others that call it. Such a test measures nothing, or
// measures links so slow that other tests do not affect what it asserts. In the process that InNamespace
// starts for a test, the test runs alone and may change its environment.
func Parallel(t *testing.T) {
	if os.Getenv(inside) == "" {
		t.Parallel()
	}
}

// long names the environment variable by which tests run that take ten seconds and more, and
// whose parts shorter tests have as well.
const long = "LINERATE_LONG"

// Long skips the test unless `make long` runs it.
func Long(t *testing.T) {
	t.Helper()
	if os.Getenv(long) == "" {
		t.Skip("takes long: make long runs it")
	}
}

// Slow skips the test with -short: it takes seconds, or starts many processes, so that it runs without the
// race detector.
func Slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds, or starts many processes")
	}
}

// skips names the environment variable with the file to which skipped tests are added, a line
// each: script/test lists them.
const skips = "LINERATE_SKIPS"

// Skip skips the test because this machine or user lacks what it needs, or fails it if the environment
// says that nothing may be missing (LINERATE_REQUIRE_NETNS).
func Skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(requireNetns) == "1" {
		t.Fatalf("%s=1 but this test cannot run: %s", requireNetns, why)
	}
	Without(t, why)
}

// Without skips the test, or a part of it, because this kernel or user lacks something that cannot be
// installed, such as a qdisc or root's privilege. The skip is counted, and is never a failure.
func Without(t testing.TB, why string) {
	t.Helper()
	if path := os.Getenv(skips); path != "" {
		line, _, _ := strings.Cut(why, "\n")
		if err := note(path, t.Name()+": "+line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	t.Skip(why)
}

func note(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// patience is how long Await waits: longer than anything takes on a busy machine.
const patience = time.Minute

// Await waits until is returns true, and fails the test if it does not within a minute; what describes the
// condition.
func Await(t testing.TB, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// Program returns the path of a program, which may be in a directory that only root has in its PATH. It
// skips the test if the program is not installed.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if err != nil {
			path, err = exec.LookPath(filepath.Join(dir, name))
		}
	}
	if err != nil {
		Skip(t, name+" is not installed")
	}
	return path
}

// Needs skips the test unless the programs are installed.
func Needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, name := range programs {
		Program(t, name)
	}
}
