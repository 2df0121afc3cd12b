package diagnose

import (
	"fmt"

	"linerate/internal/model/record"

	"linerate/internal/science/bottleneck"
)

var windowRules = []rule{
	{id: "receiver-window",
		about: "The window of its receiver held a flow of TCP back (limited_by), between hosts that are no lab's. Needs a run or a measurement.",
		find: heldBy(bottleneck.ReceiverWindow, func(f record.Flow) string {
			return f.To
		}, "receive buffer", "SO_RCVBUF (--window, --receive-buffer)", "net.ipv4.tcp_rmem")},
	{id: "send-buffer",
		about: "Its send buffer held a flow of TCP back (limited_by), between hosts that are no lab's. Needs a run or a measurement.",
		find: heldBy(bottleneck.SendBuffer, func(f record.Flow) string {
			return f.From
		}, "send buffer", "SO_SNDBUF (--window, --send-buffer)", "net.ipv4.tcp_wmem")},
}

// heldBy finds the hosts whose buffers held flows back, by what the flows are limited by. In a
// lab these are the study's.
func heldBy(cause string, at func(record.Flow) string, what, option, parameter string) func(observed) []record.Finding {
	return func(f observed) (findings []record.Finding) {
		for _, fl := range f.trial.Flows {
			if host := at(fl); fl.LimitedBy == cause && f.unknownPath() {
				findings = append(findings, record.Finding{
					Host: host, Confidence: record.Likely,
					Summary:  fmt.Sprintf("the %s of %s holds flows from %s to %s back", what, host, fl.From, fl.To),
					Evidence: []string{"flow " + fl.ID + ": " + fl.LimitedWhy},
					Fix: on(host, len(f.hosts) == 1,
						fmt.Sprintf(
							"no %s; %s as large as linerate limits bdp says for the rate and the round-trip time, and no less than it is", option, parameter)),
					Reference: "tcp(7); RFC 7323; " + ipSysctl,
				})
			}
		}
		return findings
	}
}

// unknownPath reports whether what is between the hosts is not known from one end to the other,
// as that of a lab is.
func (f observed) unknownPath() bool {
	for _, h := range f.over.Hosts {
		if len(f.over.Links) > 0 && len(h.Via) == 0 {
			return false
		}
	}
	return true
}
