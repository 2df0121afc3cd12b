//go:build linux

package main

import (
	"fmt"
	"math"
)

// mark is what linerate is to reach: a ratio to another contender or, without one, a
// quantity of its own.
type mark struct {
	condition  int
	who, other string
	of         quantity
	bound      float64 // of a ratio, or in the quantity's unit
	kind       kind
}

// kind says what a mark's bound is.
type kind int

const (
	atLeast kind = iota // the median is no less
	atMost              // the median is no more
	level               // the median does not differ from the bound, or lies above it
	within              // the median differs from 1 by no more
)

// reached compares two contenders round by round, or returns the one's own quantity.
func (o *outcome) reached(m mark) spread {
	values := o.values(m.condition, m.who, m.of)
	if m.other == "" {
		for i := range values {
			values[i] *= m.of.scale
		}
		return spreadOf(values)
	}
	for i, other := range o.values(m.condition, m.other, m.of) {
		values[i] /= other
	}
	return spreadOf(values)
}

func (m mark) met(s spread) bool {
	switch m.kind {
	case atMost:
		return s.Median <= m.bound
	case level:
		return s.High >= m.bound
	case within:
		return math.Abs(s.Median-1) <= m.bound
	}
	return s.Median >= m.bound
}

func (m mark) String() string {
	unit := ""
	if m.other == "" {
		unit = " " + m.of.unit
	}
	switch m.kind {
	case atMost:
		return fmt.Sprintf("at most %g%s", m.bound, unit)
	case level:
		return "at least level"
	case within:
		return fmt.Sprintf("within %g %%", 100*m.bound)
	}
	return fmt.Sprintf("at least %g%s", m.bound, unit)
}

// text shows what was reached.
func (m mark) text(s spread) string {
	if m.other == "" {
		return s.text(m.of.digits, 1, "")
	}
	return s.times()
}

// result says whether the mark is reached, and, of a ratio that is to be level, by what
// interval.
func (m mark) result(s spread) string {
	text := "reached"
	if !m.met(s) {
		text = "**missed**"
	}
	if m.kind == level {
		text += fmt.Sprintf(", %.3f–%.3f", s.Low, s.High)
	}
	return text
}

// rival names what a mark compares with, for a table.
func (m mark) rival() string {
	if m.other == "" {
		return "–"
	}
	return m.other
}
