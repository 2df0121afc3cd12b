package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// lost reports whether a request failed because its node does not answer any more, not because of
// its reply.
func (g Group) lost(ctx context.Context, node string) bool {
	select {
	case <-g.Bus.Lost(node):
		return true
	default:
		return ctx.Err() != nil
	}
}

// alone returns the readings of one node after another node was lost in the window, for the reason
// why. The window then ends at the node's latest sample; without one, alone returns why as the
// error.
func (r Readings) alone(node string, why error) (Readings, error) {
	reply, offset := r.Replies[node], r.Clocks[node].OffsetNs
	if reply.Latest == nil {
		return Readings{}, why
	}
	end := *reply.Latest
	planned := r.Duration
	r.Duration = time.Duration(end.Reading.ScheduledNs - offset - r.BeginNs)
	if r.Duration <= 0 || r.Duration >= planned {
		return Readings{}, fmt.Errorf("%w; %s says that it read its latest sample after %v of %v", why, node,
			r.Duration, planned)
	}
	r.Planned, r.Lost = planned, why
	r.Replies = map[string]message.WindowReply{node: until(reply, end, r.Duration.Seconds())}
	r.Clocks = map[string]record.Clock{node: r.Clocks[node]}
	return r, nil
}

// until returns a reply as if its window had ended at an earlier edge.
func until(reply message.WindowReply, end message.Edge, windowS float64) message.WindowReply {
	reply.EndFlows, reply.FinalFlows = end.Flows, distributed(end.Flows, reply.FinalFlows)
	h := &reply.Reading
	h.End, h.ProcessCPUS, h.CPUBusy = end.Reading, end.ProcessCPUS, end.CPUBusy
	h.Series = slices.DeleteFunc(slices.Clone(h.Series),
		func(s netstate.Sample) bool { return s.AtNs >= h.End.BeganNs })
	if h.Log != nil {
		log := *h.Log
		log.Lines = slices.DeleteFunc(slices.Clone(log.Lines), func(l netstate.LogLine) bool {
			return l.AtNs >= h.End.BeganNs
		})
		h.Log = &log
	}
	h.CarrierLosses = slices.DeleteFunc(slices.Clone(h.CarrierLosses), func(l netstate.CarrierLoss) bool {
		return l.FromS >= windowS
	})
	for i := range h.CarrierLosses {
		if l := &h.CarrierLosses[i]; l.ToS >= windowS {
			l.ToS, l.Regained = windowS, false
		}
	}
	return reply
}

// distributed returns flows with the distributions of latencies and delays of later, the same flows
// after the window: nodes make these only at the end, from what had arrived until the other node
// was lost.
func distributed(flows, later []message.FlowEnd) (list []message.FlowEnd) {
	for i, f := range slices.Clone(flows) {
		if i < len(later) && f.Transactions != nil && later[i].Transactions != nil {
			t := *f.Transactions
			t.TakeTimes(later[i].Transactions)
			f.Transactions = &t
		}
		if i < len(later) && f.Datagrams != nil && later[i].Datagrams != nil {
			d := *f.Datagrams
			d.Delay, f.Datagrams = later[i].Datagrams.Delay, &d
		}
		list = append(list, f)
	}
	return list
}
