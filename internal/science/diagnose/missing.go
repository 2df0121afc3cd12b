package diagnose

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

// lack is a host on which a rule cannot be evaluated, and why.
type lack struct{ name, why string }

// lacking are the hosts whose snapshots do not have what a rule needs.
func lacking(r rule, f observed) (list []lack) {
	for _, h := range f.hosts {
		why := ""
		for _, part := range r.needs() {
			if missing := h.missing(part); missing != "" && why == "" {
				why = part + ": " + missing
			}
		}
		if why != "" {
			list = append(list, lack{h.name, why})
		}
	}
	return list
}

// needs are the parts of a snapshot that a rule needs, those of a reading included.
func (r rule) needs() []string {
	switch {
	case len(r.parts) > 0:
		return r.parts
	case r.growth:
		return []string{"interface counters"}
	}
	return []string{"interfaces"}
}

// missing is why a part of a host's snapshot was not read; empty: it was. A part of which
// something was read counts as read.
func (h *host) missing(part string) string {
	s := h.state
	if part == everyRoute {
		if n := h.reading.Snapshot.RoutesOmitted; n > 0 {
			return unit.Plural(n, "route") + " left out of the snapshot"
		}
		part = "routes"
	}
	if len(h.pasted) > 0 {
		if slices.Contains(h.pasted, part) || part == driverCounters && h.countersKnown() {
			return ""
		}
		return notPasted
	}
	switch part {
	case "interfaces", "interface counters", "neighbours", "routes", "qdiscs":
		return ""
	case "cpu":
		if len(h.reading.Begin.CPU) > 0 || h.boot {
			return ""
		}
		if h.overS == 0 {
			return "there is one reading only"
		}
		return orNotRead(h.reading.End.Missing, "cpu")
	case driverCounters:
		return cmp.Or(h.missing("nics"), h.countersUnknown())
	case "probe":
		if len(s.Probes) > 0 {
			return ""
		}
		return "no peer was probed"
	case "snmp":
		if len(h.reading.End.SNMP) > 0 {
			return ""
		}
		return orNotRead(h.reading.End.Missing, "snmp")
	case "softnet":
		if len(h.reading.End.Softnet) > 0 {
			return ""
		}
		return orNotRead(h.reading.End.Missing, "softnet")
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
