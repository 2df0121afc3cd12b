package wording

import (
	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// messageOf returns the message that a finding is about. Of one that this version does not know, only
// the code is returned.
func messageOf(a cause.Logged) netstate.Message {
	if m := netstate.MessageWith(a.Fault); m != nil {
		return *m
	}
	return netstate.Message{Means: a.Fault, Source: "dmesg(1)", Do: "see the log: dmesg"}
}

var _ = later(func() {
	say(cause.FaultLogged, words[cause.Logged]{
		summary: func(_ record.Finding, a cause.Logged) string { return messageOf(a).Means },
		fixed:   func(_ record.Finding, a cause.Logged) []string { return []string{messageOf(a).Do} },
		readFor: func(a cause.Logged) string { return messageOf(a).Source },
		found: "The kernel's log has a line that means a fault of the network, or of what the network needs: one " +
			"of those in docs/kernel-log.md.",
	})

	spell(func(_ string, l fact.LoggedLines) string { return fmt.Sprintf("%d such lines", l.Lines) })
	spell(func(string, fact.MachineLog) string {
		return "the kernel's log is of the whole machine, and this is another network namespace than its first " +
			"one: the lines may be of others"
	})
})
