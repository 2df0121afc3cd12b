package chart

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/show/evidence"
	"linerate/internal/show/export"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// A forest plot shows every comparison of a run with its interval on one axis of ratios, so that
// effects stand out. The axis is logarithmic because half and twice are equally far from one.

// mostEffects is the maximum number of comparisons in a panel. The table has all of them.
const mostEffects = 60

func effectsFigure(v *view.View) (figure.Figure, bool) {
	f := figure.Figure{Name: "effects", Title: effectsTitle(v), Data: export.Rows(v.Run, "effects")}
	left := 0
	what := "Each mark is a ratio with its interval"
	for _, s := range []sizing{ratiosOf(v), differencesOf(v)} {
		var all []effectGroup // effects that share an axis
		for _, col := range v.Columns {
			groups, more := effectGroups(v, col, s)
			left, all = left+more, append(all, groups...)
			if len(groups) == 0 {
				continue
			}
			if s.panel != "" {
				what = "Each mark is a ratio or, where there is none, a difference, with its interval"
			}
			f.Panels = append(f.Panels, figure.Panel{Title: strings.TrimPrefix(col.Name+s.panel, ": "),
				Draw: func(width float64) *figure.Drawing {
					return effectsPanel(v, groups, s, s.span(all), width)
				}})
		}
	}
	if len(f.Panels) == 0 {
		return figure.Figure{}, false
	}
	f.Note = what
	if v.Run.Confidence > 0 {
		f.Note += fmt.Sprintf("; with %s confidence all of them are right at once", number.Percent(v.Run.Confidence))
	}
	f.Note += ". Small dots are blocks."
	if v.Run.Margin > 0 {
		f.Note += fmt.Sprintf(" Shaded: ±%.3g %%, which makes no difference in practice.", 100*v.Run.Margin)
	}
	if left > 0 {
		f.Note += fmt.Sprintf(" %d more are in the table.", left)
	}
	return f, true
}

