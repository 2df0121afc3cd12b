package present

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/figure"
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

func effectsFigure(v *view) (figure.Figure, bool) {
	f := figure.Figure{Name: "effects", Title: effectsTitle(v), Data: exported(v.run, "effects")}
	left := 0
	var all []effectGroup // which share an axis
	for _, col := range v.columns {
		groups, more := effectGroups(v, col)
		left, all = left+more, append(all, groups...)
		if len(groups) > 0 {
			f.Panels = append(f.Panels, figure.Panel{Title: col.name, Draw: func(width float64) *figure.Drawing {
				low, high := ratioAxis(all, v.run.Margin)
				return effectsPanel(v, groups, low, high, width)
			}})
		}
	}
	if len(f.Panels) == 0 {
		return figure.Figure{}, false
	}
	f.Note = "Each mark is a ratio with its interval"
	if v.run.Confidence > 0 {
		f.Note += fmt.Sprintf("; with %s confidence all of them are right at once", percent(v.run.Confidence))
	}
	f.Note += "."
	if v.run.Margin > 0 {
		f.Note += fmt.Sprintf(" Shaded: ±%.3g %%, which makes no difference in practice.", 100*v.run.Margin)
	}
	if left > 0 {
		f.Note += fmt.Sprintf(" %d more are in the table.", left)
	}
	return f, true
}

