package conclude

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/model/metric"
	"linerate/internal/science/toolreport"
)

// accounted answers a study that is also judged by what a program says too much: what
// moves the truth, what moves the program's figure, and whether that was predicted.
// nil: the run has nothing to say of it.
func accounted(run *record.Run) []string {
	if !onGoodput(run) || !slices.ContainsFunc(metric.Of(run), isSurplus) {
		return nil
	}
	if f, top := settledSubject(run); top != nil {
		return slices.DeleteFunc([]string{cost(run, f, top), surplus(run, top), elsewise(run, top)}, func(text string) bool { return text == "" })
	}
	f, along := Subject(run)
	if !along {
		return nil
	}
	top := last(run, f)
	if top == nil || top.ToolReported == nil {
		return nil
	}
	said := []string{cost(run, f, top), surplus(run, top)}
	if text := verdictOnPublished(run, f, top); text != "" {
		said = append(said, text)
	}
	return said
}

// settledSubject: a run may have the factor of the published tables at one level, and
// ask what else moves the sum there. The treatment is the one that all others are
// compared with.
func settledSubject(run *record.Run) (f record.Factor, top *record.Treatment) {
	if len(run.Published) == 0 {
		return f, nil
	}
	i := slices.IndexFunc(run.Factors, func(f record.Factor) bool { return f.Name == run.Published[0].Factor })
	if i < 0 || len(run.Factors[i].Levels) != 1 {
		return f, nil
	}
	at := slices.IndexFunc(run.Treatments, func(t record.Treatment) bool {
		return !slices.ContainsFunc(run.Factors, func(f record.Factor) bool {
			return compared(f) && len(f.Levels) > 1 && t.Levels[f.Name] != f.Baseline
		})
	})
	if at < 0 || run.Treatments[at].ToolReported == nil {
		return f, nil
	}
	return run.Factors[i], &run.Treatments[at]
}

func isSurplus(r metric.Metric) bool { return r.Name == metric.Surplus.Name }

// Subject is the factor that the question is about: the one that a published table
// goes along, or the last one that is compared.
func Subject(run *record.Run) (record.Factor, bool) {
	if len(run.Published) > 0 {
		i := slices.IndexFunc(run.Factors, func(f record.Factor) bool { return f.Name == run.Published[0].Factor && compared(f) })
		if i >= 0 && len(run.Factors[i].Levels) > 1 {
			return run.Factors[i], true
		}
	}
	for _, f := range slices.Backward(run.Factors) {
		if compared(f) && len(f.Levels) > 1 {
			return f, true
		}
	}
	return record.Factor{}, false
}

// Row reports whether a treatment stands for a level in a table along a factor: each
// of the others is at its baseline, or goes along, at the level of that name, or has
// this one level in the whole run.
func Row(run *record.Run, t record.Treatment, f record.Factor) bool {
	for _, other := range run.Factors {
		level := t.Levels[other.Name]
		if compared(other) && len(other.Levels) > 1 && level != other.Baseline && level != t.Levels[f.Name] {
			return false
		}
	}
	return true
}

// Rows are the treatments of a table along a factor, in the order of its levels: of
// several for one level the one in which most goes along.
func Rows(run *record.Run, f record.Factor) []record.Treatment {
	var rows []record.Treatment
	for _, l := range f.Levels {
		best, most := -1, -1
		for i, t := range run.Treatments {
			if t.Levels[f.Name] != l.Name || !Row(run, t, f) {
				continue
			}
			same := 0
			for _, level := range t.Levels {
				if level == l.Name {
					same++
				}
			}
			if same > most {
				best, most = i, same
			}
		}
		if best >= 0 {
			rows = append(rows, run.Treatments[best])
		}
	}
	return rows
}

func last(run *record.Run, f record.Factor) *record.Treatment {
	rows := Rows(run, f)
	if len(rows) == 0 || rows[len(rows)-1].Levels[f.Name] == f.Baseline {
		return nil
	}
	return &rows[len(rows)-1]
}

