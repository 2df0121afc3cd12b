package drop

import (
	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// queueHolds reports whether a flow is limited by drops in the sending host's queue, on a link that
// is not full.
func queueHolds(h *facts.Host, f record.Flow) bool {
	return f.From == h.Name && f.LimitedBy == bottleneck.InterfaceQueue
}

// eachQdisc returns the Find of a cause: queueing disciplines that drop packets, and with shaped those by which
// a shaper's queue makes TCP keep to its rate.
func eachQdisc(of cause.Of[cause.Qdisc], shaped bool) func(facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		return lists.Flat(f.Hosts, func(h *facts.Host) []record.Finding { return dropping(h, of, shaped) })
	}
}

func dropping(h *facts.Host, of cause.Of[cause.Qdisc], shaped bool) (findings []record.Finding) {
	for _, q := range h.Queued {
		if q.Shaped != shaped || q.Drops < 1 || float64(q.Drops) < 1e-5*float64(q.Packets) || q.InnerOf || !q.Queues() {
			continue
		}
		confidence := record.Likely
		if q.Drops >= 10 && !shaped {
			confidence = record.Certain
		}
		finding := facts.Found(of, h, confidence, cause.Qdisc{Kind: q.Kind}).With(h.Name,
			fact.Qdisc{RateBps: rateOf(h, q.QdiscCounters), Interface: q.Interface, Kind: q.Kind, Handle: q.Handle,
				Dropped: q.Drops, Sent: q.Packets,
				OverLimit: q.Overlimits, WaitingBytes: q.Backlog, Time: h.Time()}).At(h.Devices(q.Interface)...)
		finding.About.Interface = q.Interface
		findings = append(findings, *finding)
	}
	return findings
}

// rateOf returns the rate of a qdisc that is its interface's shaper. 0: not known, or it is none.
func rateOf(h *facts.Host, q netstate.QdiscCounters) float64 {
	if i, _ := h.Snapshot(q.Interface); i.Shaper != nil && i.Shaper.Kind == q.Kind {
		return i.Shaper.RateBps
	}
	return 0
}

// QueueRules are about queueing disciplines.
var QueueRules = []rule.Rule{
	{ID: cause.QdiscDrop.Code, Parts: []string{"qdiscs"}, Host: true, Load: true, Growth: true,
		Find:     eachQdisc(cause.QdiscDrop, false),
		Holds:    queueHolds,
		Explains: []string{"tcp-retransmissions", "ip-discards", "udp-send-buffer", "retransmission-refused"}},
}

// ShaperRules are about shapers, whose limits are meant.
var ShaperRules = []rule.Rule{
	{ID: cause.Shaped.Code, Parts: []string{"qdiscs"}, Host: true, Load: true, Growth: true,
		Find: eachQdisc(cause.Shaped, true), Holds: queueHolds,
		Explains: []string{"tcp-retransmissions", "retransmission-refused"}},
}
