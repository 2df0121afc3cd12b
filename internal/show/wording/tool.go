package wording

import (
	"fmt"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

var _ = later(func() {
	say(cause.ToolSurplus, words[cause.Report]{
		summary: func(_ record.Finding, a cause.Report) string {
			return fmt.Sprintf("%s reports %s, its receivers read %s", a.Tool, unit.FormatRate(a.SumBps),
				unit.FormatRate(a.GoodputBps))
		},
		fix: []string{
			"use what the receivers count in a common window: linerate's goodput, or the figure of the tool's server",
			"measure longer: the bytes left in the buffers are then a smaller part of the result"},
		read:     "tcp(7), write(2)",
		anywhere: true,
		found:    "Another program reports more than 5 % above the bytes that its receivers read. Needs a run.",
	})

	spell(func(_ string, r fact.Reported) string { return r.Method + ": " + unit.FormatRate(r.Bps) })
	spell(func(_ string, r fact.ReadRate) string {
		return "read by the receivers of the same connections, in one window for all: " + unit.FormatRate(r.Bps)
	})
	spell(func(_ string, l fact.PathLimit) string {
		return "the most that its path can carry: " + unit.FormatRate(l.Bps)
	})
	spell(func(_ string, u fact.Unsent) string {
		return fmt.Sprintf("%d bytes were still in the send buffers at the window's end: over the time of writing "+
			"they are %s",
			u.Bytes, unit.FormatRate(u.Bps))
	})
	spell(func(_ string, e fact.ExpectedSurplus) string {
		return fmt.Sprintf(
			"by the kernel's count of each connection's bytes and the tool's own time, its report should be %s too "+
				"high; it is %s too high",
			unit.FormatRate(e.Bps), unit.FormatRate(e.SurplusBps))
	})
	spell(func(_ string, c fact.ClientsEnded) string {
		return fmt.Sprintf(
			"its %d clients ended between %s and %s after the trial's start: averages over different times do not "+
				"add up to a rate",
			c.Clients, unit.FormatSeconds(c.FirstS), unit.FormatSeconds(c.LastS))
	})
})
