package present

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/science/conclude"
	"linerate/internal/science/tuning"
	"linerate/internal/show/answer"
	"linerate/internal/show/document"
	"linerate/internal/show/evidence"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// Tune shows the result of trying a list of settings: the answer, and the effect of each setting.
// Runs are the runs that were made for it, and pages their pages, in the order of the runs that
// have one.
func Tune(result *record.Tune, name string, runs []*record.Run, pages []string) document.Document {
	var d document.Document
	trials := 0
	if len(runs) > 0 {
		took := 0.0
		for _, r := range runs {
			trials, took = trials+len(r.Trials), took+r.DurationS
		}
		r := runs[0]
		d.About = []string{fmt.Sprintf("tune · %s · %s × %s · seed %d · %s", name,
			words.Count(len(r.Treatments), "treatment"), blocks(r), r.Seed, number.Seconds(took))}
		if control := tuning.BaselineControl(r); control != "" {
			d.About[0] += " · as it is: " + control
		}
		d.Warnings = warnings(view.New(r))
		for _, r := range runs[1:] {
			if why := evidence.WhyInDoubt(r); why != "" {
				d.Warnings = append(d.Warnings, fmt.Sprintf("In doubt: of run %s, %s: linerate report %[1]s.",
					r.ID, why))
			}
		}
	}
	for i, c := range append([]*record.Tune{result}, result.Conditions...) {
		text := c.Answer
		if at := answer.Condition(c); at != "" {
			text = at + ": " + text
		}
		// Each sentence is a paragraph: with figures in each they are hard to read as one.
		var said []document.Block
		for n, sentence := range strings.SplitAfter(text, ". ") {
			if i == 0 && n == 0 {
				d.Answer = strings.TrimSpace(sentence)
			} else {
				said = append(said, document.Prose{Text: strings.TrimSpace(sentence)})
			}
		}
		if said != nil {
			d.Summary = append(d.Summary, said)
		}
		switch {
		case c.Run == "":
		case c.Search != nil:
			d.Summary = append(d.Summary, []document.Block{searched(c)})
		default:
			d.Summary = append(d.Summary, []document.Block{settings(c)})
		}
	}
	if t := absolute(result); t != nil {
		d.Summary = append(d.Summary, []document.Block{t})
	}
	changed := []document.Block{document.Heading{Text: "Corrected or added"}}
	for _, s := range result.Settings {
		text := ""
		switch is := s.Key + " = " + s.Value; {
		case s.Added == "" && s.Corrected != "":
			text = is + ": the list has " + s.Corrected
		case s.Verdict == record.NotTried || s.Added == "":
			continue
		case s.Corrected != "":
			text = is + " is tried in place of the list's " + s.Corrected + ": " + s.Added
		default:
			text = is + " is added: " + s.Added
		}
		changed = append(changed, document.Prose{Text: text})
	}
	if len(changed) > 1 {
		d.Summary = append(d.Summary, changed)
	}
	untried := []document.Block{document.Heading{Text: "Not tried"}}
	var reasons []string
	by := map[string][]string{}
	for _, s := range result.Settings {
		if s.Verdict == record.NotTried {
			if by[s.Why] == nil {
				reasons = append(reasons, s.Why)
			}
			by[s.Why] = append(by[s.Why], s.Key+" = "+s.Value)
		}
	}
	for _, why := range reasons {
		untried = append(untried, document.Prose{Text: fmt.Sprintf("%s: %s", strings.Join(by[why], "; "), why)})
	}
	if len(untried) > 1 {
		d.Summary = append(d.Summary, untried)
	}
	if result.Lint != nil && len(result.Lint.Unread) > 0 {
		lines := []document.Block{document.Heading{Text: "Not read"}}
		for i, u := range result.Lint.Unread {
			if i == shownUnread {
				lines = append(lines, document.Prose{Text: fmt.Sprintf("… and %d more", len(result.Lint.Unread)-i)})
				break
			}
			lines = append(lines, document.Prose{Text: fmt.Sprintf("%s:%d: %s: %s", u.File, u.Line, u.Text, u.Why)})
		}
		d.Summary = append(d.Summary, lines)
	}
	if len(runs) > 0 {
		for _, blocks := range [][]document.Block{evidence.Detects(runs[0]),
			evidence.OutlierStatement(view.New(runs[0]))} {
			if blocks != nil {
				d.Summary = append(d.Summary, blocks)
			}
		}
	}
	var trust []string
	if trials > 0 && len(result.Trust) == 0 {
		trust = []string{fmt.Sprintf("all %s passed every check", words.Count(trials, "trial"))}
	}
	for _, f := range evidence.Grouped(result.Trust) {
		times := ""
		if n := len(f.Checks); n > 1 {
			times = fmt.Sprintf(" %d×, such as", n)
		}
		trust = append(trust, fmt.Sprintf("%s failed%s: %s", f.Check, times, f.Checks[0].Detail))
	}
	last := document.Statements("Trust", trust...)
	if p := result.Proof; p != nil && p.Effect != nil {
		last = append(last, document.Statement{Label: "Proof", Text: fmt.Sprintf("%s by %s: %s (run %s)",
			words.List(p.Settings), words.Verb(len(p.Settings), "itself", "themselves"),
			wording.Effect(p.Effect), p.Run)})
	}
	if result.Kept != "" {
		last = append(last, document.Statement{Label: "Kept", Text: result.Kept})
	}
	if o := result.Offer; o != nil && o.Command != "" {
		last = append(last, document.Statement{Label: "Accept", Text: o.Command, Command: true})
	}
	last = append(last, document.Statements("Page", pages...)...)
	if result.Continue != "" {
		last = append(last, document.Statement{Label: "Continue", Text: result.Continue, Command: true})
	}
	if len(runs) > 0 {
		last = append(last, document.Statement{Label: "Again", Text: runs[0].Again, Command: true})
	}
	if len(last) > 0 {
		d.Summary = append(d.Summary, last)
	}
	return d
}

