package drop

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// queueHolds: the queue of the sending host drops much of what a flow sends, on a link that is
// not full.
func queueHolds(h *facts.Host, f record.Flow) bool {
	return f.From == h.Name && f.LimitedBy == bottleneck.InterfaceQueue
}

// eachQdisc finds queueing disciplines that drop.
func eachQdisc(f facts.Trial) (findings []record.Finding) {
	for _, h := range f.Hosts {
		for _, q := range h.Queued {
			if q.Drops < 1 || float64(q.Drops) < 1e-5*float64(q.Packets) || q.InnerOf || !q.Queues() {
				continue
			}
			summary := fmt.Sprintf("the queue of %s (%s) drops packets", q.Interface, q.Kind)
			evidence := []string{fmt.Sprintf("%s %s on %s: %d dropped%s, %d sent, %d over the limit; %s wait now",
				q.Kind, q.Handle, q.Interface, q.Drops, said.Within(h), q.Packets, q.Overlimits,
				unit.FormatBytes(float64(q.Backlog)))}
			confidence := record.Likely
			if q.Drops >= 10 {
				confidence = record.Certain
			}
			findings = append(findings, record.Finding{
				Host: h.Name, Confidence: confidence, Summary: summary, Evidence: evidence, Reference: "tc(8); tc-" +
					q.Kind + "(8)", Places: facts.OnePlace(h.Device(q.Interface)...),
				Fix: said.On(h.Name, h.Alone,
					"a full link drops by design: then none; otherwise a longer queue (limit) or a higher rate of the shaper: tc -s qdisc show dev "+q.Interface),
			})
		}
	}
	return findings
}

// Rules about queueing disciplines.
var QueueRules = []rule.Rule{
	{ID: "qdisc-drop", Parts: []string{"qdiscs"}, Host: true, Load: true,
		About:  "A queueing discipline other than ingress and clsact dropped packets, at least one in 100,000; certain from ten on.",
		Growth: true, Find: eachQdisc, Holds: queueHolds, SameCause: rule.SameSummary,
		Explains: []string{"tcp-retransmissions", "ip-discards", "udp-send-buffer", "retransmission-refused"}},
}
