package present

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// Measurement is what is shown of one: its title, and blocks of which those of
// one list belong together.
type Measurement struct {
	Title   string
	Summary [][]Block
}

// Measure arranges a measurement for reading.
func Measure(m *record.Measure) Measurement {
	out := Measurement{Title: measureTitle(m)}
	for _, one := range m.EachMode() {
		parts := measured(one)
		if len(m.Modes) > 0 {
			parts[0] = append([]Block{Heading{"mode " + one.Mode}}, parts[0]...)
		}
		out.Summary = append(out.Summary, parts...)
	}
	if m.Expect != nil {
		last := &out.Summary[len(out.Summary)-1]
		*last = append(*last, expected(m.Expect))
	}
	return out
}

// expected says whether the measurement met what was asked of it.
func expected(e *record.Expectation) Statement {
	if e.Met {
		return Statement{Label: "Expected", Text: e.Gate + ": met", Tone: Good}
	}
	text := e.Gate + ": not met"
	if len(e.Conditions) > 1 {
		var missed []string
		for _, c := range e.Conditions {
			if !c.Met {
				missed = append(missed, c.Condition+", got "+c.Got)
			}
		}
		text += " (" + strings.Join(missed, "; ") + ")"
	}
	return Statement{Label: "Expected", Text: text, Tone: Wrong}
}

// measured is one trial's figures and what stands under them.
func measured(m *record.Measure) (parts [][]Block) {
	if m.Peer != "" {
		return measuredWithPeer(m)
	}
	var rows [][]string
	if m.LossFree != nil {
		rows = lossFreeRows(m.LossFree)
	}
	for _, d := range m.Directions {
		rows = append(rows, measuredRows(m, d)...)
	}
	parts = append(parts, []Block{figureList(rows)})
	if m.Latency != nil {
		parts = append(parts, []Block{measuredLatency(m.Latency)})
	}
	if len(m.Addresses) > 0 {
		parts = append(parts, measuredAddresses(m))
	}
	parts = append(parts, measuredFlows(m)...)
	last := append(movedBy(m), Statement{Label: "CPU", Text: measureCPU(m)})
	for _, e := range m.Ends {
		if e.Others != nil {
			last = append(last, Statement{Text: fmt.Sprintf("the %s moved %s for other clients meanwhile, which its share includes (%s)",
				e.Host, Volume(e.Others.ReceivedBytes+e.Others.WrittenBytes), Count(e.Others.Clients, "other client"))})
		}
	}
	last = append(last, measureTrust(m)...)
	return append(parts, append(last, measuredFindings(m)...))
}

func measureTitle(m *record.Measure) string {
	n := 0
	for _, d := range m.Directions {
		n += d.Flows
	}
	at, with := m.Address, ""
	if others := serverAddresses(m) - 1; others > 0 {
		at += fmt.Sprintf(" and %d more", others)
	}
	if m.Peer != "" {
		with = " · " + m.Peer
	}
	text := fmt.Sprintf("measure %s%s · %s, %s · %.4g s after %.4g s", at, with, strings.ToUpper(m.Protocol), Count(n, "flow"), m.DurationS, m.WarmupS)
	var controls []string
	for _, f := range m.Flows {
		if f.CongestionControl != "" && !slices.Contains(controls, f.CongestionControl) {
			controls = append(controls, f.CongestionControl)
		}
	}
	if len(controls) > 0 {
		text += " · " + strings.Join(controls, ", ")
	}
	return text
}

// serverAddresses is how many of the server's flows went to.
func serverAddresses(m *record.Measure) (n int) {
	for _, a := range m.Addresses {
		if a.Host == record.NodeServer {
			n++
		}
	}
	return n
}

func measureCPU(m *record.Measure) string {
	var words []string
	for _, e := range m.Ends {
		cost := significant(e.CPUSPerGigabyte, 2) + " s"
		if m.Transactions != nil {
			cost = significant(e.CPUUsPerTransaction, 2) + " µs"
		}
		words = append(words, fmt.Sprintf("%s %s (all of its %s %s %% busy)", e.Host, cost, Count(e.CPUs, "CPU"), significant(100*e.CPUBusy, 2)))
	}
	of, cost := "s per gigabyte", m.CPUSPerGigabyte
	if m.Transactions != nil {
		of, cost = "µs per transaction", m.CPUUsPerTransaction
	}
	return fmt.Sprintf("%s %s, both ends together: %s", significant(cost, 2), of, strings.Join(words, ", "))
}
