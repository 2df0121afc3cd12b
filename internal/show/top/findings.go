package top

import (
	"slices"
	"strings"
	"time"

	"linerate/internal/model/record"
	"linerate/internal/show/text"
	"linerate/internal/show/words"
)

// seen is a finding with the time since when, and until when, every sample had it.
type seen struct {
	record.Finding
	since, until time.Time
	ended        bool
}

// seenFindings returns the findings of the displayed sample, then those of earlier samples.
func (v view) seenFindings() (list []seen) {
	for i := v.at; i >= 0; i-- {
		s := v.host.Samples[i]
		for _, f := range s.Findings {
			at := slices.IndexFunc(list, func(o seen) bool { return o.ID == f.ID && o.Summary == f.Summary })
			switch {
			case at < 0:
				list = append(list, seen{f, s.Taken, s.Taken, i < v.at})
			case i+1 <= v.at && list[at].since.Equal(v.host.Samples[i+1].Taken):
				list[at].since = s.Taken
			}
		}
	}
	return list
}

// found returns a short list of findings: causes that are at least likely, and earlier ones.
func (v view) found() section {
	columns := []column{{head: "finding", width: 20, most: 26}, {head: "since", width: 8}, {head: "until", width: 8},
		{head: "", width: 20, most: 200}}
	var rows [][]cell
	possible := 0
	for _, f := range v.seenFindings() {
		switch {
		case f.ExplainedBy != "":
		case f.Confidence == record.Possible:
			if !f.ended {
				possible++
			}
		default:
			until, attribute := "now", tone(f.Confidence)
			if f.ended {
				until, attribute = v.clock(f.until), text.Dim
			}
			rows = append(rows, []cell{{f.ID, attribute}, c(v.clock(f.since)), {until, attribute}, {f.Summary, ""}})
		}
	}
	head, lines := v.grid(columns, rows)
	if len(rows) == 0 {
		head = ""
	}
	if possible > 0 {
		lines = append(lines, v.paint(text.Dim, fit(words.Count(possible, "possible cause")+": key 6", v.width)))
	}
	return section{head: head, lines: lines, least: 3}
}

// findings returns all findings with evidence and fix. Findings from counters before the first
// sample are only counted unless all is true, because they belong to no sample.
func (v view) findings(all bool) section {
	var lines []string
	before := 0
	add := func(attribute, head, rest, said string) {
		for line := range strings.Lines(text.Paragraph(head, rest, said, v.width)) {
			lines = append(lines, v.paint(attribute, strings.TrimRight(line, "\n")))
		}
	}
	for _, f := range v.seenFindings() {
		if f.Boot && !all {
			if !f.ended && f.ExplainedBy == "" {
				before++
			}
			continue
		}
		when := "since " + v.clock(f.since)
		switch {
		case f.Boot:
			when = "before the samples"
		case f.ended:
			when = v.clock(f.since) + " to " + v.clock(f.until)
		}
		attribute := tone(f.Confidence)
		if f.ended {
			attribute = text.Dim
		}
		add(attribute, "", "  ", f.ID+" ("+f.Confidence+", "+when+"): "+f.Summary)
		if f.ended {
			continue
		}
		if f.ExplainedBy != "" {
			add("", "  ", "  ", "follows from "+f.ExplainedBy)
			continue
		}
		for _, e := range f.Evidence {
			add("", "  ", "    ", e)
		}
		for _, fix := range f.Fix {
			add(text.Green, "  fix: ", "    ", fix)
		}
	}
	if len(lines) == 0 {
		lines = []string{"nothing in the samples so far"}
	}
	if before > 0 {
		how := "key 6"
		if v.height <= 0 {
			how = "linerate doctor"
		}
		lines = append(lines, v.paint(text.Dim, fit(words.Count(before, "possible cause")+
			" by what was counted before: "+how, v.width)))
	}
	return section{head: v.paint(text.Dim, "findings"), lines: lines, least: 3}
}