// leading is the effect that leads to a treatment by changing one factor; nil: it was
// not compared.
func leading(run *record.Run, t *record.Treatment, factor string) *record.Effect {
	for i := range run.Effects {
		e := &run.Effects[i]
		if e.Factor == factor && e.To == t.Levels[factor] && at(*t, e) {
			return e
		}
	}
	return nil
}

// amount spells a level as people say it: "254 aliases", "congestion control bbr".
func amount(factor, level string) string {
	if _, err := strconv.Atoi(level); err == nil {
		return level + " " + factor
	}
	return factor + " " + level
}

// cost says what the subject does to goodput.
func cost(run *record.Run, f record.Factor, top *record.Treatment) string {
	name := amount(f.Name, top.Levels[f.Name])
	e := leading(run, top, f.Name)
	g := figures(run.Unit, []*option{{treatment: *top}})
	if e == nil {
		return fmt.Sprintf("Goodput with %s is %s.", name, g) // what it was without was not asked
	}
	if e.Ratio.None || e.Ratio.High == 0 {
		return fmt.Sprintf("What %s cost is not known: goodput with them is %s.", name, g)
	}
	// A loss is positive; its interval need not be symmetric, and nearly is.
	loss, half := 100*(1-e.Ratio.Mean), 50*(e.Ratio.High-e.Ratio.Low)
	if half >= 100 {
		return fmt.Sprintf("What %s cost cannot be told from this run: goodput with them is %s.", name, g)
	}
	text := fmt.Sprintf("%s cost %s ± %s %% of goodput, which is %s", upper(name), three(loss), three(half), g)
	if e.Verdict == record.Inconclusive {
		text += "; that is inconclusive"
	}
	return text + "."
}

// surplus says what a program makes of it, and which factors have a part in that.
func surplus(run *record.Run, top *record.Treatment) string {
	s := top.ToolReported
	who := "Counted at the senders it is"
	if s.Processes > 0 {
		who = s.Tool + "'s clients together say"
	}
	sum, suffix := quantity(run.Unit, s.SumBps, size(top))
	over := 0.0
	if s.GoodputBps > 0 {
		over = s.SurplusBps / s.GoodputBps
	}
	text := fmt.Sprintf("%s %s %s, %s %% more than was received", who, sum, suffix, tenths(over))
	if over < 0 {
		text = fmt.Sprintf("%s %s %s, %s %% less than was received", who, sum, suffix, tenths(-over))
	}
	if top.LimitBps > 0 && s.SumBps > 1.005*top.LimitBps {
		text += " and more than the path can carry"
	}
	var moves, lessens, not, open []string
	for _, f := range run.Factors {
		e := metric.Surplus.Effect(leading(run, top, f.Name))
		if e == nil {
			continue
		}
		switch e.Verdict {
		case record.NoDifference:
			not = append(not, e.Factor+" "+plural(e.Factor, "makes", "make")+" no difference"+apart(e))
		case record.Worsens:
			moves = append(moves, e.Factor+" "+plural(e.Factor, "adds", "add")+" to that"+apart(e))
		case record.Improves:
			lessens = append(lessens, e.Factor+" "+plural(e.Factor, "takes", "take")+" from it"+apart(e))
		default:
			open = append(open, "whether "+e.Factor+" "+plural(e.Factor, "adds", "add")+" to it is open"+apart(e))
		}
	}
	if parts := slices.Concat(moves, not, lessens, open); len(parts) > 0 {
		text += "; " + join(parts, "and")
	}
	return text + "."
}

// apart spells a difference of shares: " (+0.1 ± 0.3 points)".
func apart(e *record.Effect) string {
	d := e.Difference
	if d == nil || d.High <= d.Low {
		return ""
	}
	mean := tenths(d.Mean)
	if d.Mean > 0 && mean != tenths(0) {
		mean = "+" + mean
	}
	return fmt.Sprintf(" (%s ± %s points)", mean, tenths((d.High-d.Low)/2))
}

// tenths spells a share in points to one place, as nobody reads more of it.
func tenths(share float64) string {
	text := fmt.Sprintf("%.1f", 100*share)
	if text == "-0.0" {
		text = "0.0"
	}
	return strings.Replace(text, "-", "−", 1)
}

