package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/toolreport"
	"linerate/internal/show/document"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// Published returns a sentence for each series of a published table, with its figures beside those
// of the run. A level that occurs several times in the table, such as once for each interval, is
// shown by its mean and range. Tables along numbers are drawn instead (package chart), and have no
// sentence.
func Published(v *view.View) (lines []string) {
	for _, p := range v.Run.Published {
		for _, s := range p.Series {
			var parts []string
			for i, point := range s.Points {
				_, err := strconv.ParseFloat(point.Level, 64)
				again := slices.ContainsFunc(s.Points[:i], func(o record.PublishedPoint) bool {
					return o.Level == point.Level
				})
				if t := publishedLevel(v, p.Factor, point.Level, s.Name); t != nil && err != nil && !again {
					parts = append(parts, fmt.Sprintf("%s %s, here %s", point.Level, publishedFigure(v, s, point.Level),
						v.Scale.Spell(t.Goodput.MeanBps)))
				}
			}
			if len(parts) > 0 {
				lines = append(lines, fmt.Sprintf("%s, %s: %s. %s: %s.", p.Name, s.Name, strings.Join(parts, "; "),
					p.About, p.Origin))
			}
		}
	}
	return lines
}

// publishedFigure formats the mean of a series at a level, with its range.
func publishedFigure(v *view.View, s record.PublishedSeries, level string) string {
	var list []float64
	sum := 0.0
	for _, point := range s.Points {
		if point.Level == level {
			list, sum = append(list, point.Bps), sum+point.Bps
		}
	}
	text := v.Scale.Spell(sum / float64(len(list)))
	if low, high := slices.Min(list), slices.Max(list); low < high {
		text += fmt.Sprintf(" (%s to %s)", v.Scale.Value(low), v.Scale.Value(high))
	}
	return text
}

// publishedLevel returns the run's treatment at a level of a factor. If another factor has a level
// with the name of the series, it is the treatment at that level. Nil: there is none.
func publishedLevel(v *view.View, factor, level, series string) *record.Treatment {
	named := slices.ContainsFunc(v.Run.Factors, func(f record.Factor) bool {
		return f.Name != factor && slices.ContainsFunc(f.Levels, func(l record.Level) bool { return l.Name == series })
	})
	i := slices.IndexFunc(v.Run.Treatments, func(t record.Treatment) bool {
		if t.Levels[factor] != level {
			return false
		}
		for _, other := range t.Levels {
			if named && other == series {
				return true
			}
		}
		return !named
	})
	if i < 0 {
		return nil
	}
	return &v.Run.Treatments[i]
}

// ToolReports returns a table of what other programs report, or what the senders count, beside what
// was received. Nil: there is no such report.
func ToolReports(v *view.View) *document.Table {
	t := &document.Table{Caption: "Other counts, beside what was received, " + v.Scale.Unit,
		Columns: []document.Column{{Head: "treatment"}, {Head: "counted as", From: 100, Wrap: true},
			{Head: "says", Align: document.Decimal}, {Head: "received", Align: document.Decimal},
			{Head: "surplus", Align: document.Decimal}, {Head: "predicted", Align: document.Decimal}}}
	for r, c := range v.Each() {
		cell := r.Treatments[c]
		s := cell.ToolReported
		if s == nil {
			continue
		}
		how, predicted := cmp.Or(s.Method, "counted at the sender"), ""
		if s.TransactionsPerS != 0 {
			perS := func(n float64) string { return fmt.Sprintf("%.4g/s", n) }
			t.Add(v.Label(r, c), how, perS(s.TransactionsPerS), perS(s.CountedTransactionsPerS),
				perS(s.TransactionsPerS-s.CountedTransactionsPerS), "")
			continue
		}
		if s.PredictedBps != 0 {
			predicted = number.Round(s.PredictedBps*v.Scale.Per, 2)
		}
		t.Add(v.Label(r, c), how, v.Scale.Value(s.SumBps), v.Scale.Value(cell.Goodput.MeanBps),
			number.Round((s.SumBps-cell.Goodput.MeanBps)*v.Scale.Per, 2), predicted)
	}
	if a := toolreport.Agree(v.Run.Trials); a.Trials > 0 {
		t.Notes = append(t.Notes,
			fmt.Sprintf(
				"The prediction is %s of the surplus in the %s with one of 2 %% or more, and within 15 %% of it in "+
					"%d of them (%.2f to %.2f).",
				number.Percent(a.Ratio), words.Count(a.Trials, "trial"), a.Within, a.Low, a.High))
	}
	return t.OrNil()
}
