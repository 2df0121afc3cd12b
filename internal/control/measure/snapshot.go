package measure

import (
	"context"
	"fmt"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// snapshotTimeout bounds a snapshot of this host.
const snapshotTimeout = 3 * time.Second

// snapshot takes one of this host, which is the local agent's to see. The measurement goes on
// without it.
func (s *session) snapshot(ctx context.Context, into **netstate.HostSnapshot) {
	ctx, cancel := context.WithTimeoutCause(ctx, snapshotTimeout, fmt.Errorf("none within %v", snapshotTimeout))
	defer cancel()
	s.local.Host = record.NodeClient
	snapshot, err := bus.Call(ctx, s.group.Bus, record.NodeClient, message.Snapshot,
		message.SnapshotRequest{Name: record.NodeClient})
	if err != nil {
		s.local.Missing = err.Error()
		return
	}
	*into = &snapshot
}
