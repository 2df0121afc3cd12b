package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/hub"
	"linerate/internal/control/lab"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
)

// Tried is the result of making one setting on one host and reverting it.
type Tried struct {
	Setting setting.Setting
	// Applied lists the changes made; empty: the setting has its value already.
	Applied []record.Applied
	// Refused says why the host cannot make the setting; empty: it can.
	Refused string
	// NotFound says that the host lacks what the setting names, such as a congestion
	// control.
	NotFound bool
}

// Try makes each setting alone on its host and reverts it at once, so that a study can
// be made of those that the hosts accept. Of the options, AllowMachine and Install apply.
func Try(ctx context.Context, t *topology.Topology, settings []setting.Setting, o Options) (tried []Tried, err error) {
	b, err := hub.Start()
	if err != nil {
		return nil, err
	}
	defer b.Close()
	l, err := lab.Up(ctx, t, b, lab.Options{AllowMachine: o.AllowMachine, Install: o.Install})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Down()) }()
	settings, err = l.Resolve(settings)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		one, err := try(ctx, b, s, o.AllowMachine)
		if err != nil {
			return nil, err
		}
		tried = append(tried, one)
	}
	return tried, nil
}

func try(ctx context.Context, b *bus.Bus, s setting.Setting, allowMachine bool) (Tried, error) {
	reply, err := bus.Call(ctx, b, s.Host, message.Apply,
		message.ApplyRequest{Settings: []setting.Setting{s}, AllowMachine: allowMachine})
	if err != nil {
		if ctx.Err() != nil {
			return Tried{}, context.Cause(ctx)
		}
		if errors.Is(err, message.Gone) {
			return Tried{}, err
		}
		return Tried{Setting: s, Refused: bus.Local(err, s.Host).Error(),
			NotFound: errors.Is(err, message.NotFound) || errors.Is(err, message.Unsupported)}, nil
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if _, err := bus.Call(after, b, s.Host, message.Revert, message.Mark{Mark: reply.Mark}); err != nil {
		return Tried{}, fmt.Errorf("reverting a setting that was only tried: %w", err)
	}
	return Tried{Setting: s, Applied: reply.Applied}, nil
}
