package proc

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestRaiseOpenFiles: a lower soft limit becomes at least the hard one.
func TestRaiseOpenFiles(t *testing.T) {
	var before, after unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	lower := unix.Rlimit{Cur: before.Max / 2, Max: before.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lower); err != nil {
		t.Fatal(err)
	}
	if err := RaiseOpenFiles(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &after); err != nil || after.Cur < before.Max ||
		after.Cur != after.Max {
		t.Errorf("limits %+v, before %+v, %v", after, before, err)
	}
}
