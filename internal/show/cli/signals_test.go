package cli

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestUntilHangup: SIGHUP ends the context, unless it is ignored, as by nohup(1): then it stays
// ignored.
func TestUntilHangup(t *testing.T) {
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGHUP) // whatever the test was started with
	defer signal.Stop(handled)
	ctx, stop := untilHangup(t.Context())
	defer stop()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	stop()

	signal.Ignore(syscall.SIGHUP)
	defer signal.Notify(handled, syscall.SIGHUP) // Reset leaves it ignored
	ctx, stop = untilHangup(t.Context())
	defer stop()
	if !signal.Ignored(syscall.SIGHUP) || ctx.Err() != nil {
		t.Error("SIGHUP is no longer ignored")
	}
}
