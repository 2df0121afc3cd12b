package chart

import (
	"fmt"
	"slices"

	"linerate/internal/model/plain"
	"linerate/internal/show/figure"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// interfacesFigure draws each interface's share of its host's traffic, by treatment.
func interfacesFigure(v *view.View) (figure.Figure, bool) {
	v = v.Whole()
	names := v.InterfaceNames(0, len(v.Columns))
	if len(names) < 2 {
		return figure.Figure{}, false // with a single interface there is nothing to show
	}
	f := figure.Figure{Name: "interfaces", Title: interfacesTitle(v), Data: v.InterfacesCSV(),
		Note: "Share of " + v.Traffic() +
			" on each of its interfaces, in the direction the data flows; small dots are trials."}
	for c, col := range v.Columns {
		f.Panels = append(f.Panels, figure.Panel{Title: col.Name, Draw: func(width float64) *figure.Drawing {
			return sharesPanel(v, c, names, width)
		}})
	}
	return f, true
}

// minimum width of a cell with a number in it.
const shareCell = 42.0

func sharesPanel(v *view.View, c int, interfaces []string, width float64) *figure.Drawing {
	nameWidth, names, rowHeight := nameColumn(v, width)
	rowHeight = max(rowHeight, 38)
	left, top := nameWidth+10, 20.0
	d := figure.New(width, top+rowHeight*float64(len(v.Rows))+4)
	wide := (width - left) / float64(len(interfaces))
	numbers := wide >= shareCell
	countWidth := 0.0
	if numbers {
		wide = min(wide, 96)
		for p, name := range interfaces {
			x := left + wide*float64(p)
			d.Text(x, top-6, fitTail(plain.Line(name), wide-8), figure.Style{Size: sizeSmall, Role: figure.Muted}).Tip(
				name)
		}
	} else {
		countWidth = figure.TextWidth("000 of 000", sizeSmall, false) + 8
		wide = (width - left - countWidth) / float64(len(interfaces))
		d.Text(left, top-6, figure.Fit(plain.Line(interfaces[0]), 80, sizeSmall, false),
			figure.Style{Size: sizeSmall, Role: figure.Muted})
		d.Text(width-countWidth, top-6, fitTail(plain.Line(interfaces[len(interfaces)-1]), 80),
			figure.Style{Size: sizeSmall, Role: figure.Muted, Anchor: figure.End})
	}
	largest := 1e-9
	for _, r := range v.Rows {
		for _, p := range view.InterfacesOf(r.Treatments[c], v.Focus) {
			largest = max(largest, min(p.Share, 1))
		}
	}
	for i := range v.Rows {
		r := &v.Rows[i]
		y := top + rowHeight*float64(i)
		drawName(d, names[i], 0, y+rowHeight/2, r.Name)
		role := figure.Change
		if r.Baseline {
			role = figure.Base
		}
		loads := view.InterfacesOf(r.Treatments[c], v.Focus)
		for _, p := range loads {
			x := left + wide*float64(slices.Index(interfaces, p.Interface))
			tip := fmt.Sprintf("%s, %s: %s, %s", v.Label(r, c), p.Interface, number.Percent(p.Share),
				number.LinkRate(view.Load(p)))
			share := min(max(p.Share, 0), 1)
			if !numbers {
				height := (rowHeight - 8) * share / largest
				d.Rect(x, y+rowHeight-4-height, max(wide-1, wide*0.7), max(height, 0.8), role).Tip(tip)
				continue
			}
			style := figure.Style{Size: sizeText}
			if p.Share < 0.005 {
				style.Role = figure.Muted
			}
			d.Text(x, y+rowHeight/2+1, number.Percent(p.Share), style).Tip(tip)
			d.Rect(x, y+rowHeight/2+6, wide-8, 6, figure.Faint).Tip(tip)
			d.Rect(x, y+rowHeight/2+6, (wide-8)*share, 6, role).Tip(tip)
			var trials []dot
			for _, share := range v.TrialShares(r.Treatments[c], p, loads) {
				trials = append(trials, dot{value: share, tip: fmt.Sprintf("%s, %s in one trial: %s", v.Label(r, c),
					p.Interface, number.Percent(share))})
			}
			plot{Drawing: d}.dots(trials, 5, figure.Ink, linear(0, 1, x, x+wide-8),
				func(at, away float64) figure.Point {
					return figure.Point{X: at, Y: y + rowHeight/2 + 12.5 + away}
				})
		}
		if !numbers && len(loads) > 0 {
			d.Text(width, y+rowHeight/2+4, fmt.Sprintf("%d of %d", view.Carrying(loads), len(loads)),
				figure.Style{Size: sizeSmall, Anchor: figure.End})
		}
	}
	return d
}

func interfacesTitle(v *view.View) string {
	if v.AlongCurve() {
		return spreadTitle(v)
	}
	return words.Sentence(v.BeforeAfter(func(r *view.Row, c int) string {
		interfaces := view.InterfacesOf(r.Treatments[c], v.Focus)
		if len(interfaces) == 0 {
			return ""
		}
		n := view.Carrying(interfaces)
		if r == v.Best && v.Baseline != nil {
			return fmt.Sprintf("%d of %d", n, len(interfaces))
		}
		return fmt.Sprintf("%d of %d interfaces of %s %s the data", n, len(interfaces), v.Focus,
			words.Verb(n, "carries", "carry"))
	}))
}
