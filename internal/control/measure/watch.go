package measure

import (
	"context"
	"time"

	"linerate/internal/kernel"
	"linerate/internal/model/record"
)

// watch tells how far the measurement is, every interval, until the window ends.
// What it asks for is light, and nothing waits for the answer.
func (s *session) watch(ctx context.Context, begin, end int64) {
	if s.options.Progress == nil {
		return
	}
	tick := time.NewTicker(s.options.Interval)
	defer tick.Stop()
	last := s.glance(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := kernel.Now()
		if now >= end {
			return
		}
		glances := s.glance(ctx)
		p := Progress{Phase: "measuring", ElapsedS: float64(now-begin) / 1e9, LeftS: float64(end-now) / 1e9, Write: -1, Read: -1}
		if now < begin {
			p.Phase = "warm-up"
		}
		p.Write = rate(last[record.NodeServer], glances[record.NodeServer], 'w')
		p.Read = rate(last[record.NodeClient], glances[record.NodeClient], 'r')
		last = glances
		if p.Write >= 0 || p.Read >= 0 {
			s.options.Progress(p)
		}
	}
}

// glance asks both ends how far their flows are.
func (s *session) glance(ctx context.Context) map[string]record.Glance {
	ctx, cancel := context.WithTimeout(ctx, s.options.Interval)
	defer cancel()
	all := map[string]record.Glance{}
	for _, node := range s.group.Nodes {
		var g record.Glance
		if s.group.Bus.Call(ctx, node, "glance", struct{}{}, &g) == nil {
			all[node] = g
		}
	}
	return all
}

// rate is what the flows of a direction received between two glances, in bit/s;
// below 0: there are none, or one of the glances is missing.
func rate(before, now record.Glance, letter byte) float64 {
	seconds := float64(now.AtNs-before.AtNs) / 1e9
	if before.AtNs == 0 || now.AtNs == 0 || seconds <= 0 {
		return -1
	}
	was := map[string]int64{}
	for _, f := range before.Flows {
		was[f.ID] = f.ReceivedBytes
	}
	bytes, found := int64(0), false
	for _, f := range now.Flows {
		if f.ID != "" && f.ID[0] == letter {
			bytes, found = bytes+f.ReceivedBytes-was[f.ID], true
		}
	}
	if !found {
		return -1
	}
	return float64(bytes) * 8 / seconds
}
