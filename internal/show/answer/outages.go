package answer

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/words"
)

// LostFor formats how long flows of a group received nothing: the median and the longest time.
func LostFor(g record.OutageGroup, resolutionS float64) string {
	text := record.SpellLost(g.LostS, g.LostAtMostS)
	switch {
	case g.Flows == 0:
		return "–"
	case g.Stopped == g.Flows:
		return "the rest of the window"
	case g.LostS == 0:
		text = "less than " + unit.FormatSeconds(max(resolutionS, g.LostAtMostS))
	}
	switch most := unit.FormatSeconds(g.MostLostS); {
	case g.Stopped > 0:
		text += fmt.Sprintf(" (%d of %d for the rest of the window)", g.Stopped, g.Flows)
	case g.MostLostS > max(g.LostS, resolutionS) && most != unit.FormatSeconds(g.LostS):
		text += " (longest " + most + ")"
	}
	return text
}

// Moved formats how many flows of a group arrived on another path.
func Moved(g record.OutageGroup) string {
	switch {
	case g.Flows == 0:
		return "–"
	case g.Moved == 0:
		return fmt.Sprintf("none of %d", g.Flows)
	case g.Moved == g.Flows:
		return fmt.Sprintf("all %d", g.Flows)
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", g.Moved, g.Flows, 100*float64(g.Moved)/float64(g.Flows))
}

// withdrawnPaths returns the answer of a run whose trials withdrew paths from running flows.
func withdrawnPaths(list []record.LevelOutages) (a Answer) {
	lost := byLevel(list, func(o record.Outages) string {
		if o.Withdrawn.Flows == 0 {
			return ""
		}
		return LostFor(o.Withdrawn, o.ResolutionS)
	})
	others := byLevel(list, func(o record.Outages) string {
		if o.Others.Flows == 0 {
			return ""
		}
		return Moved(o.Others)
	})
	a.Headline = "No path was withdrawn from running flows"
	if len(lost) > 0 {
		const what = "flows whose path was withdrawn received nothing for "
		a.Headline = fit(what+strings.Join(lost, "; "), what+strings.Join(lost[:min(2, len(lost))], "; "), what+lost[0])
		if !strings.HasSuffix(a.Headline, lost[len(lost)-1]) {
			a.Statements = append(a.Statements, "Received nothing for: "+strings.Join(lost, "; "))
		}
	}
	if len(others) > 0 {
		a.Statements = append(a.Statements, "Flows on other paths that moved: "+strings.Join(others, "; "))
	}
	return a
}

// byLevel formats a property of each level's outages: "A for this and B for that with one level". A
// text that is the same in every condition appears once.
func byLevel(list []record.LevelOutages, spell func(record.Outages) string) (parts []string) {
	for i, l := range list {
		if slices.ContainsFunc(list[:i], func(before record.LevelOutages) bool { return before.Label == l.Label }) {
			continue
		}
		var at words.ByText
		for _, same := range list {
			for _, o := range same.Outages {
				text := spell(o)
				if same.Label != l.Label || text == "" {
					continue
				}
				name := same.Condition
				if len(same.Outages) > 1 {
					name = strings.TrimPrefix(fmt.Sprintf("%s, %g s", name, o.AtS), ", ")
				}
				at.Add(text, name)
			}
		}
		var texts []string
		for _, text := range at.Texts {
			if name := words.Join(at.Names[text], "and"); name != "" && len(at.Texts) > 1 {
				text += " at " + name
			}
			texts = append(texts, text)
		}
		if len(texts) == 0 {
			continue
		}
		text := words.Join(texts, "and")
		if l.Label != "" {
			text += " with " + l.Label
		}
		parts = append(parts, text)
	}
	return parts
}
