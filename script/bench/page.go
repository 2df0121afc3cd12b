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
	// Low and High are the bounds of a 95 % confidence interval of the median. If there
	// are too few values for that, they are the smallest and the largest value.
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

// text shows a spread in a unit, so many of which are one of its own.
func (s spread) text(digits int, scale float64, unit string) string {
	return fmt.Sprintf("%.*f%s (%.*f–%.*f)", digits, s.Median*scale, unit, digits, s.Least*scale, digits, s.Most*scale)
}

// times shows a spread of ratios.
func (s spread) times() string { return s.text(3, 1, "×") }

//go:embed benchmarks.md.tmpl
var pageText string

// page is everything docs/results/benchmarks.md says.
type page struct {
	Machine  machine
	Rounds   int
	Contests []*outcome
}

// row is a line of a table.
func row(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// Rule returns the line that separates the heads of a Markdown table from its rows.
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
