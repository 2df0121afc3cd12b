package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// oneSignal is how long further signals count as the first one: a terminal, a shell and timeout(1)
// may each send one.
const oneSignal = 100 * time.Millisecond

// untilSignal returns a context that ends with SIGINT or SIGTERM. A second signal ends the process
// immediately, unless the command handles it: then the agents of a run end with their streams, and
// guards revert what is left.
func untilSignal() (ctx context.Context, stop func()) {
	// A write beyond the limit of file sizes (ulimit -f) then fails with EFBIG, which is reported,
	// instead of ending the process. Programs that linerate executes keep the default action.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		time.Sleep(oneSignal)
		stop()
	})
	return ctx, stop
}

// computations counts the calls of computing that have not ended.
var computations atomic.Int32

// computing says that the command computes from files until done is called: it holds nothing that must be undone, and
// does not look at its context. A signal ends the process meanwhile.
func computing() (done func()) {
	saveMemory()
	computations.Add(1)
	return func() { computations.Add(-1) }
}

// unlessComputing calls execute and returns its error. If ctx ends while the command computes, it returns the error of
// ctx soon after, and execute goes on until the process ends.
func unlessComputing(ctx context.Context, execute func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- execute() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	for tick := time.Tick(oneSignal); ; {
		select {
		case err := <-ended:
			return err
		case <-tick:
			if computations.Load() > 0 {
				return ctx.Err()
			}
		}
	}
}

// untilHangup returns a context that also ends with SIGHUP, which a closed terminal sends. If
// SIGHUP is ignored, as by nohup(1), it stays ignored.
func untilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return ctx, func() {}
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}
