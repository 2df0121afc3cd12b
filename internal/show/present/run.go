// Package present composes what is displayed of a run, a measurement, a comparison or a calculation
// (package document). It is built once from the result document. Packages text and html render it,
// and compute nothing themselves.
package present

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/science/bottleneck"
	"linerate/internal/science/conclude"
	"linerate/internal/science/stats"
	"linerate/internal/show/answer"
	"linerate/internal/show/chart"
	"linerate/internal/show/document"
	"linerate/internal/show/evidence"
	"linerate/internal/show/export"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// Report arranges a run for display.
func Report(run *record.Run) *document.Report {
	v := view.New(run)
	a := answer.Run(run)
	r := &document.Report{Document: document.Document{About: []string{facts(run)}, Answer: a.Headline,
		Statements: a.Statements, Warnings: warnings(v)},
		ID: run.ID, Study: run.Study, Version: run.Environment.Version, Question: run.Question,
		Started: number.Moment(run.Started), Again: run.Again}
	for _, note := range run.Notes {
		r.Notes = append(r.Notes, document.Note{When: number.Moment(note.Time), Text: note.Text})
	}
	if len(run.Trust) > 0 && evidence.InDoubt(run) == "" {
		r.Trusted = evidence.Trusted(run)
	}
	if run.Environment.ImpairedBy != "" {
		r.MadeIn = run.Environment.Mode
	}
	if run.Mesh != nil {
		r.Warnings = a.Caveats // each of its pairs has trust checks of its own
		meshReport(r, run)
		return r
	}
	t := tablesOf(v)
	r.Summary, r.Sections = summaryOf(v, t), sectionsOf(v, t)
	return r
}

// Figures lists the figures for which the run has data.
func Figures(run *record.Run) []figure.Figure {
	if run.Mesh != nil {
		return chart.MeshFigures(view.NewMesh(run))
	}
	return chart.Figures(view.New(run))
}

// runTables has the tables that both summary and page show. Nil: there is none.
type runTables struct {
	treatments, reported, hashed, limited, outages *document.Table
	settings                                       []*document.Table // of lists that the run takes apart
}

func tablesOf(v *view.View) runTables {
	return runTables{evidence.Treatments(v.Whole()), evidence.ToolReports(v), evidence.Hashed(v), evidence.Limited(v),
		evidence.Outages(v), takenApart(v.Run)}
}

// summaryOf returns what a terminal shows, beginning with the evidence for the answer.
func summaryOf(v *view.View, t runTables) (out [][]document.Block) {
	add := func(blocks ...document.Block) {
		if len(blocks) > 0 {
			out = append(out, blocks)
		}
	}
	table := func(t *document.Table) { add(document.Tables(t)...) }
	along := v.AlongCurve()
	add(evidence.FixSummary(v.Run)...)
	table(t.outages)
	if m := pairsOf(v.Run); m != nil {
		for _, of := range []*document.Table{evidence.MeshSuspects(m), evidence.MeshHosts(m), evidence.MeshPairs(m)} {
			if of != nil {
				table(of)
			}
		}
	} else if !along { // otherwise the table of hashed flows is sufficient
		if len(v.Rows) > 0 {
			table(t.treatments)
			table(evidence.Strips(v.Whole()))
		}
		for _, s := range t.settings {
			table(s)
		}
		add(evidence.PartEffects(v)...)
		add(slices.Concat(evidence.Detects(v.Run), evidence.Missed(v.Run))...)
	}
	add(latencies(v.Run)...)
	add(document.Statements("Published", evidence.Published(v)...)...)
	table(evidence.Attacks(v))
	table(evidence.Applications(v))
	table(t.reported)
	if !along {
		table(evidence.Shares(v.Whole()))
	}
	if rows := v.Pair(); len(rows) > 0 {
		table(evidence.SwitchPorts(v, rows))
	}
	if t.hashed != nil {
		add(t.hashed)
		add(document.Statements("On each", evidence.OnEachLink(v, t.hashed.Columns[0].Head == "treatment")...)...)
	}
	if flows := keptFlows(v.Run); len(flows) > 0 {
		out = append(out, flows...)
	} else {
		add(evidence.LimitedSummary(v, t.limited)...)
		add(document.Statements("Next", next(v.Run)...)...)
	}
	add(document.Statements("Loss", evidence.SearchReasons(v.Run)...)...)
	add(document.Statements("Machine", evidence.BusiestMachines(v)...)...)
	add(evidence.RouteStatements(v)...)
	add(evidence.Services(v.Run)...)
	add(evidence.OutlierStatement(v)...)
	add(evidence.TrustStatement(v.Run)...)
	add(evidence.FindingStatements(v)...)
	return out
}

