package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// lost says whether a request failed because its node does not answer, rather than by its
// answer.
func (g Group) lost(ctx context.Context, node string) bool {
	select {
	case <-g.Bus.Lost(node):
		return true
	default:
		return ctx.Err() != nil
	}
}

// alone are the readings of one node where another was lost in the window, for the reason
// why: they end at its latest sample after which more came. They are why, if there is none.
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

// until is a reply of a window that ended at an earlier edge.
func until(reply message.WindowReply, end message.Edge, windowS float64) message.WindowReply {
	reply.EndFlows, reply.FinalFlows = end.Flows, distributed(end.Flows, reply.FinalFlows)
	h := &reply.Reading
	h.End, h.ProcessCPUS, h.CPUBusy = end.Reading, end.ProcessCPUS, end.CPUBusy
	h.Series = slices.DeleteFunc(slices.Clone(h.Series), func(s record.Sample) bool { return s.AtNs >= h.End.BeganNs })
	if h.Log != nil {
		log := *h.Log
		log.Lines = slices.DeleteFunc(slices.Clone(log.Lines), func(l record.LogLine) bool {
			return l.AtNs >= h.End.BeganNs
		})
		h.Log = &log
	}
	h.CarrierLosses = slices.DeleteFunc(slices.Clone(h.CarrierLosses), func(l record.CarrierLoss) bool {
		return l.FromS >= windowS
	})
	for i := range h.CarrierLosses {
		if l := &h.CarrierLosses[i]; l.ToS >= windowS {
			l.ToS, l.Regained = windowS, false
		}
	}
	return reply
}

// distributed are flows with the distributions of latencies and delays, which are made after
// the window alone, of the same ones later: of what had come until the node was lost.
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
