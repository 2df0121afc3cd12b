package agent

import (
	"context"
	"errors"

	"linerate/internal/bus"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
)

// happen has things happen at their instants of a window. The function that it
// returns waits until all have, or until the window has ended early.
func (a *agent) happen(ctx context.Context, requests []message.EventRequest) func() []message.EventResult {
	done := make([]message.EventResult, len(requests))
	over := make(chan struct{})
	go func() {
		defer close(over)
		for i, o := range requests {
			done[i] = a.event(ctx, o)
		}
	}()
	return func() []message.EventResult {
		<-over
		return done
	}
}

func (a *agent) event(ctx context.Context, o message.EventRequest) (done message.EventResult) {
	err := sleepUntil(ctx, o.AtNs)
	done.BeganNs = sched.Now()
	switch {
	case err != nil:
	case a.manager == nil:
		err = bus.Coded(message.NotPermitted, errors.New("this host's settings are not to be changed"))
	case o.Stop == message.StopBGP:
		err = a.bgp.Kill()
	default:
		var reply message.ApplyReply
		reply, err = a.manager.Apply(ctx, message.ApplyRequest{Settings: o.Settings, AllowMachine: o.AllowMachine})
		done.Applied = reply.Applied
	}
	done.EndedNs, done.Error = sched.Now(), bus.Failure(coded(err))
	return done
}
