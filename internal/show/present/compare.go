package present

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
	"linerate/internal/show/answer"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// studyLinesShown limits the lines of a changed study file that are shown.
const studyLinesShown = 24

// Compare arranges a comparison of two runs for display: the answer, what else differs, and the
// figures. For runs of different studies, and for those that cannot be compared, it only shows the
// most important difference, unless all is true.
func Compare(c *record.Comparison, all bool) document.Document {
	out := document.Document{Answer: ComparisonAnswer(c)}
	for i, run := range []record.ComparedRun{c.From, c.To} {
		about := []string{places[i] + " " + run.ID, number.Moment(run.Started) + seed(run.Seed, " · "),
			words.Count(run.Trials, "trial")}
		if run.Name != "" {
			about = slices.Insert(about, 1, "“"+run.Name+"”")
		}
		if run.Status != "complete" {
			about = append(about, run.Status)
		}
		out.About = append(out.About, strings.Join(about, " · "))
		if n := len(run.Doubts); n > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("In doubt: %s failed in %s, such as %s",
				words.Count(n, "trust check"), called(c, run), run.Doubts[0]))
		}
	}
	out.Warnings = append(out.Warnings, failures(c)...)
	if all || c.Comparable && c.From.Study == c.To.Study {
		out.Summary = append(out.Summary, differences(c, all))
	} else {
		out.Summary = append(out.Summary, []document.Block{document.Prose{Text: firstDifference(c)}})
	}
	if c.Mesh != nil {
		out.Statements = answer.MeshComparison(c.Mesh, called(c, c.From), called(c, c.To)).Statements
	}
	if len(c.Treatments) > 0 {
		out.Summary = append(out.Summary, append([]document.Block{compared(c)}, document.Tables(beside(c))...))
	}
	for _, only := range []struct {
		run   string
		names []string
	}{{called(c, c.From), c.OnlyFrom}, {called(c, c.To), c.OnlyTo}} {
		if len(only.names) > 0 {
			out.Summary = append(out.Summary,
				[]document.Block{document.Prose{Text: "Only in " + only.run + ": " + strings.Join(only.names, "; ")}})
		}
	}
	return out
}

// called returns the name of a run in sentences: its own name or, if it has none or both runs have
// the same, its ID.
func called(c *record.Comparison, run record.ComparedRun) string {
	if run.Name != "" && c.From.Name != c.To.Name {
		return "“" + run.Name + "”"
	}
	return run.ID
}

// places names the two runs where there is no room for IDs.
var places = [2]string{"1st", "2nd"}

// firstDifference returns the most important difference with the number of others.
func firstDifference(c *record.Comparison) string {
	if len(c.Differences) == 0 {
		return "Hosts, network and study are the same."
	}
	var more []string
	if n := len(c.Differences) - 1; n > 0 {
		more = append(more, words.Count(n, "further difference"))
	}
	if n := len(c.StudyLines); n > 0 {
		more = append(more, words.Count(n, "changed line")+" of the study")
	}
	text := "What differs: " + spellDifference(c.Differences[0])
	if len(more) > 0 {
		text += "; " + words.Join(more, "and") + " with --all"
	}
	return text
}

func spellDifference(d record.Difference) string {
	return d.What + ": " + cmp.Or(d.From, "none") + " → " + cmp.Or(d.To, "none")
}

// differences returns what else differs. It is shown before the figures, because each can be the
// cause of their differences.
func differences(c *record.Comparison, all bool) []document.Block {
	hosts := snapshotDifferences(c, all)
	switch {
	case len(hosts)+len(c.Differences)+len(c.StudyLines) == 0:
		return []document.Block{document.Prose{Text: nothingElse(c)}}
	case len(c.Differences)+len(c.StudyLines) == 0:
		return hosts
	}
	blocks := append(hosts, document.Prose{Text: "What else differs"})
	lines := lists.Map(c.Differences, spellDifference)
	if len(lines) > 0 {
		blocks = append(blocks, document.Listing{Lines: lines})
	}
	if len(c.StudyLines) == 0 {
		return blocks
	}
	lines = c.StudyLines
	if more := len(lines) - studyLinesShown; more > 0 && !all {
		lines = append(slices.Clone(lines[:studyLinesShown]), fmt.Sprintf("… and %d more lines with --all", more))
	}
	return append(blocks, document.Listing{Caption: "study file:", Lines: lines})
}

// hostLinesShown limits the values of each host that are shown.
const hostLinesShown = 12

