package present

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/diagnose"
	"linerate/internal/show/document"
	"linerate/internal/show/evidence"
	"linerate/internal/show/words"
)

// mostDrops is how many rows of the table of drops are shown unless all are.
const mostDrops = 12

// Doctor shows what was found on hosts: causes with what follows from them, then the packets
// that were not delivered, and what could not be evaluated.
func Doctor(e record.Evaluation, all bool) document.Document {
	over := "counters since boot"
	if e.OverS > 0 {
		over = fmt.Sprintf("counters over %.3g s", e.OverS)
	}
	d := document.Document{
		About:  []string{strings.Join(append([]string{"doctor"}, words.List(e.Hosts), over, words.Count(len(e.Evaluated), "rule")), " · ")},
		Answer: e.Answer,
	}
	if blocks := evidence.HostFindings(e.Findings, all); len(blocks) > 0 {
		d.Summary = append(d.Summary, blocks)
	}
	if t := dropTable(e, all); t != nil {
		d.Summary = append(d.Summary, []document.Block{t})
	}
	if blocks := unevaluated(e); len(blocks) > 0 {
		d.Summary = append(d.Summary, blocks)
	}
	return d
}

// dropTable is the table of drops: what grew between the readings and, if all is set, since
// the boot, too.
func dropTable(e record.Evaluation, all bool) *document.Table {
	t := &document.Table{Columns: []document.Column{{Head: "packets dropped", Wrap: true}, {Head: "packets", Align: document.Right}, {Head: "over"}, {Head: "harmful?"}, {Head: "why", Wrap: true}}}
	left := 0
	for _, d := range e.Drops {
		over := "boot"
		if !d.Boot {
			over = fmt.Sprintf("%.3g s", e.OverS)
		}
		if !all && (len(t.Rows) >= mostDrops || d.Boot && e.OverS > 0 && d.Verdict != "harmful") {
			left++
			continue
		}
		where := d.Where + " " + d.Counter
		if len(e.Hosts) > 1 {
			where = d.Host + ": " + where
		}
		t.Add(where, unit.FormatCount(d.Packets), over, d.Verdict, d.Why)
	}
	if left > 0 {
		t.Notes = []string{words.Count(left, "further counter") + ": --all"}
	}
	return t.OrNil()
}

// unevaluated says which rules could not be evaluated, one line for each reason.
func unevaluated(e record.Evaluation) (list []document.Block) {
	var reasons []string
	rules := map[string][]string{}
	for _, u := range e.Unevaluated {
		why := u.Why
		if len(e.Hosts) > 1 {
			why = u.Host + ": " + why
		}
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
		rules[why] = append(rules[why], u.Rule)
	}
	label := "Not evaluated"
	for _, why := range reasons {
		list = append(list, document.Statement{Label: label, Text: fmt.Sprintf("%s (%s)", words.Count(len(rules[why]), "rule"), why)})
		label = ""
	}
	return list
}

// Rules lists the rules of diagnosis.
func Rules(rules []diagnose.Rule) document.Document {
	t := &document.Table{Columns: []document.Column{{Head: "rule"}, {Head: "found when", Wrap: true}}}
	for _, r := range rules {
		t.Add(r.ID, r.About)
	}
	return document.Document{About: []string{words.Count(len(t.Rows), "rule")}, Summary: [][]document.Block{{t}}}
}

// Rule explains one.
func Rule(r diagnose.Rule) document.Document {
	d := document.Document{Answer: r.About}
	var list []document.Block
	if r.Trial {
		list = append(list, document.Statement{Label: "Found in", Text: "measurements and runs as well; docs/findings.md describes mechanism and remedy"})
	}
	if r.Growth {
		list = append(list, document.Statement{Label: "Counters", Text: "What grew between the two readings counts; what grew before, since the boot, is possible at most."})
	}
	if len(r.Parts) > 0 {
		list = append(list, document.Statement{Label: "Needs", Text: strings.Join(r.Parts, ", ") + " of the snapshot"})
	}
	if len(r.Explains) > 0 {
		list = append(list, document.Statement{Label: "Explains", Text: words.List(r.Explains) + ", on the same host"})
	}
	if len(list) > 0 {
		d.Summary = [][]document.Block{list}
	}
	return d
}
