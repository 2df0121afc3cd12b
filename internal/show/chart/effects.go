package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/evidence"
	"linerate/internal/show/export"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// A forest plot: every comparison of a run on one axis of ratios, each with its
// interval, so that what does something stands out from what does not. The axis is
// logarithmic, because half and twice are as far from the same.

// mostEffects is how many comparisons a panel has; the table has all.
const mostEffects = 60

// effectGroup are comparisons with the same level, at the same conditions.
type effectGroup struct {
	against string
	effects []*record.Effect
}

func effectsFigure(v *view.View) (figure.Figure, bool) {
	f := figure.Figure{Name: "effects", Title: effectsTitle(v), Data: export.Rows(v.Run, "effects")}
	left := 0
	var all []effectGroup // which share an axis
	for _, col := range v.Columns {
		groups, more := effectGroups(v, col)
		left, all = left+more, append(all, groups...)
		if len(groups) > 0 {
			f.Panels = append(f.Panels, figure.Panel{Title: col.Name, Draw: func(width float64) *figure.Drawing {
				low, high := ratioAxis(all, v.Run.Margin)
				return effectsPanel(v, groups, low, high, width)
			}})
		}
	}
	if len(f.Panels) == 0 {
		return figure.Figure{}, false
	}
	f.Note = "Each mark is a ratio with its interval"
	if v.Run.Confidence > 0 {
		f.Note += fmt.Sprintf("; with %s confidence all of them are right at once", number.Percent(v.Run.Confidence))
	}
	f.Note += "."
	if v.Run.Margin > 0 {
		f.Note += fmt.Sprintf(" Shaded: ±%.3g %%, which makes no difference in practice.", 100*v.Run.Margin)
	}
	if left > 0 {
		f.Note += fmt.Sprintf(" %d more are in the table.", left)
	}
	return f, true
}

// effectGroups are a condition's comparisons that have a ratio, in the run's order,
// and how many more there are.
func effectGroups(v *view.View, col view.Column) (groups []effectGroup, more int) {
	n := 0
	for i := range v.Run.Effects {
		e := &v.Run.Effects[i]
		if !view.Holds(e.At, col.Levels) || !plottable(e) {
			continue
		}
		if n++; n > mostEffects {
			more++
			continue
		}
		against := groupOf(v, e)
		at := slices.IndexFunc(groups, func(g effectGroup) bool { return g.against == against })
		if at < 0 {
			at, groups = len(groups), append(groups, effectGroup{against: against})
		}
		groups[at].effects = append(groups[at].effects, e)
	}
	return groups, more
}

func plottable(e *record.Effect) bool {
	return e.Difference == nil && !e.Ratio.None && e.Ratio.Mean > 0 && number.Finite(e.Ratio.Mean)
}

// groupOf says what effects are compared with: the level, its factor where there are
// several, and the levels of those.
func groupOf(v *view.View, e *record.Effect) string {
	compare, _ := view.Split(v.Run.Factors)
	text := "against " + e.From
	if len(compare) > 1 {
		text = e.Factor + " " + text
	}
	return text + evidence.BesideLevels(compare, e)
}

// effectsTitle counts what came of the comparisons, in each condition.
func effectsTitle(v *view.View) string {
	var said []string
	for _, col := range v.Columns {
		by, all := map[string]int{}, 0
		for _, e := range v.Run.Effects {
			if view.Holds(e.At, col.Levels) {
				by[e.Verdict]++
				all++
			}
		}
		if all == 0 {
			continue
		}
		var parts []string
		what := v.Lead().Label
		if by[record.Improves] > 0 {
			what = "it"
		}
		for _, say := range []struct{ verdict, one, many string }{
			{record.Improves, "improves " + v.Lead().Label, "improve " + v.Lead().Label}, {record.Worsens, "worsens " + what, "worsen " + what},
			{record.NoDifference, "makes no difference", "make no difference"}, {record.Inconclusive, "is open", "are open"},
		} {
			if n := by[say.verdict]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, words.Verb(n, say.one, say.many)))
			}
		}
		text := words.List(parts)
		if col.Name != "" {
			text = col.Name + ": " + text
		}
		said = append(said, text)
	}
	return words.Sentence(strings.Join(said, "; "))
}

