package trial

import (
	"context"
	"math"

	"linerate/internal/bus"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// pings is how often a clock is asked; the quickest answer counts.
const pings = 8

// clocks estimates every node's offset from the conductor's clock, as NTP does
// (RFC 5905, section 8): the node read its clock somewhere between the question
// and the answer, so half the quickest round trip bounds the error.
func clocks(ctx context.Context, b *bus.Bus, nodes []string) (map[string]record.Clock, error) {
	return bus.Collect(nodes, func(node string) (record.Clock, error) { return clock(ctx, b, node) })
}

func clock(ctx context.Context, b *bus.Bus, node string) (record.Clock, error) {
	c := record.Clock{Host: node, UncertaintyNs: math.MaxInt64}
	for range pings {
		var reply message.ClockReply
		asked := sched.Now()
		if err := b.Call(ctx, node, "clock", struct{}{}, &reply); err != nil {
			return c, err
		}
		answered := sched.Now()
		if half := (answered - asked) / 2; half < c.UncertaintyNs {
			c.UncertaintyNs, c.OffsetNs = half, reply.NowNs-(asked+half)
		}
	}
	return c, nil
}
