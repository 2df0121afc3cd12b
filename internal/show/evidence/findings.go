package evidence

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// Limits of what a summary shows of a finding; the page shows everything.
const (
	mostEvidence = 2
	mostFix      = 6
)

// findings lists the run's findings in full. Those that the baseline does not have are folded.
func findings(v *view.View) (list []document.Block) {
	var others []document.Block
	var names []string
	for _, f := range v.Run.Findings {
		block := document.Finding{Finding: f, Where: treatmentsOf(v, f)}
		if concernsBaseline(v, f) {
			list = append(list, block)
		} else {
			others, names = append(others, block), words.Distinct(names, f.ID)
		}
	}
	if len(list) == 0 || len(others) == 0 {
		return append(list, others...)
	}
	return append(list, document.Fold{Summary: words.Count(len(others), "finding") + " in other treatments only: " +
		words.List(names), Blocks: others})
}

// FindingStatements returns the findings in short, those of the baseline first. Findings of the
// baseline, or of a host's own snapshot, have evidence and fix. Findings that only another
// treatment caused have them if they are a likely cause that was not explained before.
func FindingStatements(v *view.View) (list []document.Block) {
	explained := map[string]bool{}
	ordered := slices.Clone(v.Run.Findings)
	slices.SortStableFunc(ordered, func(a, b record.Finding) int {
		return words.FalseFirst(!concernsBaseline(v, a), !concernsBaseline(v, b))
	})
	for i, f := range ordered {
		var evidence, fix []string
		if concernsBaseline(v, f) || f.Confidence != record.Possible && !explained[f.ID] {
			explained[f.ID] = true
			evidence, fix = some(f.Evidence, mostEvidence), some(f.Fix, mostFix)
		}
		s := findingStatement(f, i == 0, evidence, fix)
		if where := treatmentsOf(v, f); where != "" {
			s.Items = append(s.Items, document.Item{Mark: "in:", Text: where, Tone: document.Quiet})
		}
		list = append(list, s)
	}
	return list
}

// findingStatement returns the statement of a finding with the given evidence and fix. The first
// one has the label.
func findingStatement(f record.Finding, first bool, evidence, fix []string) document.Statement {
	s := document.Statement{Text: f.ID + " (" + f.Confidence + ", " + f.Host + "): " + f.Summary}
	if first {
		s.Label = "Findings"
	}
	for _, e := range evidence {
		s.Items = append(s.Items, document.Item{Mark: "·", Text: e})
	}
	for n, line := range words.ByHost(fix) {
		mark := "    "
		if n == 0 {
			mark = "fix:"
		}
		command := strings.TrimLeft(line, " ")
		s.Items = append(s.Items, document.Item{Mark: mark + line[:len(line)-len(command)], Text: command,
			Command: true})
	}
	return s
}

// MeasuredFindings returns the findings of a measurement.
func MeasuredFindings(m *export.Measurement) (list []document.Block) {
	for i, f := range m.Findings {
		list = append(list, findingStatement(f, i == 0, f.Evidence, f.Fix))
	}
	return list
}

// Findings returns the section with all findings. Without any it has no blocks.
func Findings(v *view.View) document.Section {
	s := document.Section{ID: "findings", Title: "No findings", Blocks: findings(v)}
	if n := len(v.Run.Findings); n > 0 {
		s.Title = words.Count(n, "finding")
	}
	return s
}

// some returns the first elements of a list, followed by the number of the others.
func some(list []string, most int) []string {
	if len(list) <= most+1 { // one more element is as long as saying so
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("%d more on the page", len(list)-most))
}

func concernsBaseline(v *view.View, f record.Finding) bool {
	if len(f.Treatments) == 0 || v.Baseline == nil {
		return true
	}
	return slices.ContainsFunc(v.Baseline.Treatments, func(t *record.Treatment) bool {
		return t != nil && slices.Contains(f.Treatments, t.Name)
	})
}

// treatmentsOf names the rows of the treatments in which a finding was made.
func treatmentsOf(v *view.View, f record.Finding) string {
	var names []string
	for i := range v.Rows {
		r := &v.Rows[i]
		var at []string
		for c, t := range r.Treatments {
			if t != nil && slices.Contains(f.Treatments, t.Name) {
				at = append(at, v.Columns[c].Name)
			}
		}
		switch {
		case len(at) == 0:
		case len(at) == len(r.Treatments):
			names = append(names, r.Name)
		default:
			names = append(names, r.Name+" ("+strings.Join(at, ", ")+")")
		}
	}
	return strings.Join(names, "; ")
}

// HostFindings returns the findings on hosts: causes with evidence and fix, each with the findings
// that follow from it, which are in full if all is true. A finding that is the same on several
// hosts is listed once.
func HostFindings(findings []record.Finding, all bool) (list []document.Block) {
	for _, group := range record.Alike(findings) {
		f := group[0]
		if f.ExplainedBy != "" && !all {
			continue
		}
		if len(group) > 1 {
			f = together(group, all)
		}
		s := findingStatement(f, len(list) == 0, f.Evidence, f.Fix)
		var follow []string
		for _, other := range findings {
			if slices.ContainsFunc(group, other.Follows) {
				follow = words.Distinct(follow, other.ID)
			}
		}
		if len(follow) > 0 {
			s.Items = append(s.Items, document.Item{Mark: "explains:", Text: words.List(follow), Tone: document.Quiet})
		}
		if f.ExplainedBy != "" {
			s.Items = append(s.Items, document.Item{Mark: "follows from:", Text: f.ExplainedBy, Tone: document.Quiet})
		}
		list = append(list, s)
	}
	return list
}

// mostAlike is the number of hosts whose evidence and fix are shown for a common finding, unless
// all are.
const mostAlike = 3

// together combines a finding that is the same on several hosts: its evidence by host, and its fix
// only once if it is the same.
func together(group []record.Finding, all bool) record.Finding {
	f := group[0]
	f.Evidence, f.Fix = nil, nil
	var hosts, fix []string
	same := true
	for n, g := range group {
		hosts = append(hosts, g.Host)
		if !all && n >= mostAlike {
			continue
		}
		for _, line := range g.Evidence {
			if !strings.HasPrefix(line, g.Host+": ") {
				line = g.Host + ": " + line
			}
			f.Evidence = append(f.Evidence, line)
		}
		own := lists.Map(g.Fix, func(line string) string { return strings.TrimPrefix(line, "on "+g.Host+": ") })
		same = same && (n == 0 || slices.Equal(own, fix))
		fix, f.Fix = own, append(f.Fix, g.Fix...)
	}
	f.Host = words.List(hosts)
	if left := len(group) - mostAlike; !all && left > 0 {
		f.Evidence = append(f.Evidence, words.Count(left, "further host")+": --all")
	}
	if same {
		f.Fix = nil
		f.Fix = append(f.Fix, lists.Map(fix, func(line string) string { return "on each: " + line })...)
	}
	return f
}

// AcceptedFindings returns the findings that the user accepts, with the reason and without fix.
func AcceptedFindings(accepted []record.AcceptedFinding) (list []document.Block) {
	for i, f := range accepted {
		s := findingStatement(f.Finding, false, f.Evidence, nil)
		if i == 0 {
			s.Label = "Accepted"
		}
		s.Items = append(s.Items, document.Item{Mark: "·", Text: "accepted until " + f.Until + ": " + f.Because,
			Tone: document.Quiet})
		list = append(list, s)
	}
	return list
}
