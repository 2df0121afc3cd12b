package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/record"
)

// snapshotTimeout bounds the snapshot of a host: one with very many sockets takes seconds.
const snapshotTimeout = 10 * time.Second

// snapshots takes those before the first trial, and those after the last when the settings of
// all trials are reverted. A host without one does not end the run. A resumed run keeps the
// ones from before its first trial.
func (c *conductor) snapshots(ctx context.Context, after bool) {
	type taken struct {
		snapshot *record.HostSnapshot
		err      error
	}
	hosts := c.machines()
	all, _ := bus.Collect(hosts, func(node string) (t taken, _ error) {
		ctx, cancel := context.WithTimeoutCause(ctx, snapshotTimeout, fmt.Errorf("none within %v", snapshotTimeout))
		defer cancel()
		t.err = c.bus.Call(ctx, node, "snapshot", struct{}{}, &t.snapshot)
		return t, nil
	})
	for _, host := range hosts {
		i := slices.IndexFunc(c.run.Snapshots, func(s record.HostSnapshots) bool { return s.Host == host })
		if i < 0 {
			i = len(c.run.Snapshots)
			c.run.Snapshots = append(c.run.Snapshots, record.HostSnapshots{Host: host})
		}
		s := &c.run.Snapshots[i]
		t := all[host]
		switch {
		case t.err != nil:
			s.Missing = t.err.Error()
		case after:
			s.After = t.snapshot
		case s.Before == nil:
			s.Before = t.snapshot
		}
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