// blocks formats a run's number of blocks: "8 blocks", or "2 of 8 blocks" if more are planned.
func blocks(run *record.Run) string {
	made, planned := run.Blocks(), run.Design.Replicates
	if made < planned && run.Status != "complete" {
		return fmt.Sprintf("%d of %s", made, words.Count(planned, "block"))
	}
	return words.Count(made, "block")
}

// takenApart returns, for each condition, the effect of each setting of a list that the run takes
// apart.
func takenApart(run *record.Run) (tables []*document.Table) {
	return lists.Map(conclude.Lists(run), settings)
}

// verdictsOnSettings is the order in which settings are listed, useful ones first.
var verdictsOnSettings = []string{record.Helps, record.Trades, record.Mixed, record.Harms, record.Inconclusive,
	record.NoDifference, record.Together}

// differs reports whether an effect improves or worsens a response.
func differs(r metric.Metric, e *record.Effect) bool {
	e = r.Effect(e)
	return e != nil && (e.Verdict == record.Improves || e.Verdict == record.Worsens)
}

// rowName returns the name of a setting in a table. Congestion control includes the values, since
// that of the flows may differ from this machine's.
func rowName(s record.TuneSetting) string {
	name := s.Key
	for _, prior := range s.Prior {
		if s.Key == setting.CongestionControl && s.Value != "" {
			name = "congestion control, " + prior + " → " + s.Value
		}
	}
	if !s.Own() {
		name += " (added)"
	}
	return name
}

