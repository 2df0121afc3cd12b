//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// figure is what one turn of a contender came to.
type figure struct {
	rate float64 // in the contest's unit
	// cpu is seconds of all the machine's CPUs for each unit of work (a gigabyte),
	// whatever used them; 0: not asked for.
	cpu float64
	// lost is the part of the datagrams that was lost.
	lost float64
}

func rateOf(f figure) float64 { return f.rate }
func cpuOf(f figure) float64  { return f.cpu }

// contender is a tool with its options. It takes a turn in one condition of its
// contest, in the lab.
type contender struct {
	name string
	turn func(ctx context.Context, l *bench, condition int) (figure, error)
	// needs is a program that a machine may well lack, and which has been followed by
	// others: without it the contender is left out.
	needs string
}

// present are the contenders that can take part, and the marks that are against them;
// absent says who is left out.
func (c contest) present(find func(program string) (string, error)) (here contest, absent []string) {
	here = c
	here.contenders, here.marks = nil, nil
	out := map[string]bool{}
	for _, who := range c.contenders {
		if who.needs != "" {
			if _, err := find(who.needs); err != nil {
				out[who.name] = true
				absent = append(absent, fmt.Sprintf("%s: %s is not installed, and left out", c.key, who.needs))
				continue
			}
		}
		here.contenders = append(here.contenders, who)
	}
	for _, m := range c.marks {
		if !out[m.who] && !out[m.other] {
			here.marks = append(here.marks, m)
		}
	}
	return here, absent
}

// mark is something that linerate set out to reach against another contender.
type mark struct {
	condition  int
	who, other string
	of         func(figure) float64
	what       string // "rate", "CPU time per GB"
	ratio      float64
	kind       kind
}

// kind says what a mark's ratio is.
type kind int

const (
	atLeast kind = iota // the median is no less
	atMost              // the median is no more
	level               // the median cannot be told from the ratio, or lies above it
)

// contest is contenders that take turns in every condition.
type contest struct {
	key, title string
	unit       string // of the rate: "Gbit/s"
	digits     int    // of the rate, after the point
	conditions []string
	contenders []contender
	marks      []mark
	// cpu and lost say that these figures are shown.
	cpu, lost bool
	about     string // what was run, for the page
	often     int    // how many times the usual rounds, where figures are close; 0: once
}

// outcome is every turn of a contest by condition and contender, in the order of
// the rounds.
type outcome struct {
	contest
	turns []map[string][]figure
}

// hold carries a contest out: one round that is not counted, and then those that
// are. The first contender changes from round to round.
func (c contest) hold(ctx context.Context, l *bench, rounds int) (*outcome, error) {
	c, absent := c.present(exec.LookPath)
	for _, text := range absent {
		fmt.Fprintln(os.Stderr, "bench:", text)
	}
	o := &outcome{contest: c}
	for range c.conditions {
		o.turns = append(o.turns, map[string][]figure{})
	}
	rounds *= max(1, c.often)
	for round := 0; round <= rounds; round++ {
		for k, condition := range c.conditions {
			for i := range c.contenders {
				who := c.contenders[(i+round)%len(c.contenders)]
				f, err := who.turn(ctx, l, k)
				if err == nil && f.rate <= 0 {
					err = errors.New("a rate of nothing")
				}
				if err != nil {
					return nil, fmt.Errorf("%s, round %d, %s, %s: %w", c.key, round, condition, who.name, err)
				}
				if round > 0 {
					o.turns[k][who.name] = append(o.turns[k][who.name], f)
				}
				fmt.Fprintf(os.Stderr, "bench: %s, %s: %-22s %.*f %s (round %d of %d)\n", c.key, condition, who.name, c.digits, f.rate, c.unit, round, rounds)
			}
		}
	}
	return o, nil
}

// spread is one contender's figures in a condition.
func (o *outcome) spread(condition int, who string, of func(figure) float64) spread {
	var all []float64
	for _, f := range o.turns[condition][who] {
		all = append(all, of(f))
	}
	return spreadOf(all)
}

// ratio compares two contenders round by round.
func (o *outcome) ratio(m mark) spread {
	var all []float64
	other := o.turns[m.condition][m.other]
	for i, f := range o.turns[m.condition][m.who] {
		all = append(all, m.of(f)/m.of(other[i]))
	}
	return spreadOf(all)
}

func (m mark) met(ratio spread) bool {
	switch m.kind {
	case atMost:
		return ratio.Median <= m.ratio
	case level:
		return ratio.High >= m.ratio
	}
	return ratio.Median >= m.ratio
}

func (m mark) String() string {
	switch m.kind {
	case atMost:
		return fmt.Sprintf("at most %g", m.ratio)
	case level:
		return "at least level"
	}
	return fmt.Sprintf("at least %g", m.ratio)
}

// result says whether a ratio reaches the mark, and, of one that is to be level,
// by what interval.
func (m mark) result(ratio spread) string {
	text := "reached"
	if !m.met(ratio) {
		text = "**missed**"
	}
	if m.kind == level {
		text += fmt.Sprintf(", %.3f–%.3f", ratio.Low, ratio.High)
	}
	return text
}

// met tells whether linerate reached every mark.
func (o *outcome) met() bool {
	return !slices.ContainsFunc(o.marks, func(m mark) bool { return !m.met(o.ratio(m)) })
}

func (o *outcome) summary() string {
	text := o.title + ":"
	for _, m := range o.marks {
		text += fmt.Sprintf("\n  %s, %s, %s against %s: %s (%s: %s)", m.what, o.conditions[m.condition], m.who, m.other, o.ratio(m).times(), m, m.result(o.ratio(m)))
	}
	return text
}

// Title, About, Head, Rows and Marks are what the page shows.
func (o *outcome) Title() string { return o.title }
func (o *outcome) About() string { return o.about }

// Head is the table's first line.
func (o *outcome) Head() []string {
	head := []string{o.unit}
	head = append(head, o.conditions...)
	for _, condition := range o.conditions {
		if o.lost {
			head = append(head, "lost, "+condition)
		}
	}
	for _, condition := range o.conditions {
		if o.cpu {
			head = append(head, "CPU s per GB, "+condition)
		}
	}
	return head
}

// Rows has a line for each contender.
func (o *outcome) Rows() (rows [][]string) {
	for _, who := range o.contenders {
		row := []string{who.name}
		add := func(shown bool, of func(figure) float64, digits int, scale float64, unit string) {
			for k := range o.conditions {
				if s := o.spread(k, who.name, of); shown {
					row = append(row, fmt.Sprintf("%.*f%s (%.*f–%.*f)", digits, s.Median*scale, unit, digits, s.Least*scale, digits, s.Most*scale))
				}
			}
		}
		add(true, rateOf, o.digits, 1, "")
		add(o.lost, func(f figure) float64 { return f.lost }, 1, 100, " %")
		add(o.cpu, cpuOf, 3, 1, "")
		rows = append(rows, row)
	}
	return rows
}

// Marks has a line for each mark.
func (o *outcome) Marks() (rows [][]string) {
	for _, m := range o.marks {
		ratio := o.ratio(m)
		rows = append(rows, []string{m.what + ", " + o.conditions[m.condition], m.who, m.other, ratio.times(), m.String(), m.result(ratio)})
	}
	return rows
}