// elsewise says what becomes of the surplus with other levels of what the treatment has
// at its baseline.
func elsewise(run *record.Run, top *record.Treatment) string {
	by := map[string][]string{}
	for i := range run.Effects {
		e := &run.Effects[i]
		if e.From != top.Levels[e.Factor] || !at(*top, e) {
			continue
		}
		if of := metric.Surplus.Effect(e); of != nil {
			by[of.Verdict] = append(by[of.Verdict], amount(e.Factor, e.To)+apart(of))
		}
	}
	var parts []string
	for _, say := range []struct{ verdict, words string }{
		{record.Worsens, "more with "}, {record.Improves, "less with "}, {record.NoDifference, "as much with "},
	} {
		if list := by[say.verdict]; len(list) > 0 {
			parts = append(parts, say.words+join(list, "and"))
		}
	}
	switch open := by[record.Inconclusive]; {
	case len(parts) > 0:
		return "There is " + strings.Join(parts, "; ") + "."
	case len(open) > 0:
		return "What else moves that is inconclusive."
	}
	return ""
}

// size is what a treatment's figures are scaled by: what is true of it, rather than
// what is said.
func size(t *record.Treatment) float64 { return max(t.Goodput.MeanBps, t.LimitBps) }

// plural chooses the verb: a factor's name may be a plural itself.
func plural(name, one, many string) string {
	if strings.HasSuffix(strings.Fields(name)[0], "s") {
		return many
	}
	return one
}

// verdictOnPublished says what the published rise is, if this run can: the truth has
// none, the program's figure has one, and it was predicted without the program.
func verdictOnPublished(run *record.Run, f record.Factor, top *record.Treatment) string {
	a := toolreport.Agree(run.Trials)
	predicted := ""
	if a.Trials > 0 {
		predicted = fmt.Sprintf("%.0f %% of it follows from what the kernel counts, without asking %s", 100*a.Ratio, top.ToolReported.Tool)
		if top.ToolReported.Processes == 0 {
			predicted = fmt.Sprintf("%.0f %% of it is what was left in send buffers", 100*a.Ratio)
		}
	}
	rows := Rows(run, f)
	first := rows[0].ToolReported
	rise, from := "", ""
	if len(run.Published) > 0 {
		rise = "The published rise (" + published(run) + ")"
	}
	if first != nil {
		low, _ := quantity(run.Unit, first.SumBps, size(top))
		high, suffix := quantity(run.Unit, top.ToolReported.SumBps, size(top))
		from = fmt.Sprintf("%s → %s %s", low, high, suffix)
	}
	e := leading(run, top, f.Name)
	flat := e != nil && !e.Ratio.None && e.Ratio.High > 0 && e.Ratio.High < 1+run.Margin
	if e == nil && top.Goodput.Confidence > 0 {
		flat = top.Goodput.HighBps < (1+run.Margin)*rows[0].Goodput.MeanBps
	}
	explained := a.Trials > 0 && a.Ratio >= 0.85 && a.Ratio <= 1.15
	switch {
	case rise == "" && predicted == "":
		return ""
	case rise == "":
		return "Of the surplus " + strings.Replace(predicted, " of it", "", 1) + "."
	case flat && explained && from != "":
		return fmt.Sprintf("%s is an accounting artefact, here %s: %s.", rise, from, predicted)
	case a.Trials == 0:
		return rise + " does not show here: no trial had a surplus of 2 % or more."
	}
	return fmt.Sprintf("%s is not settled by this run, in which the sum goes %s: %s.", rise, from, predicted)
}

// published spells the first and the last figures of the tables.
func published(run *record.Run) string {
	var list []string
	for _, p := range run.Published {
		for _, s := range p.Series[:min(1, len(p.Series))] {
			if n := len(s.Points); n > 1 {
				low, _ := quantity(run.Unit, s.Points[0].Bps, s.Points[n-1].Bps)
				high, suffix := quantity(run.Unit, s.Points[n-1].Bps, s.Points[n-1].Bps)
				list = append(list, fmt.Sprintf("%s → %s %s", low, high, suffix))
			}
		}
	}
	return join(list, "and")
}