// verdictRoles colour what an effect does; the word stands beside it.
var verdictRoles = map[string]figure.Role{
	record.Improves: figure.Change, record.Worsens: figure.Limit, record.NoDifference: figure.Base, record.Inconclusive: figure.Ink,
}

// ratioAxis is how far ratios go: as far as the figures do, and their intervals where
// those are not much wider. It always has the margin and some room around it.
func ratioAxis(groups []effectGroup, margin float64) (low, high float64) {
	low, high = 1/(1+4*max(margin, 0.02)), 1+4*max(margin, 0.02)
	for _, g := range groups {
		for _, e := range g.effects {
			r := e.Ratio
			low, high = min(low, r.Mean), max(high, r.Mean)
			if r.High > 0 {
				low, high = min(low, max(r.Low, r.Mean/2)), max(high, min(r.High, r.Mean*2))
			}
		}
	}
	low = max(low, high/1e6)
	room := math.Pow(high/low, 0.03)
	return low / room, high * room
}

// ratioLadders are the labelled ratios within a power of ten, densest first.
var ratioLadders = [][]float64{{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}}

// ratioTicks are round ratios between two, at most n of them, one always among them:
// evenly spaced near one, where that reads better than powers of ten.
func ratioTicks(low, high float64, n int) []float64 {
	if low > 0.4 && high <= 2 {
		return ticks(low, high, n)
	}
	list := logTicks(low, high, n, ratioLadders...)
	if len(list) > n {
		return []float64{1}
	}
	return list
}

// effectRow is a line of a forest plot: a heading where it has no effect.
type effectRow struct {
	*record.Effect
	name, value string
	y           float64 // its upper edge
}

// effectRows lays out a panel's lines from top to bottom.
func effectRows(v *view.View, groups []effectGroup, y, headHeight, rowHeight float64, stacked bool) (rows []effectRow, bottom float64) {
	for _, g := range groups {
		rows = append(rows, effectRow{name: figure.Plain(g.against), y: y})
		y += headHeight
		for _, e := range g.effects {
			value, interval := v.MeasureOf(e).Against(e)
			if !stacked {
				value = number.Bracketed(value, interval)
			}
			rows = append(rows, effectRow{e, figure.Plain(e.To), value, y})
			y += rowHeight
		}
	}
	return rows, y
}

