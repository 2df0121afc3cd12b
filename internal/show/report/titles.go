package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/record"
)

// A figure's title says what it shows. All titles are made here from the run's
// own words and figures; none knows a study.

// perColumn says something of each condition, and says it once where
// conditions agree: "writes and reads: 1 of 4", "writes: 4 of 4; reads: 1 of 4".
func (v *view) perColumn(say func(c int) string) string {
	type group struct {
		text  string
		names []string
	}
	var groups []group
	for c, col := range v.columns {
		text := say(c)
		if text == "" {
			continue
		}
		at := slices.IndexFunc(groups, func(g group) bool { return g.text == text })
		if at < 0 {
			groups, at = append(groups, group{text: text}), len(groups)
		}
		if col.name != "" {
			groups[at].names = append(groups[at].names, col.name)
		}
	}
	var parts []string
	for _, g := range groups {
		if len(groups) == 1 || len(g.names) == 0 {
			parts = append(parts, g.text)
			continue
		}
		parts = append(parts, g.text+" for "+list(g.names))
	}
	return strings.Join(parts, ", ")
}

// list joins names as in a sentence, and counts them where they are many.
func list(names []string) string {
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return names[0]
	case n > 4:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), n-3)
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// sentence starts with a capital letter, unless it starts with a name that
// must keep its spelling.
func sentence(text string) string {
	if text == "" {
		return text
	}
	first, _, _ := strings.Cut(text, " ")
	if strings.ContainsAny(first, "_=.0123456789") {
		return text
	}
	letters := []rune(text)
	return strings.ToUpper(string(letters[0])) + string(letters[1:])
}

// before and after say something of the baseline and of the best fix.
func (v *view) beforeAfter(say func(r *row, c int) string) string {
	pair := v.pair()
	if len(pair) == 0 {
		return ""
	}
	text := v.perColumn(func(c int) string { return say(pair[0], c) })
	if len(v.rows) > 1 {
		text += " at " + pair[0].name
	}
	if len(pair) == 2 {
		text += "; " + v.perColumn(func(c int) string { return say(pair[1], c) }) + " with " + pair[1].name
	}
	return text
}

func (v *view) responseTitle(m *measure) string {
	amount := func(r *row, c int) string {
		t := r.cells[c].Treatment
		switch {
		case t == nil:
			return ""
		case m.goodput() && t.LimitBps > 0 && r == v.best && v.baseline != nil:
			return percent(t.Efficiency)
		case m.goodput() && t.LimitBps > 0:
			return percent(t.Efficiency) + " of the limit"
		default:
			return m.spell(t)
		}
	}
	if v.best != nil || v.baseline == nil || len(v.rows) == 1 {
		return sentence(m.Label + ": " + v.beforeAfter(amount))
	}
	about := ""
	if !v.ordinary() {
		about = m.Label + ": "
	}
	if v.allAlike(m) {
		return sentence(about + "every treatment is within " + percent(v.run.Margin) + " of " + v.baseline.name)
	}
	if worse := v.worse(m); len(worse) > 0 && !v.ordinary() {
		return sentence(about + v.perColumn(func(c int) string { return amount(v.baseline, c) }) + " at " + v.baseline.name + "; worse with " + list(worse))
	}
	return sentence(about + "no treatment is shown to improve on " + v.baseline.name)
}

// worse names the treatments that are worse than the baseline in some condition.
func (v *view) worse(m *measure) []string {
	var names []string
	for _, r := range v.rows {
		if slices.ContainsFunc(r.cells, func(c cell) bool { e := m.Effect(c.effect); return e != nil && e.Verdict == record.Worsens }) {
			names = append(names, r.name)
		}
	}
	return names
}

// allAlike: no treatment differs from the baseline in a response.
func (v *view) allAlike(m *measure) bool {
	for _, r := range v.rows {
		for _, c := range r.cells {
			if e := m.Effect(c.effect); !r.baseline && (e == nil || e.Verdict != record.NoDifference) {
				return false
			}
		}
	}
	return true
}

func (v *view) portsTitle() string {
	if v.alongCurve() {
		return v.spreadTitle()
	}
	return sentence(v.beforeAfter(func(r *row, c int) string {
		ports := portsOf(r.cells[c].Treatment, v.focus)
		if len(ports) == 0 {
			return ""
		}
		n := carrying(ports)
		verb := "carry"
		if n == 1 {
			verb = "carries"
		}
		if r == v.best && v.baseline != nil {
			return fmt.Sprintf("%d of %d", n, len(ports))
		}
		return fmt.Sprintf("%d of %d interfaces of %s %s the data", n, len(ports), v.focus, verb)
	}))
}

// fullLoad is the part of its rate at which a link counts as full. Where the
// kernel leaves segmentation to the interface, the interface's counters see one header
// for many frames: a full link then shows little more than its payload, 95.6 %.
const fullLoad = 0.94

func (v *view) topologyTitle() string {
	if v.alongCurve() {
		return "Load of each link, in the mean of all trials"
	}
	known := false
	text := v.beforeAfter(func(r *row, c int) string {
		t := r.cells[c].Treatment
		if t == nil {
			return ""
		}
		full := map[string]int{}
		for _, p := range t.Interfaces {
			known = known || p.LimitBps > 0
			if p.LimitBps > 0 && load(p) >= fullLoad*p.LimitBps {
				full[p.Host]++
			}
		}
		n := 0
		for _, k := range full {
			n += k
		}
		switch {
		case r == v.best && v.baseline != nil && n == 0:
			return "none"
		case r == v.best && v.baseline != nil:
			return strconv.Itoa(n)
		case n == 0:
			return "no link is full"
		case n == 1:
			return "1 link is full"
		default:
			return fmt.Sprintf("%d links are full", n)
		}
	})
	if !known {
		return "Load of every link"
	}
	return sentence(text)
}

func (v *view) neighboursTitle() string {
	wrong, all := 0, 0
	for _, r := range v.pair() {
		for _, c := range r.cells {
			w, n := v.wrongEntries(c.Treatment)
			wrong, all = wrong+w, all+n
		}
	}
	switch {
	case all == 0:
		return ""
	case wrong == 0:
		return "Every neighbour entry leads to the interface that holds the address"
	}
	return sentence(v.beforeAfter(func(r *row, c int) string {
		wrong, all := v.wrongEntries(r.cells[c].Treatment)
		after := r == v.best && v.baseline != nil
		switch {
		case all == 0:
			return ""
		case wrong == 0 && after:
			return "none"
		case after:
			return fmt.Sprintf("%d of %d", wrong, all)
		case wrong == 1:
			return fmt.Sprintf("1 of %d neighbour entries leads to the wrong interface", all)
		default:
			return fmt.Sprintf("%d of %d neighbour entries lead to the wrong interface", wrong, all)
		}
	}))
}
