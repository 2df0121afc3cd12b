package failover

import (
	"fmt"

	"linerate/internal/model/record"
)

// Lost spells how long flows of a group got nothing: the median, and the most.
func Lost(g record.OutageGroup, resolutionS float64) string {
	text := Time(g.LostS)
	switch {
	case g.Flows == 0:
		return "–"
	case g.Stopped == g.Flows:
		return "the rest of the window"
	case g.LostS == 0:
		text = "less than " + Time(resolutionS)
	}
	switch most := Time(g.MostLostS); {
	case g.Stopped > 0:
		text += fmt.Sprintf(" (%d of %d for the rest of the window)", g.Stopped, g.Flows)
	case g.MostLostS > max(g.LostS, resolutionS) && most != Time(g.LostS):
		text += " (at most " + most + ")"
	}
	return text
}

// Moved spells how many flows of a group came by another path.
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

// Time spells seconds.
func Time(s float64) string {
	switch {
	case s >= 0.9995:
		return fmt.Sprintf("%.2f s", s)
	case s >= 0.00995:
		return fmt.Sprintf("%.0f ms", 1e3*s)
	}
	return fmt.Sprintf("%.1f ms", 1e3*s)
}
