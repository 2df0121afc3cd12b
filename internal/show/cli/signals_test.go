package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
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

// TestSignalWhileComputing: a signal ends a command that computes from files, and waits for one that holds something.
func TestSignalWhileComputing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release, computes := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- unlessComputing(ctx, func() error {
			func() {
				defer computing()()
				close(computes)
				<-release
			}()
			return nil
		})
	}()
	<-computes
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("while it computes: %v, want %v", err, context.Canceled)
	}
	close(release)
	kerneltest.Await(t, "the computation ends", func() bool { return computations.Load() == 0 })

	undone := errors.New("undone")
	err := unlessComputing(ctx, func() error {
		time.Sleep(3 * oneSignal)
		return undone
	})
	if err != undone {
		t.Errorf("while it undoes: %v", err)
	}
}