// snapshotDifferences returns the values of hosts that differed before the first trials; with all,
// also counters.
func snapshotDifferences(c *record.Comparison, all bool) (blocks []document.Block) {
	for _, d := range c.Snapshots {
		lines := lists.Map(d.Changes, changeLine)
		if more := len(lines) - hostLinesShown; more > 1 && !all {
			lines = append(lines[:hostLinesShown], fmt.Sprintf("… and %d more values with --all", more))
		}
		blocks = append(blocks, document.Prose{Text: "What differs on " + d.From + ", before the first trials"},
			document.Listing{Lines: lines})
		if !all || len(d.Counters) == 0 {
			continue
		}
		lines = nil
		for _, change := range d.Counters {
			lines = append(lines, fmt.Sprintf("%s: %+d", change.What, change.Grew))
		}
		blocks = append(blocks, document.Listing{Caption: "counters:", Lines: lines})
	}
	return blocks
}

// nothingElse says what is the same. For a network that linerate did not create, only properties of
// its hosts are recorded.
func nothingElse(c *record.Comparison) string {
	var parts []string
	for _, h := range c.Hosts {
		parts = append(parts, "of "+h.Host+" "+words.Join(append([]string{"kernel", "CPUs"}, h.Parts...), "and"))
	}
	switch {
	case len(parts) > 0:
		return "Of what both recorded, nothing else differs: " + strings.Join(parts, "; ") +
			". The network between the hosts is not recorded."
	case c.To.Study == record.MeasureStudy:
		return "Of what both recorded, nothing else differs: kernels and CPUs. Neither the state of the hosts nor " +
			"the network between them is recorded."
	}
	return "Nothing else is known to differ: hosts, network and study are the same."
}

// failures returns the shares of failed requests, which the other figures include. Empty: no
// request failed in either run.
func failures(c *record.Comparison) (list []string) {
	m := metric.Errors
	for _, t := range c.Treatments {
		for _, o := range t.Others {
			if o.Response == m.Name && o.From.Mean+o.To.Mean > 0 {
				list = append(list, fmt.Sprintf(
					"%s of the requests of %s failed, and %s of %s: rates and latencies count these, too",
					m.FormatIn(c.Unit, o.From.Mean), called(c, c.From), m.FormatIn(c.Unit, o.To.Mean), called(c, c.To)))
			}
		}
	}
	return list
}

// compared returns the table of treatments.
func compared(c *record.Comparison) *document.Table {
	by, _ := metric.Find(c.Response)
	largest := 0.0
	for _, t := range c.Treatments {
		largest = max(largest, t.FromResponse.Mean, t.ToResponse.Mean)
	}
	m := &view.Measure{Metric: by, Shown: number.Scale{Scale: by.Scale(c.Unit, largest)}}
	figure := func(e record.ResponseEstimate) document.Cell {
		if e.Trials == 0 {
			return document.Cell{Text: "–"}
		}
		mean, spread := m.Figure(e)
		return document.Cell{Text: mean, Spread: spread}
	}
	head := "ratio"
	if by.Signed {
		head = "difference"
	}
	table := &document.Table{Columns: []document.Column{{Head: "treatment"}, {Head: places[0] + " " + m.Shown.Unit,
		Align: document.Decimal}, {Head: places[1] + " " + m.Shown.Unit, Align: document.Decimal},
		{Head: head, Align: document.Ratio}}}
	sizes, intervals := false, false
	for _, t := range c.Treatments {
		against := document.Cell{Verdict: t.Verdict}
		if t.Ratio.Mean > 0 || t.Difference != nil {
			against.Text, against.Interval = m.Against(&record.Effect{Ratio: t.Ratio, Difference: t.Difference})
			sizes, intervals = true, intervals || against.Interval != ""
		}
		table.Rows = append(table.Rows, document.Row{Cells: []document.Cell{{Text: t.Name}, figure(t.FromResponse),
			figure(t.ToResponse), against}})
	}
	what, of := "Ratios", "to"
	if by.Signed {
		what, of = "Differences", "less"
	}
	if sizes {
		table.Key = head + " of " + called(c, c.To) + " to " + called(c, c.From)
		table.Notes = append(table.Notes, fmt.Sprintf("%s of %s%s %s %s", what, ratiosOf(c), called(c, c.To), of,
			called(c, c.From)))
	}
	if intervals {
		table.Notes[0] += fmt.Sprintf("; the intervals hold together at %.3g %%, no difference means within ±%s",
			100*c.Confidence, marginOf(c))
	}
	for i := range table.Notes {
		table.Notes[i] += "."
	}
	if len(c.Treatments) > 1 { // the answer has the reason for a single one
		table.Notes = append(table.Notes, reasons(c)...)
	}
	if c.From.Study == record.MeasureStudy && c.To.Study == record.MeasureStudy &&
		slices.ContainsFunc(c.Treatments, tooFew) {
		table.Notes = append(table.Notes,
			"For a verdict, repeat the measurement as a study of the two hosts: linerate new hosts")
	}
	return table
}