// pairsOf returns the pairs of a run of a study that compares hosts by them. Nil: another run.
func pairsOf(run *record.Run) *view.Mesh {
	if run.Conclusion == nil || run.Conclusion.Pairs == nil {
		return nil
	}
	return view.NewMesh(run)
}

// next returns what to do about what held the flows of a run of one treatment back. Empty: they filled their links,
// or no cause is known; of several treatments the effects say what to do.
func next(run *record.Run) []string {
	if len(run.Treatments) != 1 || len(run.Trials) == 0 {
		return nil
	}
	t := run.Trials[0]
	t.Flows = slices.DeleteFunc(slices.Clone(t.Flows), func(f record.Flow) bool {
		return f.LimitedBy == "" || f.LimitedBy == bottleneck.FullLink
	})
	return wording.NextOf(run, &t)
}

// sectionsOf returns the sections of the page from top to bottom.
func sectionsOf(v *view.View, t runTables) (out []document.Section) {
	figures := map[string]document.Figure{}
	var responses []document.Block
	for _, f := range chart.Figures(v) {
		if figures[f.Name] = (document.Figure{Figure: f}); slices.ContainsFunc(v.Measures, func(m *view.Measure) bool {
			return m.Name == f.Name
		}) {
			responses = append(responses, document.Figure{Figure: f})
		}
	}
	section := func(id, title string, parts ...[]document.Block) {
		s := document.Section{ID: id, Title: title}
		for _, p := range parts {
			s.Blocks = append(s.Blocks, p...)
		}
		if len(s.Blocks) > 0 {
			out = append(out, s)
		}
	}
	drawn := func(name string) []document.Block {
		if f, ok := figures[name]; ok {
			return []document.Block{f}
		}
		return nil
	}
	fold := func(id, summary string, blocks []document.Block) []document.Block {
		if len(blocks) == 0 {
			return nil
		}
		return []document.Block{document.Fold{ID: id, Summary: summary, Blocks: blocks}}
	}
	along := v.AlongCurve()
	curves := func() {
		section("flows", "", drawn("flows"), fold("", "Every case in figures", document.Tables(t.hashed)))
	}
	section("fix", "The fix", evidence.Fix(v.Run))
	if m := pairsOf(v.Run); m != nil {
		section("suspects", "What differs from the others", document.Tables(evidence.MeshSuspects(m)))
		section("matrix", "", drawn("matrix"))
		section("hosts", "Every host", drawn("hosts"), document.Tables(evidence.MeshHosts(m)))
		section("pairs", "", fold("", "Every pair, the worst first", document.Tables(evidence.MeshPairs(m))))
	}
	findings := evidence.Findings(v)
	if len(findings.Blocks) > 0 { // a reader who follows a link looks for the cause and its fix
		out, findings = append(out, findings), document.Section{}
	}
	title := ""
	if v.Single() {
		title, responses = "What was measured", nil
		if len(findings.Blocks) == 0 {
			findings = document.Section{}
		}
	}
	if along {
		curves()
		title, responses = "Goodput", nil // the curves show it
	}
	if len(v.Rows) > 0 {
		section("goodput", title, drawn("accounts"), responses, document.Tables(t.treatments),
			document.Statements("Published", evidence.Published(v)...), document.Tables(t.reported),
			fold("", "What each treatment sets", evidence.Settings(v)))
	}
	section("latency", "Latency without load and under it", latencies(v.Run))
	section("outliers", evidence.OutliersTitle(v), document.Tables(evidence.Outliers(v)))
	section("outages", "Events in the window, and what they did to running flows", document.Tables(t.outages))
	section("search", "How the highest rates without loss were found", evidence.Searches(v.Run))
	section("settings", "What each setting of the list does", document.Tables(t.settings...))
	effects, forest := document.Tables(evidence.Effects(v)), drawn("effects")
	if v.Run.Blocks() < stats.LeastBlocks { // no comparison has a verdict
		forest = nil
	}
	if len(forest) > 0 {
		section("effects", "", forest, evidence.Detects(v.Run), evidence.Missed(v.Run),
			fold("", "Every comparison", effects))
	} else {
		section("effects", "Effects", effects, evidence.Detects(v.Run), evidence.Missed(v.Run))
	}
	if !along {
		curves()
	}
	section("interfaces", "", drawn("interfaces"))
	if topology := drawn("topology"); len(topology) > 0 {
		var more []document.Block
		if f, ok := chart.OtherTopologies(v); ok {
			more = []document.Block{document.Figure{Figure: f}}
		}
		section("topology", "", topology, fold("", "Every other treatment", more))
	}
	section("fabric", "", drawn("paths"))
	section("switches", "What the ports of switches counted", document.Tables(evidence.SwitchPorts(v, everyRow(v))))
	section("series", "", drawn("series"))
	section("held", "", drawn("predicted"))
	section("attacks", "What the attackers sent", document.Tables(evidence.Attacks(v)))
	section("phases", "Where the time of transactions went", document.Tables(evidence.Applications(v)))
	section("paths", evidence.PathsTitle(v.Run), document.Tables(evidence.Paths(v)))
	out = append(out, evidence.Neighbours(v))
	held, limited := "What limited the flows", document.Tables(t.limited)
	if view.Predictions(v.HeldBack()) {
		held = "Predicted and measured goodput of each flow, and what limited it"
	} else if causes := evidence.LimitedSummary(v, t.limited); len(causes) == 1 && !v.Single() {
		limited = append(causes, fold("", "Every treatment", limited)...)
	}
	section("limited", held, append([][]document.Block{limited}, keptFlows(v.Run)...)...)
	trust := evidence.Trust(v.Run)
	if r := v.Run; len(trust.Blocks) > 0 && evidence.InDoubt(r) == "" {
		trust.Blocks = fold("", "Every check", trust.Blocks)
	}
	out = append(out, trust, findings)
	section("log", "What kernels wrote into their logs about the network", document.Tables(evidence.KernelLog(v)))
	section("environment", "Environment", environment(v))
	section("again", "Make this run again", rerun(v.Run), fold("trials", trialsTitle(v.Run),
		document.Tables(evidence.Trials(v))),
		fold("machines", "What each trial did to the machine",
			append(drawn("cpus"), document.Tables(evidence.Machines(v))...)))
	return slices.DeleteFunc(out, func(s document.Section) bool { return s.ID == "" })
}

