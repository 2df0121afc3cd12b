package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/diagnose/rule"
	"linerate/internal/show/document"
	"linerate/internal/show/evidence"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// mostDrops is the number of rows in the table of drops, unless all are shown.
const mostDrops = 12

// Doctor shows the findings on hosts: causes with their consequences, then packets that were not
// delivered, and what could not be evaluated.
func Doctor(e record.Evaluation, all bool) document.Document {
	over := "counters since boot"
	if e.OverS > 0 {
		over = "counters over " + unit.FormatSeconds(e.OverS)
	}
	d := document.Document{
		About: []string{strings.Join(append([]string{"doctor"}, words.List(e.Hosts), over, dropSources(e.DropsBy),
			words.Count(len(e.Evaluated), "rule")), " · ")},
		Answer: e.Answer,
	}
	if blocks := evidence.HostFindings(e.Findings, all); len(blocks) > 0 {
		d.Summary = append(d.Summary, blocks)
	}
	if blocks := evidence.AcceptedFindings(e.Accepted); len(blocks) > 0 {
		d.Summary = append(d.Summary, blocks)
	}
	for _, p := range e.Probes {
		d.Summary = append(d.Summary, []document.Block{probed(p)})
	}
	if t := dropTable(e, all); t != nil {
		d.Summary = append(d.Summary, []document.Block{t})
	}
	if blocks := unevaluated(e, all); len(blocks) > 0 {
		d.Summary = append(d.Summary, blocks)
	}
	if e.Lines > 0 {
		d.Summary = append(d.Summary, textsRead(e))
	}
	if len(e.NotUnderstood) > 0 {
		lines := e.NotUnderstood
		if more := e.Lost - len(lines); more > 0 {
			lines = append(lines[:len(lines):len(lines)], words.Count(more, "further line"))
		}
		d.Summary = append(d.Summary, document.Statements("Not read", lines...))
	}
	return d
}

// dropTable returns the table of drops between the readings: by the kernel's reasons, and by
// counters for what has no reason. If all is true, it also has drops since boot, and counters of
// the same packets.
func dropTable(e record.Evaluation, all bool) *document.Table {
	t := &document.Table{Columns: []document.Column{{Head: "packets dropped", Wrap: true},
		{Head: "packets", Align: document.Right}, {Head: "over"}, {Head: "harmful?"}, {Head: "why", Wrap: true}}}
	left := 0
	for _, d := range e.Drops {
		over := "boot"
		if !d.Boot {
			over = unit.FormatSeconds(e.OverS)
		}
		if !all && (len(t.Rows) >= mostDrops || d.Again || d.Boot && e.OverS > 0 && d.Verdict != record.Harmful) {
			left++
			continue
		}
		where, why := d.Where+" "+d.Counter, d.Why
		if d.By == record.ByTracepoint {
			where = strings.Join(strings.Fields(strings.Join([]string{d.Where, d.Direction, d.Counter, d.Protocol},
				" ")), " ")
			if d.Place != "" {
				why += " (" + d.Place + ")"
			}
		}
		if len(e.Hosts) > 1 {
			where = d.Host + ": " + where
		}
		t.Add(where, unit.FormatCount(d.Packets), over, d.Verdict, why)
	}
	if left > 0 {
		t.Notes = append(t.Notes, words.Count(left, "further row")+": --all")
	}
	for _, by := range e.DropsBy {
		if by.Lost > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: up to %s are in no row, for want of room", by.Host,
				words.Count(int(by.Lost), "further drop")))
		}
	}
	return t.OrNil()
}

// dropSources says how the drops of the hosts were counted.
func dropSources(list []record.DropSource) string {
	hosts := map[string][]string{}
	for _, s := range list {
		hosts[s.By] = append(hosts[s.By], s.Host)
	}
	traced, counted := hosts[record.ByTracepoint], hosts[record.ByCounters]
	switch {
	case len(traced) == 0:
		return "drops by " + record.ByCounters
	case len(counted) == 0:
		return "drops by " + record.ByTracepoint
	}
	return fmt.Sprintf("drops by %s (%s) and counters (%s)", record.ByTracepoint, words.List(traced),
		words.List(counted))
}

