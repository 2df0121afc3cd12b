//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// contender is a tool with its options.
type contender struct {
	name string
	// command is run in host a of the lab (see bench.expand). What {} stands for is in
	// args, by condition, or in the contest's; where it is empty or lacking, it takes no part.
	command string
	args    []string
	parse   func([]byte) (figure, error)
	// server, if its command is given, runs in host b during each turn; {} stands for the same.
	server service
	// turn replaces command where a turn is more than one command in the lab.
	turn func(ctx context.Context, l *bench, condition int) (figure, error)
	// needs is an optional program, and an option of it that not every version has: without
	// it the contender is left out.
	needs string
}

// in reports whether a contender takes part in a condition.
func (who contender) in(condition int) bool {
	return who.args == nil || condition < len(who.args) && who.args[condition] != ""
}

// installed looks for a program and, if one is named behind it, for an option in its help.
func installed(needs string) error {
	words := strings.Fields(needs)
	if _, err := exec.LookPath(words[0]); err != nil || len(words) == 1 {
		return err
	}
	help, _ := exec.Command(words[0], "--help").CombinedOutput() // many exit with a status
	if !strings.Contains(string(help), words[1]) {
		return fmt.Errorf("%s has no %s", words[0], words[1])
	}
	return nil
}

// present is the contest of those contenders whose programs are installed, and the
// marks between them; what is left out is in absent.
func (c contest) present(find func(needs string) error) contest {
	var out []string
	c.contenders = slices.DeleteFunc(slices.Clone(c.contenders), func(who contender) bool {
		if who.needs == "" || find(who.needs) == nil {
			return false
		}
		out = append(out, who.name)
		c.absent = append(c.absent, fmt.Sprintf("%s (no %s is installed)", who.name, who.needs))
		return true
	})
	c.marks = slices.DeleteFunc(slices.Clone(c.marks), func(m mark) bool {
		return slices.Contains(out, m.who) || slices.Contains(out, m.other)
	})
	return c
}

// contest is contenders that take turns in every condition.
type contest struct {
	key, Title string
	lab        string // the file of the lab that is made for it; empty: its turns make their own
	services   []service
	conditions []string
	args       []string // of the commands, by condition
	contenders []contender
	shown      []quantity
	marks      []mark
	About      string // what was run, for the page
	often      int    // how many times the usual rounds, where figures are close; 0: once
	absent     []string
}

// outcome is every turn of a contest by condition and contender, in the order of
// the rounds.
type outcome struct {
	contest
	turns  []map[string][]figure
	failed error // why it could not be measured
}

// hold measures a contest: one round that is not counted, and then those that
// are. The first contender changes from round to round.
func (c contest) hold(ctx context.Context, l *bench, rounds int) *outcome {
	o := &outcome{contest: c.present(installed)}
	for _, text := range o.absent {
		fmt.Fprintf(os.Stderr, "bench: %s: left out: %s\n", c.key, text)
	}
	if l != nil {
		if o.failed = l.enter(ctx, c); o.failed != nil {
			return o
		}
	}
	for range c.conditions {
		o.turns = append(o.turns, map[string][]figure{})
	}
	rounds *= max(1, c.often)
	for round := 0; round <= rounds; round++ {
		for k, condition := range o.conditions {
			for i := range o.contenders {
				who := o.contenders[(i+round)%len(o.contenders)]
				if !who.in(k) {
					continue
				}
				f, err := o.take(ctx, l, who, k)
				// One turn that fails, such as by a port in use, does not cost all others.
				if err != nil && ctx.Err() == nil {
					fmt.Fprintf(os.Stderr, "bench: %s, %s, %s, once more after: %v\n", c.key, condition, who.name, err)
					f, err = o.take(ctx, l, who, k)
				}
				if err != nil {
					o.failed = fmt.Errorf("%s, round %d, %s, %s: %w", c.key, round, condition, who.name, err)
					return o
				}
				if round > 0 {
					o.turns[k][who.name] = append(o.turns[k][who.name], f)
				}
				fmt.Fprintf(os.Stderr, "bench: %s, %s: %-22s %s (round %d of %d)\n", c.key, condition, who.name,
					o.line(f), round, rounds)
			}
		}
	}
	return o
}