// beside returns the table of further responses that both runs have. Nil: there are none.
func beside(c *record.Comparison) *document.Table {
	table := &document.Table{Columns: []document.Column{{Head: "beside it"}, {Head: places[0], Align: document.Right},
		{Head: places[1], Align: document.Right}, {Head: "ratio", Align: document.Ratio}},
		Notes: []string{"Figures without a verdict."}}
	for i, t := range c.Treatments {
		for _, o := range t.Others {
			m, known := metric.Find(o.Response)
			one := len(c.Treatments) > 1 && common(c, o)
			if !known || one && i > 0 {
				continue
			}
			name, ratio := m.Of([]record.ResponseEstimate{o.From, o.To}).Label, ""
			if len(c.Treatments) > 1 && !one {
				name = t.Name + ", " + name
			}
			if !m.Signed && o.From.Mean > 0 && o.To.Mean > 0 {
				ratio = fmt.Sprintf("%s×", number.Significant(o.To.Mean/o.From.Mean, 3))
			}
			row := []string{name}
			for _, e := range []record.ResponseEstimate{o.From, o.To} {
				text := m.FormatIn(c.Unit, e.Mean)
				if place, _, of := strings.Cut(e.Rank, " of "); of {
					text += ", " + place
				}
				row = append(row, text)
			}
			table.Add(append(row, ratio)...)
		}
	}
	return table.OrNil()
}

// common reports whether all treatments have a response from the same measurement, such as that of
// a probe beside both directions.
func common(c *record.Comparison, o record.ComparedResponse) bool {
	return !slices.ContainsFunc(c.Treatments, func(t record.ComparedTreatment) bool {
		return !slices.Contains(t.Others, o)
	})
}

// tooFew reports whether a comparable treatment has fewer trials than a verdict requires.
func tooFew(t record.ComparedTreatment) bool {
	return t.Verdict != record.NotComparable && min(t.FromTrials, t.ToTrials) < stats.LeastBlocks
}

// ratiosOf names the metric of the ratios if it is not goodput.
func ratiosOf(c *record.Comparison) string {
	by, _ := metric.Find(c.Response)
	switch {
	case by.Name == metric.Goodput.Name:
		return ""
	case by.Lower:
		return by.Label + " (less is better), "
	}
	return by.Label + ", "
}

// reasons explains verdicts, each reason once.
func reasons(c *record.Comparison) (notes []string) {
	var reasons words.ByText
	for _, treatment := range c.Treatments {
		if treatment.Why != "" {
			reasons.Add(treatment.Verdict+", "+treatment.Why, treatment.Name)
		}
	}
	for _, reason := range reasons.Texts {
		notes = append(notes, strings.Join(reasons.Names[reason], "; ")+": "+reason)
	}
	return notes
}

// ComparisonAnswer says how the second run differs from the first, and names the largest change.
func ComparisonAnswer(c *record.Comparison) string {
	if c.Mesh != nil {
		return answer.MeshComparison(c.Mesh, called(c, c.From), called(c, c.To)).Headline
	}
	names := map[string][]string{}
	for _, t := range c.Treatments {
		names[t.Verdict] = append(names[t.Verdict], t.Name)
	}
	by, _ := metric.Find(c.Response)
	more, less, same := "carries more", "carries less", "carries as much"
	if by.Name != metric.Goodput.Name {
		more, less, same = "has a better "+by.Label, "has a worse "+by.Label, "has the same "+by.Label
	}
	total := len(c.Treatments)
	all := words.Every(total) + " treatments"
	if total == 1 {
		all = "the only treatment that both have"
	}
	switch {
	case total == 0 && c.From.Study != c.To.Study:
		return fmt.Sprintf("%s and %s cannot be compared: they are of different studies, %s and %s.", called(c, c.From),
			called(c, c.To), c.From.Study, c.To.Study)
	case total == 0 && c.From.Study == record.MeasureStudy && len(c.Differences) > 0 &&
		c.Differences[0].What == "direction":
		return fmt.Sprintf("%s and %s cannot be compared: %s%s.", called(c, c.From), called(c, c.To),
			spellDifference(c.Differences[0]), otherLoad(c.Differences[0]))
	case total == 0:
		return fmt.Sprintf("%s and %s cannot be compared: they have no treatment in common.", called(c, c.From),
			called(c, c.To))
	case !c.Comparable:
		return fmt.Sprintf("%s and %s cannot be compared: %s.", called(c, c.From), called(c, c.To), c.Treatments[0].Why)
	case len(names[record.NoDifference]) == total:
		return fmt.Sprintf("%s %s as %s in %s, within ±%s.", called(c, c.To), same, called(c, c.From), all, marginOf(c))
	case total == 1 && len(names[record.Inconclusive]) == 1:
		return inconclusive(c, by)
	}
	var parts []string
	for _, p := range []struct{ verdict, words string }{
		{record.Improves, more}, {record.Worsens, less}, {record.NoDifference, same},
		{record.Inconclusive, "is inconclusive"}, {record.NotComparable, "is not comparable"},
	} {
		switch n := len(names[p.verdict]); {
		case n == 1:
			parts = append(parts, p.words+" in “"+names[p.verdict][0]+"”")
		case n == total:
			parts = append(parts, p.words+" in "+all)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%s in %d of %d treatments", p.words, n, total))
		}
	}
	return fmt.Sprintf("Against %s, %s %s%s.", called(c, c.From), called(c, c.To), words.Join(parts, "and"),
		largestChange(c, by))
}