// effectGroups returns a condition's comparisons of this kind of size, in the run's order, and the
// number of those left out.
func effectGroups(v *view.View, col view.Column, s sizing) (groups []effectGroup, more int) {
	n := 0
	for i := range v.Run.Effects {
		e := &v.Run.Effects[i]
		if size, ok := s.size(e); !ok || !number.Finite(size.Mean) || !view.Holds(e.At, col.Levels) {
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
		groups[at].effects = append(groups[at].effects, newDrawnEffect(v, e, s))
	}
	return groups, more
}

// groupOf describes what effects are compared with: the level, its factor if there are several, and
// the levels of the other factors.
func groupOf(v *view.View, e *record.Effect) string {
	compare, _ := view.Split(v.Run.Factors)
	text := "against " + e.From
	if len(compare) > 1 {
		text = e.Factor + " " + text
	}
	return text + evidence.BesideLevels(compare, e)
}

// effectsTitle counts the verdicts in each condition.
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
			{record.Improves, "improves " + v.Lead().Label, "improve " + v.Lead().Label},
			{record.Worsens, "worsens " + what, "worsen " + what},
			{record.NoDifference, "makes no difference", "make no difference"}, {record.Inconclusive, "is inconclusive",
				"are inconclusive"},
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

// verdictRoles has the colours of verdicts. The word is shown too.
var verdictRoles = map[string]figure.Role{
	record.Improves: figure.Change, record.Worsens: figure.Limit, record.NoDifference: figure.Base,
	record.Inconclusive: figure.Ink,
}

// effectRow is a row of a forest plot. Without an effect it is a heading.
type effectRow struct {
	drawnEffect
	name, value string
	y           float64 // upper edge
}

// effectRows returns the rows of a panel from top to bottom.
func effectRows(v *view.View, groups []effectGroup, stacked bool) (rows []effectRow) {
	for _, g := range groups {
		rows = append(rows, effectRow{name: plain.Line(g.against)})
		for _, e := range g.effects {
			value, interval := v.MeasureOf(e.Effect).Against(e.Effect)
			if !stacked {
				value = number.Bracketed(value, interval)
			}
			rows = append(rows, effectRow{drawnEffect: e, name: plain.Line(e.To), value: value})
		}
	}
	return rows
}

func effectsPanel(v *view.View, groups []effectGroup, s sizing, span [2]float64, width float64) *figure.Drawing {
	// In a narrow panel the name is above its mark.
	const headHeight, markHeight = 26.0, 22.0
	stacked, nameHeight := width < 700, 0.0
	if stacked {
		nameHeight = 17
	}
	rows := effectRows(v, groups, stacked)
	nameWidth, valueWidth, wordWidth := 0.0, 0.0, 0.0
	var blocks [][]dot
	for _, r := range rows {
		if r.Effect == nil {
			continue
		}
		blocks = append(blocks, r.blocks)
		nameWidth = max(nameWidth, figure.TextWidth(r.name, sizeText, false))
		valueWidth = max(valueWidth, figure.TextWidth(r.value, sizeSmall, false))
		wordWidth = max(wordWidth, figure.TextWidth(r.Verdict, sizeSmall, false))
	}
	p := plot{top: 8, left: min(nameWidth, width*0.34) + 14, right: width - valueWidth - wordWidth - 26}
	if stacked {
		p.left, p.right = 4, width-max(valueWidth, wordWidth)-12
	}
	p.x = s.scale(span[0], span[1], p.left, p.right)
	room := dotRoom(blocks, p.x, 0, 16)
	rowHeight := nameHeight + markHeight + room
	p.bottom = p.top
	for i := range rows {
		rows[i].y = p.bottom
		if p.bottom += rowHeight; rows[i].Effect == nil {
			p.bottom += headHeight - rowHeight
		}
	}
	p.Drawing = figure.New(width, p.bottom+38)
	s.background(p, v, rows, span, nameHeight, rowHeight)
	against := ""
	for _, r := range rows {
		if r.Effect == nil {
			against = r.name
			p.Text(0, r.y+17, figure.Fit(r.name, max(p.left, width*0.5), sizeText, true),
				figure.Style{Size: sizeText, Bold: true})
			continue
		}
		at, text := r.y+nameHeight+9, r.y+rowHeight/2+4
		word := figure.Style{Size: sizeSmall, Role: verdictText(r.Effect)}
		if stacked {
			word.Anchor = figure.End
			p.Text(0, r.y+13, figure.Fit(r.name, p.right-4, sizeText, false), figure.Style{Size: sizeText}).Tip(r.To)
			p.Text(width, r.y+13, r.value, figure.Style{Size: sizeSmall, Anchor: figure.End})
			p.Text(width, r.y+28, r.Verdict, word)
		} else {
			p.Text(0, text, figure.Fit(r.name, p.left-12, sizeText, false), figure.Style{Size: sizeText}).Tip(r.To)
			p.Text(width-wordWidth-12, text, r.value, figure.Style{Size: sizeSmall, Anchor: figure.End})
			p.Text(width-wordWidth, text, r.Verdict, word)
		}
		size := number.Bracketed(v.MeasureOf(r.Effect).Against(r.Effect))
		p.effectMark(r.drawnEffect, at, span, r.To+" "+against+": "+size+", "+r.Verdict)
		p.dots(r.blocks, room, figure.Ink, p.x, func(x, away float64) figure.Point {
			return figure.Point{X: x, Y: at + 8 + away}
		})
	}
	return p.Drawing
}

// background draws what is behind the marks, but not behind names: the margin, the lines of the
// axis and its labels.
func (s sizing) background(p plot, v *view.View, rows []effectRow, span [2]float64, nameHeight, rowHeight float64) {
	under := func(draw func(top, bottom float64)) {
		for _, r := range rows {
			if r.Effect != nil {
				draw(r.y+nameHeight, r.y+rowHeight)
			}
		}
	}
	ruler := func(role figure.Role, width, value float64) {
		under(func(top, bottom float64) {
			p.Line(role, width, figure.Point{X: p.x(value), Y: top}, figure.Point{X: p.x(value), Y: bottom})
		})
	}
	if s.margin > 0 {
		from, to := p.x(s.none-s.margin), p.x(s.none+s.margin)
		under(func(top, bottom float64) { p.Rect(from, top, to-from, bottom-top, figure.Faint) })
	}
	marks, labels := s.ticks(span[0], span[1], int(max(3, (p.right-p.left)/46)))
	for _, mark := range marks {
		ruler(figure.Faint, 1, mark)
	}
	p.xLabels(marks, labels)
	ruler(figure.Ink, 1.2, s.none)
	p.Text(p.left, p.bottom+32, v.Lead().Label+s.axis+v.Lead().Sense(), small(figure.Start))
}

// verdictText returns the colour of the verdict's word: the grey of bars is too pale for text.
func verdictText(e *record.Effect) figure.Role {
	if e.Verdict == record.NoDifference {
		return figure.Muted
	}
	return verdictRoles[e.Verdict]
}

// effectMark draws an effect as a point with its interval, and arrows where that extends beyond the
// axis. An inconclusive effect is hollow.
func (p plot) effectMark(e drawnEffect, y float64, span [2]float64, tip string) {
	role, size := verdictRoles[e.Verdict], e.size
	if size.High > size.Low {
		from, to := p.x(size.Low), p.x(size.High)
		p.Line(role, 2, figure.Point{X: from, Y: y}, figure.Point{X: to, Y: y})
		for _, end := range []struct {
			x    float64
			over bool
			sign float64
		}{{from, size.Low < span[0], 1}, {to, size.High > span[1], -1}} {
			if end.over {
				p.Polygon(role, figure.Point{X: end.x - 2*end.sign, Y: y}, figure.Point{X: end.x + 6*end.sign,
					Y: y - 4}, figure.Point{X: end.x + 6*end.sign, Y: y + 4})
			} else {
				p.Line(role, 2, figure.Point{X: end.x, Y: y - 4}, figure.Point{X: end.x, Y: y + 4})
			}
		}
	}
	p.Circle(figure.Point{X: p.x(size.Mean), Y: y}, 4.6, role).Tip(tip)
	if e.Verdict == record.Inconclusive {
		p.Circle(figure.Point{X: p.x(size.Mean), Y: y}, 2.6, figure.Paper).Tip(tip)
	}
}
