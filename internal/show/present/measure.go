package present

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/evidence"
	"linerate/internal/show/export"
	"linerate/internal/show/words"
)

// Measure arranges a measurement for display.
func Measure(m *export.Measurement) document.Document {
	out := document.Document{Title: measureTitle(m)}
	for _, one := range m.EachMode() {
		parts := measured(one)
		if len(m.Modes) > 0 {
			parts[0] = append([]document.Block{document.Heading{Text: "mode " + one.Mode}}, parts[0]...)
		}
		out.Summary = append(out.Summary, parts...)
	}
	if m.Expect != nil {
		last := &out.Summary[len(out.Summary)-1]
		*last = append(*last, expected(m.Expect))
	}
	if m.Run != "" {
		run := m.Run
		if m.Name != "" {
			run += " “" + m.Name + "”"
		}
		last := &out.Summary[len(out.Summary)-1]
		*last = append(*last, document.Statement{Label: "Run", Text: run + " (linerate report " + m.Run + ")",
			Tone: document.Quiet})
		if m.Page != "" {
			*last = append(*last, document.Statement{Label: "Page", Text: m.Page, Tone: document.Quiet})
		}
	}
	return out
}

// expected says whether the measurement met --expect.
func expected(e *record.Expectation) document.Statement {
	if e.Met {
		return document.Statement{Label: "Expected", Text: e.Gate + ": met", Tone: document.Good}
	}
	text, tone := e.Gate+": not met", document.Wrong
	missed := func(c record.Condition) bool { return !c.Met && c.Unknown == "" }
	if len(e.Conditions) > 0 && !slices.ContainsFunc(e.Conditions, missed) {
		text, tone = e.Gate+": neither met nor missed", document.Plain
	}
	var parts []string
	for _, c := range e.Conditions {
		switch {
		case c.Unknown != "":
			parts = append(parts, c.Unknown)
		case !c.Met && len(e.Conditions) > 1:
			parts = append(parts, c.Condition+", got "+c.Got)
		}
	}
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, "; ") + ")"
	}
	return document.Statement{Label: "Expected", Text: text, Tone: tone}
}

// measured returns one trial's figures with remarks. If the peer is another program: what was
// counted here, how, what the peer reports, and what is unknown.
func measured(m *export.Measurement) (parts [][]document.Block) {
	var rows [][]string
	if m.PlannedS > 0 {
		parts = append(parts, []document.Block{document.Statement{Text: endedAfter(m.Ended, m.DurationS, m.PlannedS),
			Tone: document.Wrong}})
	}
	if m.NothingArrived() {
		parts = append(parts, []document.Block{
			document.Statement{Text: "Nothing arrived in the window, although the connections were opened.",
				Tone: document.Wrong}})
	}
	if n, of := m.Silent(); n > 0 && !m.NothingArrived() {
		parts = append(parts, []document.Block{
			document.Statement{Text: fmt.Sprintf("%d of %d flows carried nothing in the window.", n, of),
				Tone: document.Wrong}})
	}
	if m.LossFree != nil {
		rows = evidence.LossFreeRows(m.LossFree)
	}
	if m.FindMax != nil {
		rows = evidence.FindMaxRows(m.FindMax)
	}
	for _, d := range m.Directions {
		rows = append(rows, measuredRows(m, d)...)
	}
	parts = append(parts, []document.Block{document.FigureList(rows)})
	if m.Latency != nil {
		parts = append(parts, []document.Block{measuredLatency(m, m.Latency)})
	}
	if len(m.Addresses) > 0 {
		parts = append(parts, measuredAddresses(m), countedByInterfaces(m))
	}
	parts = append(parts, measuredFlows(m)...)
	last := append(movedBy(m), document.Statements("Wait", measuredWait(m)...)...)
	last = append(last, document.Statements("CPU", measureCPU(m))...)
	for _, e := range m.Ends {
		if e.Others != nil {
			who := words.Count(e.Others.Clients, "other client")
			if e.Others.Clients == 0 {
				who = "other clients, which left before its end"
			}
			last = append(last, document.Statement{
				Text: fmt.Sprintf("the CPU time of the %s in the window includes %s moved for %s",
					e.Host, unit.FormatBytes(float64(e.Others.ReceivedBytes+e.Others.WrittenBytes)), who)})
		}
	}
	return append(parts, slices.Concat(last, measureTrust(m), evidence.MeasuredFindings(m),
		document.Statements("Unknown", m.Unknown...)))
}

// endedAfter says how to interpret a measurement that ended early, for the reason why; empty: it
// was interrupted.
func endedAfter(why string, windowS, plannedS float64) string {
	what := "Interrupted"
	if why != "" {
		what = "Ended early: " + why
	}
	return fmt.Sprintf("%s after %s of %s: one value, no confidence interval", what, unit.FormatSeconds(windowS),
		unit.FormatSeconds(plannedS))
}

func measureTitle(m *export.Measurement) string {
	n := lists.Sum(m.Directions, func(d export.Direction) int { return d.Flows })
	at, with, others := m.Address, "", -1 // other addresses of the server
	others += lists.Count(m.Addresses, func(a export.EndAddress) bool { return a.Host == record.NodeServer })
	if others > 0 {
		at += fmt.Sprintf(" and %d more", others)
	}
	if m.Peer != "" {
		with = " · " + m.Peer
	}
	warmup := "without warm-up"
	if m.WarmupS > 0 {
		warmup = "after " + unit.FormatSeconds(m.WarmupS) + " of warm-up"
	}
	text := fmt.Sprintf("measure %s%s · %s, %s · %s, %s", at, with, strings.ToUpper(m.Protocol), words.Count(n, "flow"),
		unit.FormatSeconds(m.DurationS), warmup)
	var controls []string
	for _, f := range m.Flows {
		if f.CongestionControl != "" {
			controls = words.Distinct(controls, f.CongestionControl)
		}
	}
	if len(controls) > 0 {
		text += " · " + strings.Join(controls, ", ")
	}
	return text
}
