package answer

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/words"
)

// hashing answers a run about flows that a hash placed on equal-cost links.
func hashing(c *record.Conclusion, h *record.HashingResult) (a Answer) {
	band := fmt.Sprintf("in %d of %s the mean lies inside the %.3g %% band of random placement", h.Inside, words.Count(h.Cases, "case"), 100*c.Confidence)
	if len(h.Outside) > 0 && len(h.Outside) < 4 {
		band += " (not: " + strings.Join(h.Outside, "; ") + ")"
	}
	if len(h.Levels) == 0 {
		a.Headline = strings.TrimSuffix(band, " (not: "+strings.Join(h.Outside, "; ")+")")
		if len(h.Outside) > 0 {
			a.Statements = append(a.Statements, "Outside the band: "+strings.Join(h.Outside[:min(3, len(h.Outside))], "; "))
		}
	} else {
		first, best := h.Levels[0], h.Levels[1]
		for _, l := range h.Levels[1:] {
			if l.FullFrom > 0 && (best.FullFrom == 0 || l.FullFrom < best.FullFrom) {
				best = l
			}
		}
		a.Headline = fit(level(c, first, true)+"; "+level(c, best, true), level(c, first, false)+"; "+level(c, best, false))
		for _, l := range h.Levels {
			if l.Label != first.Label && l.Label != best.Label && len(a.Statements) < 1 {
				a.Statements = append(a.Statements, level(c, l, true))
			}
		}
		a.Statements = append(a.Statements, idle(h.Levels))
		if h.Cases > 0 {
			a.Statements = append(a.Statements, band)
		}
	}
	switch {
	case h.Known > 0 && h.Took == h.Known:
		a.Statements = append(a.Statements, fmt.Sprintf("All %d flows took the link predicted by route lookup", h.Known))
	case h.Known > 0:
		a.Statements = append(a.Statements, fmt.Sprintf("%d of %d flows took the link predicted by route lookup", h.Took, h.Known))
	}
	if h.Cases > 0 {
		a.Statements = append(a.Statements, fmt.Sprintf("A link was idle as often as expected by chance in %d of %s", h.IdleAsExpected, words.Count(h.Cases, "case")))
	}
	var full []string
	for _, f := range h.Full {
		full = append(full, fmt.Sprintf("%.2f of %d links (%s)", f.Least, f.Links, words.Count(f.Trials, "trial")))
	}
	if len(full) > 0 {
		a.Statements = append(a.Statements, "Ports chosen to use every link filled at least "+words.FirstFew(full, "and"))
	}
	if h.Chosen > 0 {
		a.Statements = append(a.Statements, fmt.Sprintf("With chosen ports each of %s carried at least %.4g %% of what its links can", words.Count(h.Chosen, "trial"), 100*h.LeastChosen))
	}
	return a
}

// level says what a compared level makes of the links.
func level(c *record.Conclusion, l record.HashingLevel, figures bool) string {
	value, limit, suffix := "", "", ""
	value, suffix = quantity(c.Unit, l.GoodputBps, l.LimitBps)
	limit, _ = quantity(c.Unit, l.LimitBps, l.LimitBps)
	with := "with " + l.Label
	var text string
	switch {
	case l.OneLink:
		text = with + " all flows share one link"
	case l.FullFrom > 0:
		text = fmt.Sprintf("%s they fill %s links", with, words.Every(l.Links))
	default:
		return fmt.Sprintf("%s %d flows carry %s of %s %s", with, l.Flows, value, limit, suffix)
	}
	if figures {
		text += ", " + value + " " + suffix
	}
	if l.FullFrom > 0 && l.Several {
		text += fmt.Sprintf(", from %d flows on", l.FullFrom)
	}
	return text
}

// idle says how often fewer flows left a link idle.
func idle(levels []record.HashingLevel) string {
	var parts []string
	for _, l := range levels {
		if l.Idle > 0 {
			chance := "by chance"
			if l.Excess {
				chance = "more often than by chance"
			}
			parts = append(parts, fmt.Sprintf("in %d of %d trials with %s (%s)", l.Idle, l.IdleOf, l.Label, chance))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "A link was left idle " + words.FirstFew(parts, "and")
}
