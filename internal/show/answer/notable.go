package answer

import (
	"fmt"

	"linerate/internal/model/record"
)

// notable returns what a sum hides, as an addition to the headline; empty: nothing.
func notable(c *record.Conclusion) string { return silent(c) }

// silent names the flows that carried nothing in the window. If none carried anything, the figure
// says so.
func silent(c *record.Conclusion) string {
	s := c.Silent
	if s == nil || s.Flows == s.Of {
		return ""
	}
	text := fmt.Sprintf("; %d of %d flows carried nothing", s.Flows, s.Of)
	if s.Flows == 1 {
		text = fmt.Sprintf("; flow %s from %s to %s carried nothing", s.Flow, s.From, s.To)
	}
	if c.Trials > 1 {
		text += fmt.Sprintf(" in %d of %d trials", s.Trials, c.Trials)
	}
	return text
}
