package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/control/run"
	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/evidence"
	"linerate/internal/show/words"
)

// shown returns the plan as a document for the text output.
func (d *planDocument) shown() document.Document {
	return document.Document{
		Title: fmt.Sprintf("%s · %s × %s = %s · %s", d.Study, unit.Plural(len(d.Treatments), "treatment"),
			unit.Plural(d.Blocks, "block"), unit.Plural(d.Trials, "trial"), d.time),
		Summary: slices.DeleteFunc([][]document.Block{d.about(), document.Tables(d.links()),
			document.Tables(d.treatments()), document.Tables(d.changes()), document.Tables(d.commands()), d.order()},
			func(part []document.Block) bool { return len(part) == 0 }),
	}
}

func (d *planDocument) about() (list []document.Block) {
	if d.Question != "" {
		list = append(list, document.Prose{Text: d.Question})
	}
	return append(list, document.Prose{Text: fmt.Sprintf("%s, %s, %s%s", unit.Plural(d.Hosts, "host"),
		unit.Plural(d.Switches, "switch"), unit.Plural(d.Links, "link"), d.judgedBy())})
}

// links lists the links of labs and of real hosts that may delay or lose frames; nil: there are
// none.
func (d *planDocument) links() *document.Table {
	if len(d.Shapes) == 0 {
		return nil
	}
	t := &document.Table{Columns: []document.Column{{Head: "link"}, {Head: "in each direction", Wrap: true}}}
	for _, shape := range d.Shapes {
		name := shape.Links[0]
		if n := len(shape.Links); n > 1 {
			name = fmt.Sprintf("%s and %d more", name, n-1)
		}
		each := shape.Forward
		if shape.Reverse != "" {
			each = "→ " + each + "; ← " + shape.Reverse
		}
		t.Add(name, each)
	}
	return t
}

// treatments lists the treatments with their numbers, because the order of trials refers to these.
// Columns that are the same for all are printed once below.
func (d *planDocument) treatments() *document.Table {
	t := &document.Table{Columns: []document.Column{{Head: "treatment"}, {Head: "trial", Align: document.Right},
		{Head: "limit"}, {Head: "flows", Wrap: true}}}
	var explained []string
	for i, made := range d.Treatments {
		name, limit := made.Name, "unknown"
		if made.Baseline {
			name += " (baseline)"
		}
		if made.LimitBps > 0 {
			limit = metric.Goodput.FormatIn(d.unit, made.LimitBps)
		}
		if why := made.LimitWhy; why != "" {
			if made.LimitBps > 0 {
				why = "limit " + limit + " = " + why
			} else if made.Limit.None == record.NoLimitTransactions {
				limit = "none"
			}
			explained = words.Distinct(explained, why)
		}
		t.Add(fmt.Sprintf("%*d %s", len(fmt.Sprint(len(d.Treatments))), i+1, name), fmt.Sprintf("%.1f s", made.TrialS),
			limit, summary(made.Flows))
	}
	said := foldUniform(t)
	if len(explained) > 0 { // because this names the limit
		said = slices.DeleteFunc(said, func(text string) bool { return strings.HasPrefix(text, "limit ") })
	}
	if len(said) > 0 {
		t.Notes = []string{"each treatment: " + strings.Join(said, " · ")}
	}
	t.Notes = append(t.Notes, source.Some(explained, limitsExplained)...)
	return t
}

// foldUniform removes those columns of a table with several rows that have the same text in every
// row, and returns their heads with that text.
func foldUniform(t *document.Table) (said []string) {
	if len(t.Rows) < 2 {
		return nil
	}
	for at := len(t.Columns) - 1; at > 0; at-- {
		text := t.Cell(0, at).Text
		if slices.ContainsFunc(t.Rows, func(r document.Row) bool { return r.Cells[at].Text != text }) {
			continue
		}
		said = append(said, t.Columns[at].Head+" "+text)
		t.Columns = slices.Delete(t.Columns, at, at+1)
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, at, at+1)
		}
	}
	slices.Reverse(said)
	return said
}

// limitsExplained is how many limits are explained one by one.
const limitsExplained = 4

