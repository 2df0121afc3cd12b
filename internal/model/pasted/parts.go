package pasted

import (
	"slices"
	"strings"

	"linerate/internal/model/netstate"
)

// finishParts names the parts of the snapshot that the text has: those of its formats, and those that
// cannot be seen from the values, because a value that is not there means that there is nothing.
func (m *machine) finishParts() {
	for f := range m.has { // heads alone, and lines of programs in a log, say nothing
		said := f.whole != nil || m.usedLines[f] > 0 || f.part == kernelLog && m.State.Log != nil
		m.addPart(f.part, said && f.part != "")
	}
	m.addPart("interface counters", len(m.Reading.End.Interfaces) > 0)
	for name := range m.known {
		traffic := strings.HasSuffix(name, "_packets") || strings.HasSuffix(name, "_bytes")
		m.addPart("interface counters/"+name, name != "" && !traffic)
	}
	m.addPart("nics", m.noted)
	m.addPart("sockstat", len(m.State.Sockstat) > 0)
	m.addPart("rules", len(m.Reading.Snapshot.Rules) > 0)
	m.addPart("every table", len(m.Reading.Snapshot.Rules) > 0 && (m.every ||
		!slices.ContainsFunc(m.Reading.Snapshot.Rules, func(r netstate.RuleEntry) bool {
			return r.Table > 0 && r.Other
		})))
	flagged := false
	for _, n := range m.notes {
		flagged = flagged || n.flagged
	}
	m.addPart("interface flags", flagged)
	timed, informed, of := m.timers, 0, 0
	for _, c := range m.connections {
		timed = timed || c.Info != nil
		if c.State == netstate.TCPStates[netstate.TCPEstablished] {
			of++
			if c.Info != nil && c.Info.SndMSS > 0 {
				informed++
			}
		}
	}
	m.addPart("tcp timers", timed)
	m.addPart("tcp info", of > 0 && informed == of)
	m.addPart("system", len(m.Pasted) == 0) // it is pasted, and has no part that a rule needs
	slices.Sort(m.Pasted)
}
