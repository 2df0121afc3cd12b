package connection

import (
	"fmt"

	"linerate/internal/model/record"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/science/diagnose/said"
)

// WindowRules find flows that a window or buffer held back.
var WindowRules = []rule.Rule{
	{ID: "receiver-window",
		About: "The window of its receiver held a flow of TCP back (limited_by), between hosts that are no lab's. Needs a run or a measurement.",
		Find: heldBy(bottleneck.ReceiverWindow, func(f record.Flow) string {
			return f.To
		}, "receive buffer", "SO_RCVBUF (--window, --receive-buffer)", "net.ipv4.tcp_rmem")},
	{ID: "send-buffer",
		About: "Its send buffer held a flow of TCP back (limited_by), between hosts that are no lab's. Needs a run or a measurement.",
		Find: heldBy(bottleneck.SendBuffer, func(f record.Flow) string {
			return f.From
		}, "send buffer", "SO_SNDBUF (--window, --send-buffer)", "net.ipv4.tcp_wmem")},
}

// heldBy finds the hosts whose buffers held flows back, by what the flows are limited by. In a
// lab these are the study's.
func heldBy(cause string, at func(record.Flow) string, what, option, parameter string) func(
	facts.Trial) []record.Finding {
	return func(f facts.Trial) (findings []record.Finding) {
		for _, fl := range f.Trial.Flows {
			if host := at(fl); fl.LimitedBy == cause && f.UnknownPath() {
				findings = append(findings, record.Finding{
					Host: host, Confidence: record.Likely,
					Summary:  fmt.Sprintf("the %s of %s holds flows from %s to %s back", what, host, fl.From, fl.To),
					Evidence: []string{"flow " + fl.ID + ": " + fl.LimitedWhy},
					Fix: said.On(host, len(f.Hosts) == 1,
						fmt.Sprintf(
							"no %s; %s as large as linerate limits bdp says for the rate and the round-trip time, and no less than it is", option, parameter)),
					Reference: "tcp(7); RFC 7323; " + said.IPSysctl,
				})
			}
		}
		return findings
	}
}