// unevaluated says which rules could not be evaluated, one line for each reason, with the hosts
// that it applies to unless these are all.
func unevaluated(e record.Evaluation, all bool) (list []document.Block) {
	var reasons, pasted, systems, foreign []string
	rules, hosts, lacking := map[string][]string{}, map[string][]string{}, map[string][]string{}
	for _, u := range e.Unevaluated {
		if u.Foreign {
			if name := opsystem.Name(u.System); !slices.Contains(e.Evaluated, u.Rule) {
				foreign, rules[name] = words.Distinct(foreign, name), words.Distinct(rules[name], u.Rule)
			}
			continue
		}
		if u.NotPasted {
			if !slices.Contains(e.Evaluated, u.Rule) || u.Interfaces != "" {
				systems = words.Distinct(systems, u.System)
				lacking[u.System] = words.Distinct(lacking[u.System], u.Part)
			}
			if evaluated := slices.Contains(e.Evaluated, u.Rule); !evaluated {
				rules[""], pasted = words.Distinct(rules[""], u.Rule), words.Distinct(pasted, u.Part)
			} else if u.Interfaces != "" {
				pasted = words.Distinct(pasted, u.Part)
			}
			continue
		}
		reasons = words.Distinct(reasons, u.Why)
		rules[u.Why], hosts[u.Why] = words.Distinct(rules[u.Why], u.Rule), words.Distinct(hosts[u.Why], u.Host)
	}
	var texts []string
	for _, why := range reasons {
		text := words.Count(len(rules[why]), "rule") + " (" + why
		if len(hosts[why]) < len(e.Hosts) {
			text += "; on " + words.List(hosts[why])
		}
		texts = append(texts, text+")")
	}
	if n := len(rules[""]); n > 0 {
		texts = append(texts, fmt.Sprintf("%s, for which the text does not have: %s", words.Count(n, "rule"),
			words.List(wording.LackingNames(pasted, e.Judged))))
	}
	for _, name := range foreign {
		texts = append(texts, fmt.Sprintf("%s, which need what %s does not provide",
			words.Count(len(rules[name]), "rule"), name))
	}
	list = document.Statements("Unjudged", texts...)
	var commands []string
	for _, system := range systems {
		for _, command := range wording.PartCommands(system, lacking[system]) {
			commands = words.Distinct(commands, command)
		}
	}
	if len(commands) > 0 {
		if more := len(commands) - mostCommands; more > 0 && !all {
			commands = append(commands[:mostCommands:mostCommands], words.Count(more, "further command")+": --all")
		}
		list = append(list, document.Statements("Add", append([]string{"what these print:"}, commands...)...)...)
	}
	return list
}

// mostCommands is the number of commands that are named for what was not judged, unless all are.
const mostCommands = 8

// textsRead says of how many lines of the texts use was made, and which formats they have.
func textsRead(e record.Evaluation) []document.Block {
	var formats []string
	for _, f := range e.Texts {
		formats = append(formats, fmt.Sprintf("%s (%d)", f.Format, f.Used+f.Idle))
	}
	read := fmt.Sprintf("%s: %d used, %d without meaning for any rule, %d not read", words.Count(e.Lines, "line"),
		e.Lines-e.Idle-e.Lost, e.Idle, e.Lost)
	if len(formats) > 0 {
		read += "; " + words.List(formats)
	}
	texts := []string{read}
	for _, s := range e.Sources {
		text := s.File + ": " + s.Kind
		if s.Partly != "" {
			text += ", not to its end: " + s.Partly
		}
		texts = append(texts, text)
	}
	if len(e.Untimed) > 0 {
		texts = append(texts, words.List(e.Untimed)+": several times, without the time in between; with --over TIME "+
			"its growth is judged")
	}
	return document.Statements("Read", texts...)
}

// Accepted lists the findings that are accepted on a day (time.DateOnly), with their end.
func Accepted(rules record.AcceptedRules, day string) document.Document {
	t := &document.Table{Columns: []document.Column{{Head: "rule"}, {Head: "on"}, {Head: "accepted until"},
		{Head: "because", Wrap: true}}}
	for _, a := range rules.Accepted {
		until := a.Until
		if a.Ended(day) {
			until += " (passed)"
		}
		t.Add(a.Rule, cmp.Or(a.Host, "every host"), until, a.Because)
	}
	if len(t.Rows) == 0 {
		return document.Document{Answer: "No findings are accepted."}
	}
	return document.Document{Summary: [][]document.Block{{t}}}
}

// Rules lists the rules of diagnosis.
func Rules(rules []rule.Description) document.Document {
	t := &document.Table{Columns: []document.Column{{Head: "rule"}, {Head: "found when", Wrap: true}}}
	for _, r := range rules {
		t.Add(r.ID, r.About)
	}
	return document.Document{About: []string{words.Count(len(t.Rows), "rule")}, Summary: [][]document.Block{{t}}}
}

// Rule explains a rule.
func Rule(r rule.Description) document.Document {
	d := document.Document{Answer: r.About}
	var list []document.Block
	if r.Trial {
		list = append(list, document.Statement{Label: "Found in",
			Text: "measurements and runs as well; docs/findings.md describes mechanism and remedy"})
	}
	if r.Growth {
		list = append(list, document.Statement{Label: "Counters",
			Text: "What grew between the two readings counts; what grew before, since the boot, is possible at most."})
	}
	if len(r.Parts) > 0 {
		list = append(list, document.Statement{Label: "Needs", Text: strings.Join(r.Parts, ", ") + " of the snapshot"})
	}
	var follow []string
	if len(r.Explains) > 0 {
		follow = append(follow, words.List(r.Explains)+", on the same host")
	}
	if len(r.AtPeers) > 0 {
		follow = append(follow, words.List(r.AtPeers)+", on hosts whose connections lead to this one")
	}
	if len(follow) > 0 {
		list = append(list, document.Statement{Label: "Explains", Text: strings.Join(follow, "; ")})
	}
	if len(list) > 0 {
		d.Summary = [][]document.Block{list}
	}
	return d
}
