package present

import (
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/show/chart"
	"linerate/internal/show/document"
	"linerate/internal/show/evidence"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// meshReport fills in the summary and the sections of a mesh.
func meshReport(r *document.Report, run *record.Run) {
	m := view.NewMesh(wording.Run(run))
	suspects, hosts, lost := evidence.MeshSuspects(m), evidence.MeshHosts(m), evidence.MeshLost(m)
	for _, t := range []*document.Table{suspects, hosts, lost} {
		if t != nil {
			r.Summary = append(r.Summary, []document.Block{t})
		}
	}
	section := func(id, title string, blocks ...document.Block) {
		if len(blocks) > 0 {
			r.Sections = append(r.Sections, document.Section{ID: id, Title: title, Blocks: blocks})
		}
	}
	section("suspects", "What differs from the others", append(document.Tables(suspects), meshFindings(m)...)...)
	for _, f := range chart.MeshFigures(m) {
		section(f.Name, "", document.Figure{Figure: f})
	}
	section("lost", "Hosts that were not measured until the end", document.Tables(lost)...)
	section("each", "Every host", document.Tables(hosts)...)
	if pairs := evidence.MeshPairs(m); pairs != nil {
		section("pairs", "", document.Fold{Summary: "Every pair, the worst first", Blocks: document.Tables(pairs)})
	}
	v := view.New(run)
	trust := evidence.Trust(run)
	if len(trust.Blocks) > 0 && evidence.InDoubt(run) == "" {
		trust.Blocks = []document.Block{document.Fold{Summary: "Every check", Blocks: trust.Blocks}}
	}
	r.Sections = append(r.Sections, trust)
	section("environment", "Environment", environment(v)...)
	section("again", "Make this run again", rerun(run)...)
}

// meshFindings returns the findings of the hosts of suspects.
func meshFindings(m *view.Mesh) (list []document.Block) {
	if m.Run.Mesh.Conclusion == nil {
		return nil
	}
	for _, s := range m.Run.Mesh.Conclusion.Suspects {
		for _, f := range s.Findings {
			list = append(list, document.Finding{Finding: f})
		}
	}
	return list
}

// meshSize says how much of a plan a mesh has measured: "triage of 500 hosts, 10 rounds".
func meshSize(run *record.Run) string {
	p := run.Mesh.Plan
	size := fmt.Sprintf("%s of %s", p.Pattern, words.Count(len(p.Hosts), "host"))
	planned := len(p.Rounds) + len(run.Mesh.Again)
	if done := len(run.Trials); done < planned {
		return size + fmt.Sprintf(", %d of %s", done, words.Count(planned, "round"))
	}
	if p.Share > 0 {
		size += ", " + number.Percent(p.Share) + " of each interface"
	}
	return size + ", " + words.Count(planned, "round")
}
