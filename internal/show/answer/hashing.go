package answer

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/words"
)

// hashing returns the answer of a run about how a hash places flows on equal-cost links.
func hashing(c *record.Conclusion, h *record.HashingResult) (a Answer) {
	band := fmt.Sprintf("in %d of %s the mean lies inside the %.3g %% band of random placement", h.Inside,
		words.Count(h.Cases, "case"), 100*c.Confidence)
	if len(h.Outside) > 0 && len(h.Outside) < 4 {
		band += " (not: " + strings.Join(h.Outside, "; ") + ")"
	}
	if len(h.Levels) == 0 {
		a.Headline = strings.TrimSuffix(band, " (not: "+strings.Join(h.Outside, "; ")+")")
		if len(h.Outside) > 0 {
			a.Statements = append(a.Statements, "Outside the band: "+
				strings.Join(h.Outside[:min(3, len(h.Outside))], "; "))
		}
	} else {
		first, best := h.Levels[0], h.Levels[1]
		for _, l := range h.Levels[1:] {
			if now, before := l.AllFrom(), best.AllFrom(); len(now) > 0 && (len(before) == 0 ||
				now[0].Flows < before[0].Flows) {
				best = l
			}
		}
		a.Headline = fit(level(c, first, true)+"; "+level(c, best, true), level(c, first, false)+"; "+
			level(c, best, false))
		for _, l := range h.Levels {
			if l.Label != first.Label && l.Label != best.Label && len(a.Statements) < 1 {
				a.Statements = append(a.Statements, level(c, l, true))
			}
		}
		a.Statements = append(a.Statements, shared(h.Levels)...)
		if h.Cases > 0 {
			a.Statements = append(a.Statements, band)
		}
	}
	switch {
	case h.Known > 0 && h.Took == h.Known:
		a.Statements = append(a.Statements,
			fmt.Sprintf("All %d flows took the link predicted by route lookup", h.Known))
	case h.Known > 0:
		a.Statements = append(a.Statements, fmt.Sprintf("%d of %d flows took the link predicted by route lookup",
			h.Took, h.Known))
	}
	if h.Cases > 0 && len(h.Levels) == 0 {
		a.Statements = append(a.Statements, fmt.Sprintf("A link was idle as often as expected by chance in %d of %s",
			h.IdleAsExpected, words.Count(h.Cases, "case")))
	}
	var full []string
	for _, f := range h.Full {
		full = append(full, fmt.Sprintf("%.2f of %d links (%s)", f.Least, f.Links, words.Count(f.Trials, "trial")))
	}
	if len(full) > 0 {
		a.Statements = append(a.Statements, "Flows that, by route lookup, use every link filled at least "+
			words.FirstFew(full, "and"))
	}
	if h.Chosen > 0 {
		a.Statements = append(a.Statements,
			fmt.Sprintf("With chosen ports each of %s carried at least %.4g %% of what its links can",
				words.Count(h.Chosen, "trial"), 100*h.LeastChosen))
	}
	return a
}

// level says how a compared level uses the links.
func level(c *record.Conclusion, l record.HashingLevel, figures bool) string {
	last := l.Placed[len(l.Placed)-1]
	from := l.AllFrom()
	text := "with " + l.Label
	switch {
	case l.OneLink():
		text += " all flows share one link"
	case len(from) > 0:
		verb := "fill"
		if slices.ContainsFunc(from, func(p record.PlacedFlows) bool { return !p.Filled }) {
			verb = "use"
		}
		text += fmt.Sprintf(" they %s %s links", verb, words.Every(l.Links))
	default:
		return text + ", " + placed(l, last, true)
	}
	if figures {
		value, unit := quantity(c.Unit, l.GoodputBps, l.LimitBps)
		text += ", " + value + " " + unit
	}
	if len(from) > 0 && len(l.Placed) > 1 {
		text += fmt.Sprintf(", from %d flows on", from[0].Flows)
	}
	return text
}

// placed says in how many trials a number of flows left a link idle. With two links this is how
// often all flows shared one.
func placed(l record.HashingLevel, p record.PlacedFlows, verb bool) string {
	text := words.Count(p.Flows, "flow")
	idle := " leave a link idle"
	if l.Links == 2 {
		idle = " share one link"
	}
	switch {
	case verb && p.Idle == 0:
		return fmt.Sprintf("%s use %s links in all %s", text, words.Every(l.Links), words.Count(p.Trials, "trial"))
	case verb:
		return fmt.Sprintf("%s%s in %d of %s", text, idle, p.Idle, words.Count(p.Trials, "trial"))
	}
	return fmt.Sprintf("%s in %d of %d", text, p.Idle, p.Trials)
}

// shared says how often flows left a link idle by chance, and where a link was idle more often than
// chance explains.
func shared(levels []record.HashingLevel) (said []string) {
	for _, l := range levels {
		var chance, excess []string
		for _, p := range l.Placed {
			list := &chance
			switch {
			case !p.ByChance:
				continue
			case p.Excess:
				list = &excess
			}
			*list = append(*list, placed(l, p, len(*list) == 0))
		}
		if len(chance) > 0 {
			said = append(said, fmt.Sprintf("With %s, %s, as chance has it", l.Label, words.List(chance)))
		}
		if len(excess) > 0 {
			said = append(said, fmt.Sprintf("With %s, %s, more often than by chance", l.Label, words.List(excess)))
		}
	}
	return said
}