// effectGroups are a condition's comparisons that have a ratio, in the run's order,
// and how many more there are.
func effectGroups(v *view, col column) (groups []effectGroup, more int) {
	n := 0
	for i := range v.run.Effects {
		e := &v.run.Effects[i]
		if !holds(e.At, col.levels) || !plottable(e) {
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
	return e.Difference == nil && !e.Ratio.None && e.Ratio.Mean > 0 && finite(e.Ratio.Mean)
}

// groupOf says what effects are compared with: the level, its factor where there are
// several, and the levels of those.
func groupOf(v *view, e *record.Effect) string {
	compare, _ := split(v.run.Factors)
	text := "against " + e.From
	if len(compare) > 1 {
		text = e.Factor + " " + text
	}
	return text + besideLevels(compare, e)
}

// effectsTitle counts what came of the comparisons, in each condition.
func effectsTitle(v *view) string {
	var said []string
	for _, col := range v.columns {
		by, all := map[string]int{}, 0
		for _, e := range v.run.Effects {
			if holds(e.At, col.levels) {
				by[e.Verdict]++
				all++
			}
		}
		if all == 0 {
			continue
		}
		var parts []string
		what := v.lead().Label
		if by[record.Improves] > 0 {
			what = "it"
		}
		for _, say := range []struct{ verdict, one, many string }{
			{record.Improves, "improves " + v.lead().Label, "improve " + v.lead().Label}, {record.Worsens, "worsens " + what, "worsen " + what},
			{record.NoDifference, "makes no difference", "make no difference"}, {record.Inconclusive, "is open", "are open"},
		} {
			if n := by[say.verdict]; n == 1 {
				parts = append(parts, "1 "+say.one)
			} else if n > 1 {
				parts = append(parts, fmt.Sprintf("%d %s", n, say.many))
			}
		}
		text := list(parts)
		if col.name != "" {
			text = col.name + ": " + text
		}
		said = append(said, text)
	}
	return sentence(strings.Join(said, "; "))
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

// ratioTicks are round ratios between two, at most n of them, one always among them.
func ratioTicks(low, high float64, n int) []float64 {
	inside := func(steps []float64) (list []float64) {
		for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
			for _, s := range steps {
				// 0.1 by powers is not 0.1.
				if at, err := strconv.ParseFloat(strconv.FormatFloat(s*math.Pow(10, e), 'g', 6, 64), 64); err == nil && at >= low && at <= high {
					list = append(list, at)
				}
			}
		}
		return list
	}
	for _, step := range []float64{0.01, 0.02, 0.05, 0.1, 0.2} { // near one an even axis reads better
		if (high-low)/step > float64(n) || high > 2 {
			continue
		}
		var list []float64
		for at := math.Ceil(low/step-1e-9) * step; at <= high; at += step {
			list = append(list, math.Round(at/step)*step)
		}
		return list
	}
	for _, steps := range [][]float64{{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}} {
		if list := inside(steps); len(list) <= n {
			return list
		}
	}
	return []float64{1}
}

func effectsPanel(v *view, groups []effectGroup, low, high, width float64) *figure.Drawing {
	// Where there is little room a name stands above its mark.
	stacked := width < 700
	const headHeight, top = 26.0, 8.0
	rowHeight := 25.0
	if stacked {
		rowHeight = 38
	}
	names, values := map[*record.Effect]string{}, map[*record.Effect]string{}
	nameWidth, valueWidth, wordWidth := 0.0, 0.0, 0.0
	rows := 0
	for _, g := range groups {
		for _, e := range g.effects {
			rows++
			names[e] = figure.Plain(e.To)
			size, interval := v.of(e).against(e)
			if values[e] = size; interval != "" && !stacked {
				values[e] += " (" + interval + ")"
			}
			nameWidth = max(nameWidth, figure.TextWidth(names[e], sizeText, false))
			valueWidth = max(valueWidth, figure.TextWidth(values[e], sizeSmall, false))
			wordWidth = max(wordWidth, figure.TextWidth(e.Verdict, sizeSmall, false))
		}
	}
	left, right := min(nameWidth, width*0.34)+14, width-valueWidth-wordWidth-26
	if stacked {
		left, right = 4, width-max(valueWidth, wordWidth)-12
	}
	bottom := top + rowHeight*float64(rows) + headHeight*float64(len(groups))
	d := figure.New(width, bottom+38)
	x := func(r float64) float64 {
		return left + (math.Log(min(max(r, low), high))-math.Log(low))/(math.Log(high)-math.Log(low))*(right-left)
	}
	// The axis lies under marks, not under names.
	spans := [][2]float64{{top, bottom}}
	if stacked {
		spans = nil
		y := top
		for _, g := range groups {
			y += headHeight
			for range g.effects {
				spans = append(spans, [2]float64{y + 17, y + 32})
				y += rowHeight
			}
		}
	}
	ruler := func(role figure.Role, width, at float64) {
		for _, s := range spans {
			d.Line(role, width, figure.Point{X: at, Y: s[0]}, figure.Point{X: at, Y: s[1]})
		}
	}
	if m := v.run.Margin; m > 0 {
		for _, s := range spans {
			d.Rect(x(1-m), s[0], x(1+m)-x(1-m), s[1]-s[0], figure.Faint)
		}
	}
	last := math.Inf(-1)
	for _, at := range ratioTicks(low, high, int(max(3, (right-left)/46))) {
		ruler(figure.Faint, 1, x(at))
		label := strconv.FormatFloat(at, 'g', 4, 64) + "×"
		if half := figure.TextWidth(label, sizeSmall, false) / 2; x(at)-half > last {
			d.Text(x(at), bottom+16, label, figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.Middle})
			last = x(at) + half + 4
		}
	}
	ruler(figure.Ink, 1.2, x(1))
	d.Text(left, bottom+32, v.lead().Label+" as a ratio"+v.lead().sense(), figure.Style{Size: sizeSmall, Role: figure.Muted})
	y := top
	for _, g := range groups {
		d.Text(0, y+17, figure.Fit(figure.Plain(g.against), max(left, width*0.5), sizeText, true), figure.Style{Size: sizeText, Bold: true})
		y += headHeight
		for _, e := range g.effects {
			at := y + rowHeight/2
			if stacked {
				d.Text(0, y+13, figure.Fit(names[e], right-4, sizeText, false), figure.Style{Size: sizeText}).Tip(e.To)
				d.Text(width, y+13, values[e], figure.Style{Size: sizeSmall, Anchor: figure.End})
				d.Text(width, y+28, e.Verdict, figure.Style{Size: sizeSmall, Role: verdictText(e), Anchor: figure.End})
				at = y + 24
			} else {
				d.Text(0, at+4, figure.Fit(names[e], left-12, sizeText, false), figure.Style{Size: sizeText}).Tip(e.To)
				d.Text(width-wordWidth-12, at+4, values[e], figure.Style{Size: sizeSmall, Anchor: figure.End})
				d.Text(width-wordWidth, at+4, e.Verdict, figure.Style{Size: sizeSmall, Role: verdictText(e)})
			}
			effectMark(d, e, at, low, high, x, g.against)
			y += rowHeight
		}
	}
	return d
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
func effectMark(d *figure.Drawing, e *record.Effect, y, low, high float64, x func(float64) float64, against string) {
	role, r := verdictRoles[e.Verdict], e.Ratio
	if r.High > 0 {
		from, to := x(r.Low), x(r.High)
		d.Line(role, 2, figure.Point{X: from, Y: y}, figure.Point{X: to, Y: y})
		for _, end := range []struct {
			x    float64
			over bool
			sign float64
		}{{from, r.Low < low, 1}, {to, r.High > high, -1}} {
			if end.over {
				d.Polygon(role, figure.Point{X: end.x - 2*end.sign, Y: y}, figure.Point{X: end.x + 6*end.sign, Y: y - 4}, figure.Point{X: end.x + 6*end.sign, Y: y + 4})
			} else {
				d.Line(role, 2, figure.Point{X: end.x, Y: y - 4}, figure.Point{X: end.x, Y: y + 4})
			}
		}
	}
	size, interval := ratio(r)
	tip := strings.TrimSuffix(fmt.Sprintf("%s %s: %s %s", e.To, against, size, interval), " ") + ", " + e.Verdict
	d.Circle(figure.Point{X: x(r.Mean), Y: y}, 4.6, role).Tip(tip)
	if e.Verdict == record.Inconclusive {
		d.Circle(figure.Point{X: x(r.Mean), Y: y}, 2.6, figure.Paper).Tip(tip)
	}
}
