package cli

import (
	"context"
	"os"
	"os/signal"
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

// untilHangup returns a context that also ends with SIGHUP, which a closed terminal sends. If
// SIGHUP is ignored, as by nohup(1), it stays ignored.
func untilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return ctx, func() {}
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}
