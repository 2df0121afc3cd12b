//go:build linux

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/template"
)

// spread is a median with the least and the most.
type spread struct {
	Least, Median, Most float64
	// Low and High bound the median with 95 % confidence, or as near to it as the
	// least and the most of so few come.
	Low, High float64
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	r := rank(n)
	return spread{Least: s[0], Median: (s[(n-1)/2] + s[n/2]) / 2, Most: s[n-1], Low: s[r], High: s[n-1-r]}
}

// rank is how many of n values are left out at each end of an interval that holds
// the median with 95 % confidence: each value lies above it or below it like a coin
// (the order statistics' interval, of no distribution in particular).
func rank(n int) int {
	left, tail := 0, 0.0
	for chance := math.Pow(0.5, float64(n)); left < n/2; left++ {
		if tail += chance; 2*tail > 0.05 {
			break
		}
		chance *= float64(n-left) / float64(left+1)
	}
	return max(0, left-1)
}

// seconds shows a spread of times.
func (s spread) seconds() string {
	return fmt.Sprintf("%.3f s (%.3f–%.3f)", s.Median, s.Least, s.Most)
}

// times shows a spread of ratios.
func (s spread) times() string {
	return fmt.Sprintf("%.3f× (%.3f–%.3f)", s.Median, s.Least, s.Most)
}

//go:embed benchmarks.md.tmpl
var pageText string

// page is everything docs/benchmarks.md says.
type page struct {
	Machine  machine
	Rounds   int
	Lab      *outcome // nil: not measured
	Contests []*outcome
}

type labRow struct{ What, Linerate, Mininet, Ratio, Mark string }

// LabRows is the table of the lab's start-up.
func (p page) LabRows() []labRow {
	row := func(what string, of func(figure) float64, text string) labRow {
		times := func(who string) string { return spreadOf(p.Lab.values(0, who, of)).seconds() }
		return labRow{what, times("linerate"), times("Mininet"), p.Lab.ratio(mark{who: "linerate", other: "Mininet", of: of}).times(), text}
	}
	after := row("CPU time of the machine in the 3 s after", afterOf, "")
	after.Ratio = "" // both may be nothing
	return []labRow{row("up, agents ready", upOf, lab.marks[0].String()), row("down", downOf, lab.marks[1].String()), row("the whole command", wallOf, ""), after}
}

// row is a line of a table.
func row(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// Rule is the line below a table's first.
func (o *outcome) Rule() string { return strings.Repeat("|---", len(o.Head())) + "|" }

func (p page) render() ([]byte, error) {
	t, err := template.New("benchmarks.md").Funcs(template.FuncMap{"row": row}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
