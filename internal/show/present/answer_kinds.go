package present

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// hashing answers a run about flows that a hash placed on equal-cost links.
func hashing(c *record.Conclusion, h *record.HashingResult) (a Answer) {
	band := fmt.Sprintf("in %d of %s the mean lies inside the %.3g %% band of random placement", h.Inside, Count(h.Cases, "case"), 100*c.Confidence)
	if len(h.Outside) > 0 && len(h.Outside) < 4 {
		band += " (not: " + strings.Join(h.Outside, "; ") + ")"
	}
	if len(h.Levels) == 0 {
		a.Headline = strings.TrimSuffix(band, " (not: "+strings.Join(h.Outside, "; ")+")")
		if len(h.Outside) > 0 {
			a.Statements = append(a.Statements, "Outside the band: "+strings.Join(h.Outside[:min(3, len(h.Outside))], "; "))
		}
	} else {
		first, best := h.Levels[0], h.Levels[1]
		for _, l := range h.Levels[1:] {
			if l.FullFrom > 0 && (best.FullFrom == 0 || l.FullFrom < best.FullFrom) {
				best = l
			}
		}
		a.Headline = fit(level(c, first, true)+"; "+level(c, best, true), level(c, first, false)+"; "+level(c, best, false))
		for _, l := range h.Levels {
			if l.Label != first.Label && l.Label != best.Label && len(a.Statements) < 1 {
				a.Statements = append(a.Statements, level(c, l, true))
			}
		}
		a.Statements = append(a.Statements, idle(h.Levels))
		if h.Cases > 0 {
			a.Statements = append(a.Statements, band)
		}
	}
	switch {
	case h.Known > 0 && h.Took == h.Known:
		a.Statements = append(a.Statements, fmt.Sprintf("All %d flows took the link predicted by route lookup", h.Known))
	case h.Known > 0:
		a.Statements = append(a.Statements, fmt.Sprintf("%d of %d flows took the link predicted by route lookup", h.Took, h.Known))
	}
	if h.Cases > 0 {
		a.Statements = append(a.Statements, fmt.Sprintf("A link was idle as often as expected by chance in %d of %s", h.IdleAsExpected, Count(h.Cases, "case")))
	}
	var full []string
	for _, f := range h.Full {
		full = append(full, fmt.Sprintf("%.2f of %d links (%s)", f.Least, f.Links, Count(f.Trials, "trial")))
	}
	if len(full) > 0 {
		a.Statements = append(a.Statements, "Ports chosen to use every link filled at least "+firstFew(full, "and"))
	}
	if h.Chosen > 0 {
		a.Statements = append(a.Statements, fmt.Sprintf("With chosen ports each of %s carried at least %.4g %% of what its links can", Count(h.Chosen, "trial"), 100*h.LeastChosen))
	}
	return a
}

// level says what a compared level makes of the links.
func level(c *record.Conclusion, l record.HashingLevel, figures bool) string {
	value, limit, suffix := "", "", ""
	value, suffix = quantity(c.Unit, l.GoodputBps, l.LimitBps)
	limit, _ = quantity(c.Unit, l.LimitBps, l.LimitBps)
	with := "with " + l.Label
	var text string
	switch {
	case l.OneLink:
		text = with + " all flows share one link"
	case l.FullFrom > 0:
		text = fmt.Sprintf("%s they fill %s links", with, every(l.Links))
	default:
		return fmt.Sprintf("%s %d flows carry %s of %s %s", with, l.Flows, value, limit, suffix)
	}
	if figures {
		text += ", " + value + " " + suffix
	}
	if l.FullFrom > 0 && l.Several {
		text += fmt.Sprintf(", from %d flows on", l.FullFrom)
	}
	return text
}

