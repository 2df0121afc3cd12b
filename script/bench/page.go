//go:build linux

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"text/template"
)

// spread is a median with the least and the most.
type spread struct{ Least, Median, Most float64 }

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return spread{s[0], (s[(n-1)/2] + s[n/2]) / 2, s[n-1]}
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
	Machine machine
	Rounds  int
	Lab     *labResult
}

type labRow struct{ What, Linerate, Mininet, Ratio, Mark string }

// LabRows is the table of the lab's start-up.
func (p page) LabRows() []labRow {
	row := func(what string, of func(labTurn) float64, mark string) labRow {
		return labRow{what, each(p.Lab.Linerate, of).seconds(), each(p.Lab.Mininet, of).seconds(), p.Lab.ratio(of).times(), mark}
	}
	after := row("CPU time of the machine in the 3 s after", afterOf, "")
	after.Ratio = "" // both may be nothing
	return []labRow{
		row("up, agents ready", upOf, fmt.Sprintf("at most %g", upMark)),
		row("down", downOf, fmt.Sprintf("at most %g", downMark)),
		row("the whole command", wallOf, ""),
		after,
	}
}

func (p page) render() ([]byte, error) {
	t, err := template.New("benchmarks.md").Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
