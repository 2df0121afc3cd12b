package facts

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// NotPasted ends the reasons of rules for which a pasted text does not have enough.
const NotPasted = ": " + notPasted

const notPasted = "not in the pasted text"

// Missing is why a part of a host's snapshot was not read; empty: it was. A part of which
// something was read counts as read.
func (h *Host) Missing(part string) string {
	s := h.State
	if part == EveryRoute {
		if n := h.Reading.Snapshot.RoutesOmitted; n > 0 {
			return unit.Plural(n, "route") + " left out of the snapshot"
		}
		part = "routes"
	}
	if len(h.Pasted) > 0 {
		if slices.Contains(h.Pasted, part) || part == DriverCounters && h.countersKnown() {
			return ""
		}
		return notPasted
	}
	switch part {
	case "interfaces", "interface counters", "neighbours", "routes", "qdiscs":
		return ""
	case "cpu":
		if len(h.Reading.Begin.CPU) > 0 || h.Boot {
			return ""
		}
		if h.OverS == 0 {
			return "there is one reading only"
		}
		return orNotRead(h.Reading.End.Missing, "cpu")
	case DriverCounters:
		return cmp.Or(h.Missing("nics"), h.countersUnknown())
	case "probe":
		if len(s.Probes) > 0 {
			return ""
		}
		return "no peer was probed"
	case "snmp":
		if len(h.Reading.End.SNMP) > 0 {
			return ""
		}
		return orNotRead(h.Reading.End.Missing, "snmp")
	case "softnet":
		if len(h.Reading.End.Softnet) > 0 {
			return ""
		}
		return orNotRead(h.Reading.End.Missing, "softnet")
	}
	i := slices.IndexFunc(s.Parts, func(p record.StatePart) bool { return p.Part == part })
	if i < 0 {
		return "not in the snapshot"
	}
	read := map[string]bool{record.ByTracepoint: s.KernelDrops != nil, "nics": len(s.NICs) > 0,
		"parameters": len(s.Parameters) > 0, "sockets": s.TCP != nil}
	if read[part] {
		return ""
	}
	return s.Parts[i].Missing
}

func orNotRead(missing []string, part string) string {
	for _, line := range missing {
		if why, is := strings.CutPrefix(line, part+": "); is {
			return why
		}
	}
	return "not read"
}