// idle says how often fewer flows left a link idle.
func idle(levels []record.HashingLevel) string {
	var parts []string
	for _, l := range levels {
		if l.Idle > 0 {
			chance := "by chance"
			if l.Excess {
				chance = "more often than by chance"
			}
			parts = append(parts, fmt.Sprintf("in %d of %d trials with %s (%s)", l.Idle, l.IdleOf, l.Label, chance))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "A link was left idle " + firstFew(parts, "and")
}

// withdrawnPaths answers a run in whose trials paths were withdrawn from running flows.
func withdrawnPaths(list []record.LevelOutages) (a Answer) {
	lost := byLevel(list, func(o record.Outages) string {
		if o.Withdrawn.Flows == 0 {
			return ""
		}
		return lostFor(o.Withdrawn, o.ResolutionS)
	})
	others := byLevel(list, func(o record.Outages) string {
		if o.Others.Flows == 0 {
			return ""
		}
		return moved(o.Others)
	})
	a.Headline = "No path was withdrawn from running flows"
	if len(lost) > 0 {
		const what = "flows whose path was withdrawn received nothing for "
		a.Headline = fit(what+strings.Join(lost, "; "), what+strings.Join(lost[:min(2, len(lost))], "; "), what+lost[0])
		if !strings.HasSuffix(a.Headline, lost[len(lost)-1]) {
			a.Statements = append(a.Statements, "Received nothing for: "+strings.Join(lost, "; "))
		}
	}
	if len(others) > 0 {
		a.Statements = append(a.Statements, "Flows on other paths that moved: "+strings.Join(others, "; "))
	}
	return a
}

// byLevel spells something of each level's outages: "A for this and B for that with one
// level". What is the same in every condition is said once.
func byLevel(list []record.LevelOutages, spell func(record.Outages) string) (parts []string) {
	for i, l := range list {
		if slices.ContainsFunc(list[:i], func(before record.LevelOutages) bool { return before.Label == l.Label }) {
			continue
		}
		var at byText
		for _, same := range list {
			for _, o := range same.Outages {
				text := spell(o)
				if same.Label != l.Label || text == "" {
					continue
				}
				name := same.Condition
				if len(same.Outages) > 1 {
					name = strings.TrimPrefix(fmt.Sprintf("%s, %g s", name, o.AtS), ", ")
				}
				at.add(text, name)
			}
		}
		var texts []string
		for _, text := range at.texts {
			if name := join(at.names[text], "and"); name != "" && len(at.texts) > 1 {
				text += " at " + name
			}
			texts = append(texts, text)
		}
		if len(texts) == 0 {
			continue
		}
		text := join(texts, "and")
		if l.Label != "" {
			text += " with " + l.Label
		}
		parts = append(parts, text)
	}
	return parts
}

// lists answers a run that takes a list of settings apart: what the list does and which
// of its settings do it, in each condition.
func lists(c *record.Conclusion) (a Answer) {
	r := lead(c)
	conditions := slices.Clone(c.Lists)
	changes := func(t *record.Tune) bool {
		return t.List != nil && (t.List.Verdict == record.Improves || t.List.Verdict == record.Worsens)
	}
	slices.SortStableFunc(conditions, func(a, b *record.Tune) int { return b2i(changes(b)) - b2i(changes(a)) })
	for i, t := range conditions {
		if t.List == nil {
			continue
		}
		text := "the list "
		switch t.List.Verdict {
		case record.NoDifference:
			text += fmt.Sprintf("makes no difference to %s beyond ±%.3g %%", r.Label, 100*c.Margin)
		case record.Inconclusive:
			text += "has no certain effect on " + r.Label
		default:
			text += t.List.Verdict + " " + r.Label
		}
		if figure := size(r, t.List); figure != "" {
			text = sized(text, r, t.List)
		}
		if label := conditionOf(t); label != "" {
			text = label + ": " + text
		}
		by := map[string][]string{}
		for _, s := range t.Settings {
			by[s.Verdict] = append(by[s.Verdict], s.Key)
		}
		helps := by[record.Helps]
		long := text
		if len(helps) > 0 {
			long += "; " + firstFew(helps, "and") + verb(len(helps), " does it", " do it")
		}
		if a.Headline == "" {
			a.Headline = fit(long, text)
		} else if i < 3 {
			a.Statements = append(a.Statements, long)
		}
		if most := mostAlone(t); len(helps) > 1 && most != nil && !r.Lower && most.Ratio.High < t.List.Ratio.Low {
			a.Statements = append(a.Statements, "Alone none of them gives more than "+size(r, most))
		}
		for _, say := range []struct{ verdict, words string }{
			{record.Harms, "Harmful: "}, {record.Trades, "Good for one response, bad for another: "}, {record.Mixed, "Depends on the others: "},
			{record.NoDifference, "No difference: "}, {record.Inconclusive, "Inconclusive: "},
		} {
			if names := by[say.verdict]; len(names) > 0 && len(c.Lists) == 1 {
				a.Statements = append(a.Statements, say.words+firstFew(names, "and"))
			}
		}
	}
	return a
}

// mostAlone is the largest effect of a helpful setting by itself; nil: one of them is
// not known.
func mostAlone(t *record.Tune) (most *record.Effect) {
	for _, s := range t.Settings {
		if s.Verdict != record.Helps {
			continue
		}
		if s.Alone == nil || s.Alone.Ratio.None || s.Alone.Ratio.High == 0 {
			return nil
		}
		if most == nil || s.Alone.Ratio.Mean > most.Ratio.Mean {
			most = s.Alone
		}
	}
	return most
}

// toolReport answers a run about what a factor does to goodput and to another program's
// figure.
func toolReport(c *record.Conclusion, t *record.ToolReportResult) (a Answer) {
	largest := max(t.GoodputBps, t.LimitBps)
	name := t.Factor + " " + t.Level
	if _, err := strconv.Atoi(t.Level); err == nil {
		name = t.Level + " " + t.Factor
	}
	goodput := goodputs(c.Unit, []*record.Candidate{{Goodput: record.Estimate{MeanBps: t.GoodputBps}, LimitBps: t.LimitBps}})
	head := "goodput with " + name + " is " + goodput
	if e := t.Cost; e != nil {
		// A loss is positive; its interval need not be symmetric, and nearly is.
		loss, half := 100*(1-e.Ratio.Mean), 50*(e.Ratio.High-e.Ratio.Low)
		switch {
		case e.Ratio.None || e.Ratio.High == 0 || half >= 100:
			a.Statements = append(a.Statements, "What "+name+" cost is not known from this run")
		default:
			mean, spread := (scale{metric.Scale{Per: 1}}).interval(loss, loss-half, loss+half)
			head = fmt.Sprintf("%s cost %s ± %s %% of goodput", name, mean, spread)
			if e.Verdict == record.Inconclusive {
				head += " (inconclusive)"
			}
		}
	}
	s := t.Report
	who := "the senders' sum is"
	if s.Processes > 0 {
		who = s.Tool + " reports"
	}
	over := 0.0
	if s.GoodputBps > 0 {
		over = s.SurplusBps / s.GoodputBps
	}
	sum, suffix := quantity(c.Unit, s.SumBps, largest)
	more := "more"
	if over < 0 {
		more = "less"
	}
	a.Headline = fmt.Sprintf("%s; %s %s %s, %s %% %s than was received", head, who, sum, suffix, round(100*math.Abs(over), 1), more)
	rise := publishedRise(c, t, largest)
	var moves []string
	for _, say := range []struct{ verdict, one, many string }{
		{record.Worsens, "%s adds to that", "%s add to that"}, {record.NoDifference, "%s makes no difference", "%s make no difference"},
		{record.Improves, "%s takes from it", "%s take from it"}, {record.Inconclusive, "whether %s adds to it is open", "whether %s add to it is open"},
	} {
		for i := range t.Surplus {
			if e := &t.Surplus[i]; e.Verdict == say.verdict {
				words := say.one
				if strings.HasSuffix(strings.Fields(e.Factor)[0], "s") { // the name is a plural itself
					words = say.many
				}
				moves = append(moves, fmt.Sprintf(words, e.Factor)+apart(e))
			}
		}
	}
	a.Statements = append([]string{strings.Join(moves, "; "), elsewhere(t), rise}, a.Statements...)
	if t.LimitBps > 0 && s.SumBps > 1.005*t.LimitBps {
		limit, suffix := quantity(c.Unit, t.LimitBps, largest)
		a.Statements = append(a.Statements, fmt.Sprintf("The path can carry no more than %s %s", limit, suffix))
	}
	return a
}

// elsewhere says what becomes of the surplus with other levels.
func elsewhere(t *record.ToolReportResult) string {
	by := map[string][]string{}
	for i := range t.Elsewhere {
		e := &t.Elsewhere[i]
		by[e.Verdict] = append(by[e.Verdict], e.Factor+" "+e.To+apart(e))
	}
	var parts []string
	for _, say := range []struct{ verdict, words string }{
		{record.Worsens, "more with "}, {record.Improves, "less with "}, {record.NoDifference, "as much with "},
	} {
		if list := by[say.verdict]; len(list) > 0 {
			parts = append(parts, say.words+firstFew(list, "and"))
		}
	}
	switch {
	case len(parts) > 0:
		return "The surplus is " + strings.Join(parts, "; ")
	case len(by[record.Inconclusive]) > 0:
		return "What else moves the surplus is inconclusive"
	}
	return ""
}

// publishedRise says what a published rise is, if this run can tell: goodput has none, the
// program's figure has one, and it was predicted without the program.
func publishedRise(c *record.Conclusion, t *record.ToolReportResult, scale float64) string {
	predicted := ""
	if t.PredictedTrials > 0 {
		predicted = fmt.Sprintf("%.0f %% of it follows from what the kernel counts", 100*t.Predicted)
		if t.Report.Processes == 0 {
			predicted = fmt.Sprintf("%.0f %% of it was left in send buffers", 100*t.Predicted)
		}
	}
	if len(t.Published) == 0 {
		return strings.Replace(predicted, " of it ", " of the surplus ", 1)
	}
	var tables []string
	for _, p := range t.Published {
		low, _ := quantity(c.Unit, p[0], p[1])
		high, suffix := quantity(c.Unit, p[1], p[1])
		tables = append(tables, fmt.Sprintf("%s → %s %s", low, high, suffix))
	}
	rise, here := "The published rise ("+join(tables, "and")+")", ""
	if t.FirstSumBps > 0 {
		low, _ := quantity(c.Unit, t.FirstSumBps, scale)
		high, suffix := quantity(c.Unit, t.Report.SumBps, scale)
		here = fmt.Sprintf("%s → %s %s", low, high, suffix)
	}
	switch {
	case t.PredictedTrials == 0:
		return rise + " does not show here: no trial had a surplus of 2 % or more"
	case t.Flat && t.Predicted >= 0.85 && t.Predicted <= 1.15 && here != "":
		return fmt.Sprintf("%s is an accounting artefact, here %s: %s", rise, here, predicted)
	}
	return fmt.Sprintf("%s is not settled by this run, in which the sum goes %s: %s", rise, here, predicted)
}

// apart spells a difference of shares: " (+0.1 ± 0.3 points)".
func apart(e *record.Effect) string {
	d := e.Difference
	if d == nil || d.High <= d.Low {
		return ""
	}
	return fmt.Sprintf(" (%s ± %s points)", plus(round(100*d.Mean, 1)), round(50*(d.High-d.Low), 1))
}
