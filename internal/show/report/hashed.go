package report

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/science/ecmp"
)

// Flows that a hash placed over equal-cost links, beside what chance leads to expect,
// as a table: a line for each number of flows and links.

// hashedLine is one treatment.
type hashedLine struct {
	Row                                string // empty: there is one only
	Links, Flows                       string
	Expected, Band, Measured           string
	Idle, Chance, Counts, Share, Wrong string
}

// alongCurve: the run compares nothing, and all its treatments have a line in the
// table of flows that a hash placed.
func (v *view) alongCurve() bool {
	if len(v.rows) == 0 || v.baseline != nil {
		return false
	}
	held := 0
	for _, c := range v.placed() {
		held += len(c.groups)
	}
	return held == len(v.run.Treatments)
}

// placed are the curves of rows in which a hash placed each flow by itself.
func (v *view) placed() (curves []flowCurve) {
	for _, c := range v.curves {
		c.groups = slices.DeleteFunc(slices.Clone(c.groups), func(g ecmp.Group) bool { return !g.EachPlaced() })
		if len(c.groups) > 0 && c.byChance() {
			curves = append(curves, c)
		}
	}
	return curves
}

func (v *view) hashedLines() (lines []hashedLine) {
	curves := v.placed()
	several := slices.ContainsFunc(curves, func(c flowCurve) bool { return c.name != curves[0].name && c.links == curves[0].links })
	for _, c := range curves {
		for _, g := range c.groups {
			l := hashedLine{
				Links: fmt.Sprint(g.Links), Flows: fmt.Sprint(g.Flows), Expected: fixed(g.Mean, 3), Band: fixed(g.Low, 2) + "–" + fixed(g.High, 2),
				Measured: fixed(g.Measured, 3), Idle: fmt.Sprintf("%d of %d", g.Unused, g.Replicates), Chance: percent(g.SomeUnused),
				Counts: fmt.Sprintf("%d–%d", g.Few, g.Many), Share: percent(g.UnusedLow) + " to " + percent(g.UnusedHigh),
			}
			if g.Few == g.Many {
				l.Counts = fmt.Sprint(g.Few)
			}
			if g.Low == g.High {
				l.Band = fixed(g.Low, 2)
			}
			if g.To > g.From {
				l.Measured += " ±" + fixed((g.To-g.From)/2, 3)
			}
			if several {
				l.Row = c.name
			}
			switch {
			case !g.Inside && !g.AsOften():
				l.Wrong = "mean outside, idle too rarely or too often"
			case !g.Inside:
				l.Wrong = "mean outside"
			case !g.AsOften():
				l.Wrong = "idle too rarely or too often"
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// hashedNote says what the table is in.
func (v *view) hashedNote() string {
	for _, c := range v.placed() {
		return fmt.Sprintf("Links' worth (%s each) that hashed flows carried", linkRate(c.groups[0].LinkBps))
	}
	return ""
}

// onEach is how many flows fell on each link, all treatments of a curve together.
func (c flowCurve) onEach() []int {
	on := make([]int, c.links)
	for _, g := range c.groups {
		for i, load := range g.On {
			on[i] += load.Flows
		}
	}
	return on
}

// spreadTitle says which part of the flows each link had, at least and at most.
func (v *view) spreadTitle() string {
	var parts []string
	for _, c := range v.placed() {
		on, all := c.onEach(), 0
		for _, n := range on {
			all += n
		}
		low, high := percent(float64(slices.Min(on))/float64(all)), percent(float64(slices.Max(on))/float64(all))
		if low != high {
			low += " to " + high
		}
		parts = append(parts, fmt.Sprintf("each of %s had %s", count(c.links, "link"), low))
	}
	return sentence(strings.Join(parts, ", ") + " of the flows")
}

func (t *terminal) hashed(v *view) {
	lines := v.hashedLines()
	if len(lines) == 0 {
		return
	}
	t.blank()
	t.line("", "  "+v.hashedNote())
	rows := [][]string{
		{"", "", "", "expected", v.confidence(), "measured", "a link", "expected", ""},
		{"", "links", "flows", "mean", "of means", "mean", "idle in", "in", ""},
	}
	for _, l := range lines {
		wrong := ""
		if l.Wrong != "" {
			wrong = "✗"
		}
		rows = append(rows, []string{cut(plain(l.Row), 14), padLeft(l.Links, 5), padLeft(l.Flows, 5), l.Expected, l.Band, l.Measured, l.Idle, l.Counts, wrong})
	}
	for i := range rows {
		if lines[0].Row == "" {
			rows[i] = rows[i][1:]
		}
	}
	t.columns(rows)
	if slices.ContainsFunc(lines, func(l hashedLine) bool { return l.Wrong != "" }) {
		t.paragraph(dim, "  ", "  ", "✗ The mean is outside, or a link was idle too rarely or too often, for chance alone.")
	}
	t.blank()
	for i, c := range v.placed() {
		label := ""
		if i == 0 {
			label = "On each"
		}
		name := count(c.links, "link")
		if lines[0].Row != "" {
			name = c.name + ", " + name
		}
		t.labelled(label, fmt.Sprintf("of %s: %s flows, all trials together", name, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.onEach()), " ", ", "), "[]")))
	}
}