func effectsPanel(v *view.View, groups []effectGroup, low, high, width float64) *figure.Drawing {
	// Where there is little room a name stands above its mark.
	const headHeight = 26.0
	stacked, rowHeight := width < 700, 25.0
	if stacked {
		rowHeight = 38
	}
	p := plot{top: 8}
	rows, bottom := effectRows(v, groups, p.top, headHeight, rowHeight, stacked)
	p.bottom, p.Drawing = bottom, figure.New(width, bottom+38)
	nameWidth, valueWidth, wordWidth := 0.0, 0.0, 0.0
	var spans [][2]float64 // the axis lies under marks, not under names
	for _, r := range rows {
		if r.Effect == nil {
			continue
		}
		nameWidth = max(nameWidth, figure.TextWidth(r.name, sizeText, false))
		valueWidth = max(valueWidth, figure.TextWidth(r.value, sizeSmall, false))
		wordWidth = max(wordWidth, figure.TextWidth(r.Verdict, sizeSmall, false))
		span := [2]float64{r.y, r.y + rowHeight}
		if stacked {
			span = [2]float64{r.y + 17, r.y + 32}
		}
		spans = append(spans, span)
	}
	p.left, p.right = min(nameWidth, width*0.34)+14, width-valueWidth-wordWidth-26
	if stacked {
		p.left, p.right = 4, width-max(valueWidth, wordWidth)-12
	}
	p.x = logarithmic(low, high, p.left, p.right)
	ruler := func(role figure.Role, width, ratio float64) {
		for _, s := range spans {
			p.Line(role, width, figure.Point{X: p.x(ratio), Y: s[0]}, figure.Point{X: p.x(ratio), Y: s[1]})
		}
	}
	if m := v.Run.Margin; m > 0 {
		for _, s := range spans {
			p.Rect(p.x(1-m), s[0], p.x(1+m)-p.x(1-m), s[1]-s[0], figure.Faint)
		}
	}
	marks := ratioTicks(low, high, int(max(3, (p.right-p.left)/46)))
	var labels []string
	for _, mark := range marks {
		ruler(figure.Faint, 1, mark)
		labels = append(labels, strconv.FormatFloat(mark, 'g', 4, 64)+"×")
	}
	p.xLabels(marks, labels)
	ruler(figure.Ink, 1.2, 1)
	p.Text(p.left, p.bottom+32, v.Lead().Label+" as a ratio"+v.Lead().Sense(), small(figure.Start))
	against := ""
	for _, r := range rows {
		at := r.y + rowHeight/2
		switch {
		case r.Effect == nil:
			against = r.name
			p.Text(0, r.y+17, figure.Fit(r.name, max(p.left, width*0.5), sizeText, true), figure.Style{Size: sizeText, Bold: true})
			continue
		case stacked:
			p.Text(0, r.y+13, figure.Fit(r.name, p.right-4, sizeText, false), figure.Style{Size: sizeText}).Tip(r.To)
			p.Text(width, r.y+13, r.value, figure.Style{Size: sizeSmall, Anchor: figure.End})
			p.Text(width, r.y+28, r.Verdict, figure.Style{Size: sizeSmall, Role: verdictText(r.Effect), Anchor: figure.End})
			at = r.y + 24
		default:
			p.Text(0, at+4, figure.Fit(r.name, p.left-12, sizeText, false), figure.Style{Size: sizeText}).Tip(r.To)
			p.Text(width-wordWidth-12, at+4, r.value, figure.Style{Size: sizeSmall, Anchor: figure.End})
			p.Text(width-wordWidth, at+4, r.Verdict, figure.Style{Size: sizeSmall, Role: verdictText(r.Effect)})
		}
		p.effectMark(r.Effect, at, low, high, against)
	}
	return p.Drawing
}

// verdictText is the role of the word: a grey that is for bars is too pale for text.
func verdictText(e *record.Effect) figure.Role {
	if e.Verdict == record.NoDifference {
		return figure.Muted
	}
	return verdictRoles[e.Verdict]
}

// effectMark draws an effect: a point and its interval, with arrows where that goes
// beyond the axis. What is open is hollow.
func (p plot) effectMark(e *record.Effect, y, low, high float64, against string) {
	role, r := verdictRoles[e.Verdict], e.Ratio
	if r.High > 0 {
		from, to := p.x(r.Low), p.x(r.High)
		p.Line(role, 2, figure.Point{X: from, Y: y}, figure.Point{X: to, Y: y})
		for _, end := range []struct {
			x    float64
			over bool
			sign float64
		}{{from, r.Low < low, 1}, {to, r.High > high, -1}} {
			if end.over {
				p.Polygon(role, figure.Point{X: end.x - 2*end.sign, Y: y}, figure.Point{X: end.x + 6*end.sign, Y: y - 4}, figure.Point{X: end.x + 6*end.sign, Y: y + 4})
			} else {
				p.Line(role, 2, figure.Point{X: end.x, Y: y - 4}, figure.Point{X: end.x, Y: y + 4})
			}
		}
	}
	size, interval := view.Ratio(r)
	tip := strings.TrimSuffix(fmt.Sprintf("%s %s: %s %s", e.To, against, size, interval), " ") + ", " + e.Verdict
	p.Circle(figure.Point{X: p.x(r.Mean), Y: y}, 4.6, role).Tip(tip)
	if e.Verdict == record.Inconclusive {
		p.Circle(figure.Point{X: p.x(r.Mean), Y: y}, 2.6, figure.Paper).Tip(tip)
	}
}
