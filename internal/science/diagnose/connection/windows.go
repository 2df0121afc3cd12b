package connection

import (
	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// WindowRules find flows that were held back by the receiver's window or the send buffer.
var WindowRules = []rule.Rule{
	{ID: cause.ReceiverWindow.Code, Find: heldBy(cause.ReceiverWindow, bottleneck.ReceiverWindow,
		func(f record.Flow) string { return f.To })},
	{ID: cause.SendBuffer.Code, Find: heldBy(cause.SendBuffer, bottleneck.SendBuffer,
		func(f record.Flow) string { return f.From })},
}

// heldBy finds the hosts whose buffers limited flows. It finds nothing in a lab, where the study
// sets the buffers.
func heldBy(c cause.Of[cause.Between], by string, at func(record.Flow) string) func(facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		for _, fl := range f.Trial.Flows {
			if fl.LimitedBy == by && f.UnknownPath() {
				finding := record.Finding{ID: c.Code, Host: at(fl), Confidence: record.Likely,
					Args: cause.Between{From: fl.From, To: fl.To}}
				findings = append(findings, *finding.With("", fact.Limited{Flow: fl.ID, By: fl.LimitedFacts,
					Why: fl.LimitedWhy}))
			}
		}
		return findings
	}
}