func everyRow(v *view.View) (rows []*view.Row) {
	for i := range v.Rows {
		rows = append(rows, &v.Rows[i])
	}
	return rows
}

func trialsTitle(run *record.Run) string {
	if len(run.Trials) == 1 {
		return "The trial"
	}
	return fmt.Sprintf("All %d trials", len(run.Trials))
}

// facts describes the run in one line: study, size, seed, time.
func facts(run *record.Run) string {
	size := words.Count(len(run.Treatments), "treatment") + " × " + words.Count(run.Blocks(), "block")
	if plan, err := study.PlanOf(run); len(run.Trials) == 0 && err == nil {
		size = words.Count(len(plan.Treatments), "treatment") + " × " + words.Count(plan.Blocks(), "block") + " planned"
	}
	if run.Mesh != nil {
		size = meshSize(run)
	}
	out := []string{run.Study, size + seed(run.Seed, " · "), number.Seconds(run.DurationS)}
	if run.Study == record.MeasureStudy && len(run.Trials) == 1 { // which has no plan of trials
		out = slices.Delete(out, 1, 2)
	}
	if m := conclude.Measured(run); m != nil && len(m.Protocols) > 0 {
		out = slices.Insert(out, 1, answer.Flows(m)+" with "+serverOf(run))
	}
	if run.Name != "" {
		out = append([]string{"“" + run.Name + "”"}, out...)
	}
	if run.Status != "" && run.Status != "complete" {
		status := run.Status
		if run.Error != "" {
			status = "failed"
		}
		out = append(out, status)
	}
	return strings.Join(out, " · ")
}

// serverOf returns the address of the other end of a measurement.
func serverOf(run *record.Run) string {
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			far := f.Destination
			if f.From != f.OpenedBy {
				far = f.Source
			}
			if host, _, err := net.SplitHostPort(far); err == nil {
				return host
			}
		}
	}
	return "the server"
}

// latencies returns the results of a measurement's probes.
func latencies(run *record.Run) (tables []document.Block) {
	for i := range run.Trials {
		if t := &run.Trials[i]; t.Bufferbloat != nil {
			m := export.Window(run, t)
			tables = append(tables, measuredLatency(m, m.Latency))
		}
	}
	return tables
}

// keptFlows returns the flows of a stored measurement, as it printed them.
func keptFlows(run *record.Run) (parts [][]document.Block) {
	if run.Study != record.MeasureStudy {
		return nil
	}
	for i := range run.Trials {
		t := &run.Trials[i]
		list := measuredFlows(export.Window(run, t))
		if len(run.Trials) > 1 {
			list[0] = append([]document.Block{document.Heading{Text: t.Treatment}}, list[0]...)
		}
		parts = append(parts, list...)
	}
	return parts
}
