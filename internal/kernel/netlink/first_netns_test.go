//go:build linux && !portable

package netlink

import (
	"os"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestFirst: the machine's first network namespace is known by its number where that of process 1
// may not be seen, and one that was made is never taken for it.
func TestFirst(t *testing.T) {
	own, err := CurrentNetNS()
	if err != nil {
		t.Fatal(err)
	}
	one, readErr := os.Stat("/proc/1/ns/net")
	first, err := First()
	switch {
	case readErr != nil && own.Inode == initialNetNS:
		if !first || err != nil {
			t.Errorf("%v, %v", first, err)
		}
	case readErr != nil && err == nil:
		t.Errorf("%v, although that of process 1 is not known: %v", first, readErr)
	case readErr == nil && err != nil:
		t.Errorf("%v, although process 1 has %v", err, one)
	}
	kerneltest.InNamespace(t, func(t *testing.T) {
		if first, err := First(); first || (err != nil) != (readErr != nil) {
			t.Errorf("of a namespace that was made: %v, %v", first, err)
		}
	})
}
