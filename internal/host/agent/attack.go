package agent

import (
	"context"
	"time"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// The attacks of a lab's host (package attack), which are prepared before a window and made
// in it.

func (a *agent) prepareAttacks(ctx context.Context, r message.AttacksRequest) (struct{}, error) {
	a.useCPUs()
	return struct{}{}, a.attacks.Prepare(ctx, r)
}

// startAttacks schedules what was prepared.
func (a *agent) startAttacks(r message.WindowRequest) {
	if a.attacks != nil {
		a.attacks.Start(r)
	}
}

// shortenAttacks brings forward the window's end and the attacks' stop.
func (a *agent) shortenAttacks(endNs, stopNs int64) {
	if a.attacks != nil {
		a.attacks.Shorten(endNs, stopNs)
	}
}

// attacked is what was done in the window; it waits a moment for the attacks to end.
func (a *agent) attacked(ctx context.Context, stopNs int64) []record.AttackCounts {
	if a.attacks == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(0, stopNs-sched.Now()))+moment)
	defer cancel()
	return a.attacks.Results(ctx)
}

// closeAttacks ends the attacks and what was prepared.
func (a *agent) closeAttacks() {
	if a.attacks != nil {
		a.attacks.Close()
	}
}
