package present

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/figure"
)

// Run arranges a run for reading.
func Run(run *record.Run) *Report {
	v := newView(run)
	a := AnswerRun(run)
	r := &Report{Document: Document{About: []string{facts(run)}, Answer: a.Headline, Statements: a.Statements, Warnings: warnings(v)},
		ID: run.ID, Study: run.Study, Version: run.Environment.Version, Question: run.Question, Started: moment(run.Started), Again: run.Again}
	for _, note := range run.Notes {
		r.Notes = append(r.Notes, Note{moment(note.Time), note.Text})
	}
	if len(run.Trust) > 0 && inDoubt(run) == "" {
		r.Trusted = trusted(run)
	}
	if run.Environment.ImpairedBy != "" {
		r.MadeIn = run.Environment.Mode
	}
	t := tablesOf(v)
	r.Summary, r.Sections = summaryOf(v, t), sectionsOf(v, t)
	return r
}

// Figures lists the figures that the run has data for.
func Figures(run *record.Run) []figure.Figure { return figuresOf(newView(run)) }

// runTables are the tables that both summary and page show; nil: there is none.
type runTables struct {
	treatments, reported, hashed, limited, outages *Table
	settings                                       []*Table // of lists that the run takes apart
}

func tablesOf(v *view) runTables {
	return runTables{treatments(v.whole()), toolTable(v), hashed(v), limitedTable(v), outages(v), takenApart(v.run)}
}

// summaryOf is what a terminal shows, the answer's evidence first.
func summaryOf(v *view, t runTables) (out [][]Block) {
	add := func(blocks ...Block) {
		if len(blocks) > 0 {
			out = append(out, blocks)
		}
	}
	table := func(t *Table) { add(tableBlocks(t)...) }
	along := v.alongCurve()
	table(t.outages)
	if !along { // else the table of hashed flows says it all
		if len(v.rows) > 0 {
			table(t.treatments)
		}
		for _, s := range t.settings {
			table(s)
		}
		add(partEffects(v)...)
	}
	add(statements("Published", published(v)...)...)
	table(t.reported)
	if !along {
		table(shareTable(v.whole()))
	}
	if t.hashed != nil {
		add(t.hashed)
		add(statements("On each", onEachLink(v, t.hashed.Columns[0].Head == "treatment")...)...)
	}
	add(limitedSummary(v, t.limited)...)
	add(statements("Loss", searchReasons(v.run)...)...)
	add(statements("Machine", busiestMachines(v)...)...)
	add(routeStatements(v)...)
	add(trustStatement(v.run)...)
	add(findingStatements(v)...)
	return out
}

// sectionsOf is the page, top to bottom.
func sectionsOf(v *view, t runTables) (out []Section) {
	figures := map[string]Figure{}
	var responses []Block
	for _, f := range figuresOf(v) {
		if figures[f.Name] = (Figure{f}); slices.ContainsFunc(v.measures, func(m *measure) bool { return m.Name == f.Name }) {
			responses = append(responses, Figure{f})
		}
	}
	section := func(id, title string, parts ...[]Block) {
		s := Section{ID: id, Title: title}
		for _, p := range parts {
			s.Blocks = append(s.Blocks, p...)
		}
		if len(s.Blocks) > 0 {
			out = append(out, s)
		}
	}
	drawn := func(name string) []Block {
		if f, ok := figures[name]; ok {
			return []Block{f}
		}
		return nil
	}
	fold := func(id, summary string, blocks []Block) []Block {
		if len(blocks) == 0 {
			return nil
		}
		return []Block{Fold{id, summary, blocks}}
	}
	along := v.alongCurve()
	curves := func() { section("flows", "", drawn("flows"), fold("", "Every case in figures", tableBlocks(t.hashed))) }
	title := ""
	if along {
		curves()
		title, responses = "Goodput", nil // the curves show it
	}
	if len(v.rows) > 0 {
		section("goodput", title, drawn("accounts"), responses, tableBlocks(t.treatments), statements("Published", published(v)...), tableBlocks(t.reported), fold("", "What each treatment sets", treatmentSettings(v)))
	}
	section("outages", "Events in the window, and what they did to running flows", tableBlocks(t.outages))
	section("search", "How the highest rates without loss were found", searches(v.run))
	section("settings", "What each setting of the list does", tableBlocks(t.settings...))
	effects, forest := tableBlocks(effectTable(v)), drawn("effects")
	if len(forest) > 0 {
		section("effects", "", forest, fold("", "Every comparison", effects))
	} else {
		section("effects", "Effects", effects)
	}
	if !along {
		curves()
	}
	section("interfaces", "", drawn("interfaces"))
	if topology := drawn("topology"); len(topology) > 0 {
		var more []Block
		if f, ok := otherTopologies(v); ok {
			more = []Block{Figure{f}}
		}
		section("topology", "", topology, fold("", "Every other treatment", more))
	}
	section("fabric", "", drawn("paths"))
	section("paths", pathsTitle(v.run), tableBlocks(pathTable(v)))
	out = append(out, neighbourSection(v))
	section("series", "", drawn("series"))
	held := "What limited the flows"
	if predictions(v.heldBack()) {
		held = "Predicted and measured goodput of each flow, and what limited it"
	}
	section("held", "", drawn("predicted"))
	section("limited", held, tableBlocks(t.limited))
	out = append(out, trustSection(v.run), findingsSection(v))
	section("environment", "Environment", environment(v))
	section("again", "Make this run again", again(v.run), fold("trials", fmt.Sprintf("All %d trials", len(v.run.Trials)), tableBlocks(trialTable(v))),
		fold("machines", "What each trial did to the machine", tableBlocks(machineTable(v))))
	return slices.DeleteFunc(out, func(s Section) bool { return s.ID == "" })
}

// environment is on which machines, with which program.
func environment(v *view) []Block {
	e := v.run.Environment
	text := "linerate " + e.Version
	if e.Mode != "" {
		text += ", " + e.Mode
	}
	blocks := []Block{Statement{Text: text}}
	if len(e.Hosts) > 0 {
		t := &Table{Columns: []Column{{Head: "host"}, {Head: "system"}, {Head: "kernel"}, {Head: "CPUs", Align: Right}, {Head: "congestion control"}, {Head: "missing", Wrap: true}}}
		for _, h := range e.Hosts {
			t.add(h.Host, h.OS+" "+h.Arch, h.Kernel, fmt.Sprint(h.CPUs), h.CongestionControl, strings.Join(h.Missing, "; "))
		}
		blocks = append(blocks, t)
	}
	return append(blocks, routeBlocks(v)...)
}

// again is what it takes to make the run once more.
func again(run *record.Run) []Block {
	blocks := []Block{Listing{Lines: []string{run.Again}},
		Statement{Text: fmt.Sprintf("Run %s, seed %d, begun %s, %s.", run.ID, run.Seed, moment(run.Started), Seconds(run.DurationS)), Tone: Quiet}}
	if run.StudyFile != "" {
		blocks = append(blocks, Fold{Summary: "The study's file", Blocks: []Block{Listing{Lines: strings.Split(strings.TrimRight(run.StudyFile, "\n"), "\n")}}})
	}
	return blocks
}

// facts are the run in a line: study, size, seed, time.
func facts(run *record.Run) string {
	out := []string{run.Study, Count(len(run.Treatments), "treatment") + " × " + Count(run.Blocks(), "block"),
		fmt.Sprintf("seed %d", run.Seed), Seconds(run.DurationS)}
	if run.Status != "" && run.Status != "complete" {
		out = append(out, run.Status)
	}
	return strings.Join(out, " · ")
}