// line shows a figure.
func (c contest) line(f figure) string {
	var texts []string
	for _, q := range c.shown {
		if v := q.of(f); v != 0 {
			texts = append(texts, fmt.Sprintf("%s %.*f %s", q.name, q.digits, v*q.scale, q.unit))
		}
	}
	return strings.Join(texts, ", ")
}

// take measures one turn of a contender in a condition.
func (c contest) take(ctx context.Context, l *bench, who contender, condition int) (f figure, err error) {
	if who.turn != nil {
		f, err = who.turn(ctx, l, condition)
	} else {
		f, err = c.command(ctx, l, who, condition)
	}
	if err == nil && c.shown[0].of(f) <= 0 {
		err = fmt.Errorf("a %s of nothing", c.shown[0].name)
	}
	return f, err
}

// command runs a contender's command.
func (c contest) command(ctx context.Context, l *bench, who contender, condition int) (f figure, err error) {
	if who.server.command != "" {
		s := who.server
		s.command = c.with(s.command, who, condition)
		end, err := l.serve(ctx, s)
		if err != nil {
			return f, err
		}
		defer end()
	}
	var out []byte
	var spent float64
	var failed error // matters only where there are no figures
	cpu, err := busyDuring(func() error {
		out, spent, failed = l.spent(ctx, c.with(who.command, who, condition))
		return nil
	})
	if err != nil {
		return f, err
	}
	if f, err = who.parse(out); err != nil {
		return figure{}, errors.Join(err, failed)
	}
	if f.units > 0 {
		f.cpu, f.client = cpu/f.units, spent/f.units
	}
	return f, nil
}

// with is a command with the contender's argument of a condition.
func (c contest) with(command string, who contender, condition int) string {
	args := who.args
	if args == nil {
		args = c.args
	}
	if args == nil {
		return command
	}
	return strings.ReplaceAll(command, "{}", args[condition])
}

// values are one contender's figures in a condition, by round.
func (o *outcome) values(condition int, who string, q quantity) (list []float64) {
	for _, f := range o.turns[condition][who] {
		list = append(list, q.of(f))
	}
	return list
}

// met reports whether linerate reached every mark.
func (o *outcome) met() bool {
	return o.failed == nil &&
		!slices.ContainsFunc(o.marks, func(m mark) bool { return !m.met(o.reached(m)) })
}

// summary is what a terminal shows of a contest that is over.
func (o *outcome) summary() string {
	text := o.Title + ":"
	if o.failed != nil {
		return text + " not measured: " + o.failed.Error()
	}
	for _, row := range o.Rows() {
		text += "\n  " + strings.Join(row[:2], ", ") + ":"
		for i, q := range o.shown {
			if cell := row[2+i]; cell != "–" {
				text += fmt.Sprintf(" %s %s %s;", q.name, cell, q.unit)
			}
		}
	}
	for _, row := range o.Marks() {
		text += fmt.Sprintf("\n  %s, %s against %s: %s (%s: %s)", row[0], row[1], row[2], row[3], row[4], row[5])
	}
	return text
}

// Absent, Failed, Head, Rows and Marks are parts of the page.

// Absent returns which contenders were left out, and why; empty: none.
func (o *outcome) Absent() string { return strings.Join(o.absent, "; ") }

// Failed returns why the contest could not be measured; nil: it was.
func (o *outcome) Failed() error { return o.failed }

// Head returns the heads of the columns.
func (o *outcome) Head() []string {
	head := []string{"", ""}
	for _, q := range o.shown {
		head = append(head, q.head())
	}
	return head
}

// Rows returns a row for each condition and contender.
func (o *outcome) Rows() (rows [][]string) {
	for k, condition := range o.conditions {
		for _, who := range o.contenders {
			if !who.in(k) {
				continue
			}
			row := []string{condition, who.name}
			for _, q := range o.shown {
				row = append(row, q.cell(spreadOf(o.values(k, who.name, q))))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Marks returns a row for each mark.
func (o *outcome) Marks() (rows [][]string) {
	for _, m := range o.marks {
		s := o.reached(m)
		rows = append(rows, []string{m.of.name + ", " + o.conditions[m.condition], m.who, m.rival(), m.text(s),
			m.String(), m.result(s)})
	}
	return rows
}