// changes lists the settings and flow options of each level, and the events and attacks of each
// treatment if they differ from those of the treatment before.
func (d *planDocument) changes() *document.Table {
	var rows [][]string
	add := func(name string, lines []string) {
		for _, line := range lines {
			rows = append(rows, []string{name, line})
			name = ""
		}
	}
	named := map[string]int{}
	for _, f := range d.Factors {
		for _, l := range f.Levels {
			named[l.Name]++
		}
	}
	for _, f := range d.Factors {
		for _, l := range f.Levels {
			lines := someLines(l.SettingLines)
			for _, line := range someLines(l.FlowLines) {
				lines = append(lines, "flows: "+line)
			}
			name := l.Name
			if named[name] > 1 { // several factors have a level of that name
				name = f.Name + " " + name
			}
			add(name, lines)
		}
	}
	for i, t := range d.Treatments {
		if i == 0 || !slices.Equal(t.Events, d.Treatments[i-1].Events) {
			add(t.Name, someLines(t.Events))
		}
		if i == 0 || !slices.Equal(t.Attacks, d.Treatments[i-1].Attacks) {
			add(t.Name, someLines(t.Attacks))
		}
	}
	if rows == nil {
		return nil
	}
	return document.FigureList(rows)
}

// commands lists what a run executes; nil: nothing.
func (d *planDocument) commands() *document.Table {
	if len(d.Commands) == 0 {
		return nil
	}
	t := &document.Table{Columns: []document.Column{{Head: "executes on"}, {Head: "command", Wrap: true}}}
	for _, c := range d.Commands {
		t.Add(c.Node, commandText(c))
	}
	return t
}

// someLines returns the lines; of many, only the first ones and the last.
func someLines(lines []string) []string {
	const most = 8
	if len(lines) <= most+1 {
		return slices.Clone(lines)
	}
	return append(slices.Clone(lines[:most-1]), fmt.Sprintf("… %d more, and the last:", len(lines)-most),
		lines[len(lines)-1])
}

// judgedBy names the responses of a study that is not judged by goodput alone; empty otherwise.
func (d *planDocument) judgedBy() string {
	var labels []string
	for _, name := range d.Responses {
		if r, ok := metric.Find(name); ok {
			labels = append(labels, r.Label)
		}
	}
	if len(d.Responses) == 1 && d.Responses[0] == metric.Goodput.Name {
		return ""
	}
	return "; judged by " + strings.Join(labels, ", then ")
}

func (d *planDocument) order() (list []document.Block) {
	say := func(format string, args ...any) {
		list = append(list, document.Prose{Text: fmt.Sprintf(format, args...)})
	}
	if d.Sensitivity != nil {
		say("Detects %s.", evidence.Sensitivity(d.Sensitivity))
		say("Margin %.3g %%: smaller differences do not matter.", 100*d.Margin)
	}
	for _, text := range d.Warnings {
		if slices.ContainsFunc(d.parameters, func(w run.ParameterWarning) bool { return w.Text == text }) {
			continue
		}
		if !strings.HasSuffix(text, "?") {
			text += "."
		}
		say("%s", text)
	}
	if d.Until > 0 {
		say("More blocks are added until every effect is known to ±%.3g %%.", d.Until*100)
	}
	if d.BudgetS > 0 {
		say("No block is begun that would end after %s.", estimate(d.BudgetS))
	}
	if d.Seed == 0 {
		say("The order is drawn for each run; --seed N chooses it.")
		return list
	}
	place := map[string]int{}
	for i, t := range d.Treatments {
		place[t.Name] = i + 1
	}
	say("order with seed %d", d.Seed)
	for i, block := range d.Order {
		line := fmt.Sprintf("block %d:", i+1)
		for _, name := range block {
			line += fmt.Sprintf(" %d", place[name])
		}
		say("%s", line)
	}
	return list
}

// summary counts flows by sender and receiver: "8: client1 → server ×4, …".
func summary(flows []planFlow) string {
	var pairs []string
	times := map[string]int{}
	for _, f := range flows {
		pair := f.From + " → " + f.To
		if f.Protocol != flow.TCP {
			pair += " " + f.Protocol
		}
		if times[pair]++; times[pair] == 1 {
			pairs = append(pairs, pair)
		}
	}
	const shown = 3
	more := ""
	if len(pairs) > shown {
		more = fmt.Sprintf(", … (%d pairs)", len(pairs))
		pairs = pairs[:shown]
	}
	for i, pair := range pairs {
		if n := times[pair]; n > 1 {
			pairs[i] += fmt.Sprintf(" ×%d", n)
		}
	}
	return fmt.Sprintf("%d: %s%s", len(flows), strings.Join(pairs, ", "), more)
}

// estimate formats a number of seconds for people.
func estimate(seconds float64) string {
	return unit.FormatTime(time.Duration(seconds * float64(time.Second)))
}
