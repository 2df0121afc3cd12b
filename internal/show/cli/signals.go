package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// oneSignal is how long signals count as the first one: a terminal, a shell and timeout(1)
// may each send it.
const oneSignal = 100 * time.Millisecond

// untilSignal is a context that SIGINT and SIGTERM end. A second signal ends the process at
// once, unless the command handles it itself: the agents of a run end with their streams,
// and guards revert what is left.
func untilSignal() (ctx context.Context, stop func()) {
	// A write beyond the limit of a file's size (ulimit -f) fails with EFBIG, which is reported,
	// instead of ending the process. Programs that it executes keep the signal's default.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		time.Sleep(oneSignal)
		stop()
	})
	return ctx, stop
}

// untilHangup is a context that SIGHUP ends, too: a terminal that is closed is an end like
// any other. Where SIGHUP is ignored, as by nohup(1), it stays so.
func untilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return ctx, func() {}
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}
