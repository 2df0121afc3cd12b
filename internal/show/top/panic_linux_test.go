//go:build !race

// After a panic bubbletea closes the terminal's reader while it reads: a race, and the end.

package top

import (
	"context"
	"testing"
	"time"

	"linerate/internal/model/record"
)

// TestPanicRestoresTheTerminal: a source that panics ends the program with an error.
func TestPanicRestoresTheTerminal(t *testing.T) {
	panics := func(context.Context) error { time.Sleep(500 * time.Millisecond); panic("a fault of a source") }
	if _, err := shownBy(t, t.Context(), &script{[]record.HostSample{sample("nas", 0)}, panics}, ""); err == nil {
		t.Error("a panic is no error")
	}
}
