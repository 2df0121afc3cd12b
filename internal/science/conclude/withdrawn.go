package conclude

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/failover"
)

// Where something is withdrawn in the middle of a trial, a reader wants to know what
// became of the flows that ran: how long those that it carried got nothing, and whether
// others had to move.

// withdrawn answers a study in whose trials something happened that took a way from
// flows, or moved them. nil: nothing did.
func withdrawn(run *record.Run) []string {
	if !slices.ContainsFunc(run.Treatments, func(t record.Treatment) bool {
		return slices.ContainsFunc(t.Outages, func(o record.Outages) bool {
			return o.Withdrawn.Flows > 0 || o.Others.Moved > 0
		})
	}) {
		return nil
	}
	lost := byLevel(run, func(o record.Outages) string {
		if o.Withdrawn.Flows == 0 {
			return ""
		}
		return failover.Lost(o.Withdrawn, o.ResolutionS)
	}, nil)
	moved := byLevel(run, func(o record.Outages) string {
		if o.Others.Flows == 0 {
			return ""
		}
		return failover.Moved(o.Others)
	}, func(all []record.Outages) string {
		n := 0
		for _, o := range all {
			if n += o.Others.Flows; o.Others.Moved > 0 {
				return ""
			}
		}
		return failover.Moved(record.OutageGroup{Flows: n})
	})
	said := []string{"There is no way by which flows came no more."}
	if lost != "" {
		said[0] = "Flows by whose way none came any more got nothing for " + lost + "."
	}
	if moved != "" {
		said = append(said, "Flows on other ways that moved: "+moved+".")
	}
	return said
}

// byLevel spells something of each treatment's outages: "A at this and B at that with
// one level; C with another". What a level has in all conditions is said once, or all
// of it together by whole, if that says anything.
func byLevel(run *record.Run, spell func(record.Outages) string, whole func([]record.Outages) string) string {
	type said struct {
		text string
		at   []string
	}
	var labels []string
	texts, all := map[string][]said{}, map[string][]record.Outages{}
	for _, t := range run.Treatments {
		label := strings.Join(comparedLevels(run, record.Trial{Levels: t.Levels}), " with ")
		for _, o := range t.Outages {
			text := spell(o)
			if text == "" {
				continue
			}
			if texts[label] == nil {
				labels = append(labels, label)
			}
			all[label] = append(all[label], o)
			at := conditionOf(run, t)
			if len(t.Outages) > 1 {
				at = strings.TrimPrefix(fmt.Sprintf("%s, %g s", at, o.AtS), ", ")
			}
			same := slices.IndexFunc(texts[label], func(s said) bool { return s.text == text })
			if same < 0 {
				same, texts[label] = len(texts[label]), append(texts[label], said{text: text})
			}
			texts[label][same].at = append(texts[label][same].at, at)
		}
	}
	var parts []string
	for _, label := range labels {
		var list []string
		for _, s := range texts[label] {
			text := s.text
			if at := join(s.at, "and"); at != "" && len(texts[label]) > 1 {
				text += " at " + at
			}
			list = append(list, text)
		}
		text := join(list, "and")
		if whole != nil {
			if once := whole(all[label]); once != "" {
				text = once
			}
		}
		if label != "" {
			text += " with " + label
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// conditionOf is what a treatment is shown under.
func conditionOf(run *record.Run, t record.Treatment) string {
	var at []string
	for _, f := range run.Factors {
		if !compared(f) {
			at = append(at, t.Levels[f.Name])
		}
	}
	return strings.Join(at, ", ")
}
