package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// snapshotTimeout bounds the snapshot of a host: one with very many sockets takes seconds.
const snapshotTimeout = 10 * time.Second

// snapshot is one that was asked for, or why there is none.
type snapshot struct {
	of  *netstate.HostSnapshot
	err error
}

// takeSnapshots takes one of each machine, before this process makes trials, and after the last
// when the settings of all trials are reverted. A host without one does not end the run.
func (c *conductor) takeSnapshots(ctx context.Context, after bool) {
	c.snapshots, _ = bus.Collect(c.machines(), func(node string) (snapshot, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, snapshotTimeout, fmt.Errorf("none within %v", snapshotTimeout))
		defer cancel()
		of, err := bus.Call(ctx, c.bus, node, message.Snapshot, message.SnapshotRequest{Name: node})
		if err != nil {
			return snapshot{err: err}, nil
		}
		return snapshot{of: &of}, nil
	})
	for _, host := range c.machines() {
		c.keepSnapshot(host, after)
	}
}

// keepSnapshot has the run keep a host's latest one. A resumed run that has trials keeps the one
// from before its first; the one from after its last is of before those that are added.
func (c *conductor) keepSnapshot(host string, after bool) {
	i := slices.IndexFunc(c.run.Snapshots, func(s netstate.HostSnapshots) bool { return s.Host == host })
	if i < 0 {
		i = len(c.run.Snapshots)
		c.run.Snapshots = append(c.run.Snapshots, netstate.HostSnapshots{Host: host})
	}
	kept, now := &c.run.Snapshots[i], c.snapshots[host]
	switch {
	case after:
		kept.After = now.of
	case len(c.run.Trials) == 0:
		*kept = netstate.HostSnapshots{Host: host, Before: now.of}
	default:
		if kept.After = nil; kept.Before != nil {
			kept.Missing = "" // it was the one from after
		}
		return
	}
	if now.err != nil {
		kept.Missing = now.err.Error()
	}
}

// machines are one node of each machine, as far as is known: the real hosts and switches, and
// the first host of a lab. The others of a lab have the same kernel, machine and parameters, and
// links and addresses that the study describes.
func (c *conductor) machines() (hosts []string) {
	lab := false
	for _, node := range c.lab.Nodes() {
		if real := c.study.Topology.Real(node); real || !lab {
			lab = lab || !real
			hosts = append(hosts, node)
		}
	}
	return hosts
}