// otherLoad says why measurements of one direction and of both have different loads. Empty: both
// have one direction.
func otherLoad(direction record.Difference) string {
	alone := direction.From
	switch flow.Both {
	case direction.From:
		alone = direction.To
	case direction.To:
	default:
		return ""
	}
	return fmt.Sprintf("; a read beside a write is another load than a %s alone", alone)
}

// inconclusive says what is known about the only treatment of two runs without a verdict, for
// example for two measurements with one trial each.
func inconclusive(c *record.Comparison, by metric.Metric) string {
	t := &c.Treatments[0]
	text := fmt.Sprintf("Whether the %s of %s differs from that of %s is not known", by.Label, called(c, c.To),
		called(c, c.From))
	if t.Why != "" {
		text += ": " + t.Why
	}
	if size := sizeOf(c, t, by); size != "" {
		text += "; it is " + size
	}
	return text + "."
}

// sizeOf formats the size of the change in a treatment.
func sizeOf(c *record.Comparison, t *record.ComparedTreatment, by metric.Metric) string {
	return answer.Size(c.Unit, by, &record.Effect{Response: c.Response, Ratio: t.Ratio, Difference: t.Difference})
}

// marginOf formats the difference below which values count as equal.
func marginOf(c *record.Comparison) string {
	if by, _ := metric.Find(c.Response); by.Signed {
		return fmt.Sprintf("%.3g points", 100*by.Floor)
	}
	return fmt.Sprintf("%.3g %%", 100*c.Margin)
}

// largestChange names the change whose interval is entirely beyond those of all others. If several
// are equally large, it names one of them.
func largestChange(c *record.Comparison, by metric.Metric) string {
	var changes []*record.ComparedTreatment
	for i := range c.Treatments {
		if t := &c.Treatments[i]; t.Verdict == record.Improves || t.Verdict == record.Worsens {
			changes = append(changes, t)
		}
	}
	if len(changes) == 0 {
		return ""
	}
	best := slices.MaxFunc(changes, func(a, b *record.ComparedTreatment) int { return cmp.Compare(least(a), least(b)) })
	size := sizeOf(c, best, by)
	overlaps := func(t *record.ComparedTreatment) bool { return t != best && most(t) >= least(best) }
	switch {
	case len(changes) == 1:
		return "; the change is " + size
	case slices.ContainsFunc(changes, overlaps):
		return fmt.Sprintf("; one of the largest changes is %s, “%s”", size, best.Name)
	}
	return fmt.Sprintf("; the largest change is %s, “%s”", size, best.Name)
}

// least returns the distance of the interval from no change, and most its farthest distance. Ratios
// are compared by their logarithms.
func least(t *record.ComparedTreatment) float64 {
	low, high := ends(t)
	return min(low, high)
}

func most(t *record.ComparedTreatment) float64 {
	low, high := ends(t)
	return max(low, high)
}

func ends(t *record.ComparedTreatment) (low, high float64) {
	if d := t.Difference; d != nil {
		return math.Abs(d.Low), math.Abs(d.High)
	}
	log := func(ratio float64) float64 { return math.Abs(math.Log(max(ratio, 1e-9))) }
	return log(t.Ratio.Low), log(t.Ratio.High)
}
