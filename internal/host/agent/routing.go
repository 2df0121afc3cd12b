package agent

import (
	"context"

	"linerate/internal/bus"
	"linerate/internal/model/message"
)

// routing are the verbs about the host's routing daemon: which it has, start it
// unless it runs, and wait for its routes. Hosts that are not the conductor's own have none.
func (a *agent) routing() map[string]bus.Handler {
	return map[string]bus.Handler{
		"bgp-daemon": handle(a.probeBGP),
		"bgp":        handle(a.startBGP),
		"routes":     handle(a.awaitRoutes),
	}
}

func (a *agent) probeBGP(context.Context, struct{}) (message.BGPDaemon, error) {
	return a.daemon.Probe(), nil
}

func (a *agent) startBGP(_ context.Context, o message.BGPRequest) (message.BGPStarted, error) {
	return a.daemon.Start(o)
}

func (a *agent) awaitRoutes(ctx context.Context, want message.RoutesWanted) (message.RoutesFound, error) {
	return a.daemon.Await(ctx, want)
}
