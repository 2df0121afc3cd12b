// Package said has the rows of evidence, and the references, that several families of rules share.
package said

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// tracedRow is one kind of drops as evidence.
func tracedRow(h *facts.Host, d record.KernelDrop) string {
	row := strings.Join(strings.Fields(fmt.Sprintf("%s %s: %d %s packets", cmp.Or(d.Interface, "no interface"),
		d.Direction, d.Packets, d.Protocol)), " ")
	// also of counters since the boot: it is traced between the readings
	row += " dropped in " + unit.FormatSeconds(h.OverS) + " for " + d.Reason
	if d.Place != "" {
		row += " in " + d.Place
	}
	return strings.Replace(row, " :", ":", 1)
}

// TracedRows are at most four kinds of drops as evidence.
func TracedRows(h *facts.Host, where func(record.KernelDrop) bool) (rows []string) {
	for _, d := range h.Traced {
		if len(rows) < 4 && where(d) {
			rows = append(rows, tracedRow(h, d))
		}
	}
	return rows
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

// GrewRow is the growth of a counter as evidence. All rules spell it by this, so that two
// findings which rest on the same growth have the same row (restates).
func GrewRow(h *facts.Host, counter string, n int64) string {
	return fmt.Sprintf("%s grew by %d%s", counter, n, Within(h))
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

// Setting spells the sysctls behind an effective value; empty: they are not known.
func Setting(h *facts.Host, name string, p *facts.Interface) string {
	all, own := h.Sysctl("all", name), h.Sysctl(p.Name, name)
	if all < 0 && own < 0 {
		return ""
	}
	return fmt.Sprintf("%s: net.ipv4.conf.all.%s=%d, %s.%s=%d", h.Name, name, max(all, 0), p.Name, name, max(own, 0))
}

const (
	// FilterReference is about reverse-path filters.
	FilterReference = "Linux Documentation/networking/ip-sysctl.rst (rp_filter); RFC 3704"
)

// EgressLines lists which sources leave by which interface, a line per interface.
func EgressLines(h *facts.Host, list []facts.Asymmetry) []string {
	var lines []string
	var done []*facts.Interface
	for _, d := range list {
		if slices.Contains(done, d.Out) {
			continue
		}
		done = append(done, d.Out)
		var sources, destinations []string
		for _, o := range list {
			if o.Out != d.Out {
				continue
			}
			sources = facts.Union(sources, fmt.Sprintf("%s (%s)", o.Source, o.Holder.Name))
			destinations = facts.Union(destinations, o.Destination.String())
		}
		lines = append(lines, fmt.Sprintf("packets from %s to %s leave by %s (route lookup on %s)",
			facts.Join(sources), facts.Join(destinations), h.End(d.Out), h.Name))
	}
	return lines
}
