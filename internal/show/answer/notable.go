package answer

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// notable returns what a sum hides.
func notable(c *record.Conclusion) (list []string) {
	return slices.DeleteFunc([]string{lowered(c), odd(c), silent(c)}, func(text string) bool { return text == "" })
}

// headlined is notable as an addition to the headline of a run that compares nothing. The headline of a
// comparison is long, and says what is compared.
func headlined(c *record.Conclusion) string {
	if list := notable(c); len(list) > 0 && !c.Compared {
		return "; " + strings.Join(list, "; ")
	}
	return ""
}

// lowered names the shapers that make a limit lower than the study declares.
func lowered(c *record.Conclusion) string {
	var parts []string
	for _, f := range c.Odd {
		for _, one := range f.Facts {
			if d, is := one.Is.(fact.DeclaredRate); is {
				parts = append(parts, wording.Declared(f.Host, d)+forTreatments(f))
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "the limit is " + words.FirstFew(parts, "and")
}

// odd names what stands apart from its peers.
func odd(c *record.Conclusion) string {
	var parts []string
	for _, f := range c.Odd {
		for _, one := range f.Facts {
			if p, is := one.Is.(fact.AmongPeers); is {
				args, _ := f.Args.(cause.Odd)
				parts = append(parts, wording.Odd(f.About.Object, args, p)+forTreatments(f))
				break // of several trials the first
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return words.FirstFew(parts, "and")
}

// forTreatments names the treatments of a finding that not all have; empty: all have it.
func forTreatments(f record.Finding) string {
	if len(f.Treatments) == 0 {
		return ""
	}
	return " with " + words.FirstFew(f.Treatments, "and")
}

// silent names the flows that carried nothing in the window. If none carried anything, the figure
// says so.
func silent(c *record.Conclusion) string {
	s := c.Silent
	if s == nil || s.Flows == s.Of {
		return ""
	}
	text := fmt.Sprintf("%d of %d flows carried nothing", s.Flows, s.Of)
	if s.Flows == 1 {
		text = fmt.Sprintf("flow %s from %s to %s carried nothing", s.Flow, s.From, s.To)
	}
	if c.Trials > 1 {
		text += fmt.Sprintf(" in %d of %d trials", s.Trials, c.Trials)
	}
	return text
}
