//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// figure is what one turn of a contender came to.
type figure struct {
	rate float64 // in the contest's unit
	// cpu is seconds of all the machine's CPUs for each unit of work (a gigabyte),
	// whatever used them; 0: not measured.
	cpu float64
	// lost is the part of the datagrams that was lost.
	lost float64
	// gigabytes is the amount moved, where cpu has still to be found from it.
	gigabytes float64
	labTimes
}

func rateOf(f figure) float64 { return f.rate }
func cpuOf(f figure) float64  { return f.cpu }

// contender is a tool with its options.
type contender struct {
	name string
	// command is run in host a of the lab (see bench.expand). What {} stands for is in
	// args, by condition, or in the contest's.
	command string
	args    []string
	parse   func([]byte) (figure, error)
	// turn replaces command where a turn is more than one command in the lab.
	turn func(ctx context.Context, l *bench, condition int) (figure, error)
	// needs is an optional program: without it the contender is left out.
	needs string
}

// present is the contest of those contenders whose programs are installed, and the
// marks between them; absent says which are left out.
func (c contest) present(find func(program string) (string, error)) (here contest, absent []string) {
	var out []string
	c.contenders = slices.DeleteFunc(slices.Clone(c.contenders), func(who contender) bool {
		if who.needs == "" {
			return false
		}
		_, err := find(who.needs)
		if err != nil {
			out = append(out, who.name)
			absent = append(absent, fmt.Sprintf("%s: %s is not installed, and left out", c.key, who.needs))
		}
		return err != nil
	})
	c.marks = slices.DeleteFunc(slices.Clone(c.marks), func(m mark) bool {
		return slices.Contains(out, m.who) ||
			slices.Contains(out, m.other)
	})
	return c, absent
}

// mark is a ratio to another contender that linerate is to reach.
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
	level               // the median does not differ from the ratio, or lies above it
	within              // the median differs from 1 by no more
)

// contest is contenders that take turns in every condition.
type contest struct {
	key, Title string
	lab        string // the file of the lab that it is held in; empty: it makes its own
	unit       string // of the rate: "Gbit/s"
	digits     int    // of the rate, after the point
	conditions []string
	args       []string // of the commands, by condition
	contenders []contender
	marks      []mark
	// cpu and lost say that these figures are shown.
	cpu, lost bool
	About     string // what was run, for the page
	often     int    // how many times the usual rounds, where figures are close; 0: once
}

// outcome is every turn of a contest by condition and contender, in the order of
// the rounds.
type outcome struct {
	contest
	turns []map[string][]figure
}

// hold measures a contest: one round that is not counted, and then those that
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
				f, err := c.take(ctx, l, who, k)
				if err == nil && f.rate <= 0 {
					err = errors.New("a rate of nothing")
				}
				if err != nil {
					return nil, fmt.Errorf("%s, round %d, %s, %s: %w", c.key, round, condition, who.name, err)
				}
				if round > 0 {
					o.turns[k][who.name] = append(o.turns[k][who.name], f)
				}
				fmt.Fprintf(os.Stderr, "bench: %s, %s: %-22s %.*f %s (round %d of %d)\n", c.key, condition, who.name,
					c.digits, f.rate, c.unit, round, rounds)
			}
		}
	}
	return o, nil
}

// take measures one turn of a contender in a condition.
func (c contest) take(ctx context.Context, l *bench, who contender, condition int) (f figure, err error) {
	if who.turn != nil {
		return who.turn(ctx, l, condition)
	}
	command := strings.Fields(l.expand(c.command(who, condition)))
	var out []byte
	// linerate ends with status 3 where the machine was the limit, as is meant here.
	cpu, err := busyDuring(func() (err error) { out, err = l.in(ctx, "a", command...); return err })
	if err != nil {
		return figure{}, err
	}
	if f, err = who.parse(out); err != nil {
		return figure{}, fmt.Errorf("%s: %w", command[0], err)
	}
	if f.gigabytes > 0 {
		f.cpu = cpu / f.gigabytes
	}
	return f, nil
}

// command is a contender's, with the argument of a condition.
func (c contest) command(who contender, condition int) string {
	args := who.args
	if args == nil {
		args = c.args
	}
	if args == nil {
		return who.command
	}
	return strings.ReplaceAll(who.command, "{}", args[condition])
}

// values are one contender's figures in a condition, by round.
func (o *outcome) values(condition int, who string, of func(figure) float64) (list []float64) {
	for _, f := range o.turns[condition][who] {
		list = append(list, of(f))
	}
	return list
}

// ratio compares two contenders round by round.
func (o *outcome) ratio(m mark) spread {
	ratios, other := o.values(m.condition, m.who, m.of), o.values(m.condition, m.other, m.of)
	for i := range ratios {
		ratios[i] /= other[i]
	}
	return spreadOf(ratios)
}

func (m mark) met(ratio spread) bool {
	switch m.kind {
	case atMost:
		return ratio.Median <= m.ratio
	case level:
		return ratio.High >= m.ratio
	case within:
		return math.Abs(ratio.Median-1) <= m.ratio
	}
	return ratio.Median >= m.ratio
}

func (m mark) String() string {
	switch m.kind {
	case atMost:
		return fmt.Sprintf("at most %g", m.ratio)
	case level:
		return "at least level"
	case within:
		return fmt.Sprintf("within %g %%", 100*m.ratio)
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

// met reports whether linerate reached every mark.
func (o *outcome) met() bool {
	return !slices.ContainsFunc(o.marks, func(m mark) bool { return !m.met(o.ratio(m)) })
}

func (o *outcome) summary() string {
	text := o.Title + ":"
	for _, m := range o.marks {
		text += fmt.Sprintf("\n  %s, %s, %s against %s: %s (%s: %s)", m.what, o.conditions[m.condition], m.who, m.other,
			o.ratio(m).times(), m, m.result(o.ratio(m)))
	}
	return text
}

// Head, Rows and Marks are tables of the page.

// Head returns the heads of the columns.
func (o *outcome) Head() []string {
	head := append([]string{o.unit}, o.conditions...)
	for _, more := range []struct {
		shown bool
		what  string
	}{{o.lost, "lost, "}, {o.cpu, "CPU s per GB, "}} {
		for _, condition := range o.conditions {
			if more.shown {
				head = append(head, more.what+condition)
			}
		}
	}
	return head
}

// Rows returns a row for each contender.
func (o *outcome) Rows() (rows [][]string) {
	for _, who := range o.contenders {
		row := []string{who.name}
		add := func(shown bool, of func(figure) float64, digits int, scale float64, unit string) {
			for k := range o.conditions {
				if s := spreadOf(o.values(k, who.name, of)); shown {
					row = append(row, s.text(digits, scale, unit))
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

// Marks returns a row for each mark.
func (o *outcome) Marks() (rows [][]string) {
	for _, m := range o.marks {
		ratio := o.ratio(m)
		rows = append(rows, []string{m.what + ", " + o.conditions[m.condition], m.who, m.other, ratio.times(),
			m.String(), m.result(ratio)})
	}
	return rows
}