// settings returns the table of one condition: a row for each setting below its verdict, and the
// effect of the whole list. Each other response has a row below that if it improves or worsens, and
// always below the list.
func settings(c *record.Tune) *document.Table {
	t := &document.Table{Columns: []document.Column{{Head: answer.Condition(c)}, {}, {}}}
	if slices.ContainsFunc(c.Settings, func(s record.TuneSetting) bool { return s.Alone != nil || s.Removed != nil }) {
		t.Columns[1].Head, t.Columns[2].Head = "alone", "list without it"
	}
	responses := metric.Of(&record.Run{Responses: c.Responses})
	lead, others := responses[0], responses[1:]
	same := answer.HeadingSameAlone(c)
	for _, verdict := range slices.Insert(slices.Clone(verdictsOnSettings),
		slices.Index(verdictsOnSettings, record.NoDifference), same) {
		t.AddSection(verdict)
		for _, s := range c.Settings {
			if answer.Heading(c, s) != verdict {
				continue
			}
			t.Add("  "+rowName(s), answer.Size("", lead, s.Alone), answer.Size("", lead, s.Removed))
			for _, r := range others {
				if differs(r, s.Alone) || differs(r, s.Removed) {
					t.Add("    "+r.Label, answer.Size("", r, s.Alone), answer.Size("", r, s.Removed))
				}
			}
		}
	}
	t.DropEmptySections()
	addEffect(t, responses, "the list as a whole", c.List, true)
	addEffect(t, responses, "as written", c.Written, false)
	addEffect(t, responses, "off again", c.Off, false)
	return t
}

// absolute returns the values of the baseline, the list and what is kept, in units. Nil: no trial
// was made.
func absolute(c *record.Tune) *document.Table {
	t := &document.Table{Columns: []document.Column{{}}}
	var measures []view.Measure
	for _, r := range metric.Of(&record.Run{Responses: c.Responses}) {
		largest := 0.0
		for _, f := range c.Figures {
			largest = max(largest, estimate(f, r).Mean)
		}
		m := view.Measure{Metric: r, Shown: number.Scale{Scale: r.Scale("", largest)}}
		measures = append(measures, m)
		t.Columns = append(t.Columns, document.Column{Head: m.Head()})
	}
	several := slices.ContainsFunc(c.Figures, func(f record.TuneFigure) bool { return f.Run != c.Figures[0].Run })
	for i, f := range c.Figures {
		row := []string{f.Name}
		if several && (i == 0 || f.Run != c.Figures[i-1].Run) {
			t.AddSection(f.Run)
		}
		if f.Name == tuning.KeptLevel && !slices.ContainsFunc(c.Settings, func(s record.TuneSetting) bool {
			return s.Keep
		}) {
			row[0] = "not kept"
		}
		if several {
			row[0] = "  " + row[0]
		}
		for _, m := range measures {
			figure, spread := "", ""
			if e := estimate(f, m.Metric); e.Trials > 0 {
				figure, spread = m.Figure(e)
			}
			row = append(row, strings.TrimSpace(figure+" "+spread))
		}
		t.Add(row...)
	}
	return t.OrNil()
}

// estimate returns the estimate of a response in a figure. Its Trials is 0 if there is none.
func estimate(f record.TuneFigure, r metric.Metric) record.ResponseEstimate {
	for _, e := range f.Responses {
		if e.Response == r.Name {
			return e
		}
	}
	return record.ResponseEstimate{}
}

// searched returns a row for each value that was tried, and one for each other response in which it
// makes a difference.
func searched(c *record.Tune) *document.Table {
	t := &document.Table{Columns: []document.Column{{Head: c.Search.Key}, {Head: "against the largest"},
		{Head: "verdict"}}}
	responses := metric.Of(&record.Run{Responses: c.Responses})
	for _, v := range c.Search.Values {
		if v.Effect == nil {
			t.Add(v.Name, "", "")
		}
		addEffect(t, responses, v.Name, v.Effect, false)
	}
	addEffect(t, responses, "as it is", c.List, false)
	return t
}

// addEffect adds a row for an effect unless it is nil, and one for each other response: all of
// them, or only those that it improves or worsens.
func addEffect(t *document.Table, responses []metric.Metric, name string, e *record.Effect, all bool) {
	if e == nil {
		return
	}
	t.Add(name, answer.Size("", responses[0], e), e.Verdict)
	for _, r := range responses[1:] {
		if of := r.Effect(e); of != nil && (all || differs(r, e)) {
			t.Add("  "+r.Label, answer.Size("", r, e), of.Verdict)
		}
	}
}
