// Package said has the rows of evidence, and the references, that several families of rules share.
package said

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"

	"linerate/internal/science/diagnose/facts"
)

// SilenceOf says how long a flow received nothing.
func SilenceOf(flow record.Flow, o record.Outage) string {
	text := fmt.Sprintf("flow %s: %s received nothing from %s ", flow.ID, flow.To, flow.From)
	lost := record.SpellLost(o.LostS, o.LostAtMostS)
	if o.Resumed {
		return text + "for " + lost
	}
	return text + "for the last " + lost
}

// On puts a host's name before what is to be done there, unless it is the only one.
func On(host string, alone bool, lines ...string) (list []string) {
	for _, line := range lines {
		if !alone {
			line = "on " + host + ": " + line
		}
		list = append(list, line)
	}
	return list
}

// Within says over which time counters grew: " in 3.0 s", " since boot".
func Within(h *facts.Host) string {
	switch {
	case h.Boot:
		return " since boot"
	case h.OverS == 0: // of a trial
		return " in the window"
	}
	return " in " + unit.FormatSeconds(h.OverS)
}

// References that several families have.
const (
	IPSysctl = "Linux Documentation/networking/ip-sysctl.rst"
)

// FailedRow is an entry of a neighbour that does not answer, as evidence.
func FailedRow(n record.Neighbour) string {
	return fmt.Sprintf("%s on %s: %s", n.Address, n.Interface, n.State)
}
