package conclude

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/ecmp"
)

// hashingResult concludes a run about hashing. Either its treatments compare what chooses among the
// equal-cost paths that all flows have, or ecmp.Placements covers all its treatments and some of
// them leave the paths to chance. It returns nil for other runs. Means and intervals say little in
// such a run, because a few flows use one link or all of them by chance.
func hashingResult(run *record.Run) *record.HashingResult {
	h := &record.HashingResult{}
	if levels := hashingLevels(run); len(levels) > 1 {
		h.Levels = levels
	} else if len(run.Hashing) < len(run.Treatments) {
		return nil
	}
	for _, t := range run.Hashing {
		switch {
		case t.ByChance:
			addChance(h, t)
		case t.Chosen:
			if part := t.MeasuredLeastLinks / float64(min(t.Links, t.Flows)); h.Chosen == 0 || part < h.LeastChosen {
				h.LeastChosen = part
			}
			h.Chosen += t.Replicates
		}
	}
	if len(h.Levels) == 0 && h.Cases == 0 {
		return nil
	}
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			took, known := f.AsPredicted()
			if known {
				h.Known++
			}
			if known && took {
				h.Took++
			}
		}
	}
	return h
}

// addChance adds a treatment whose flows are placed by chance.
func addChance(h *record.HashingResult, t record.Hashing) {
	h.Cases++
	if t.Inside {
		h.Inside++
	} else {
		h.Outside = append(h.Outside, t.Treatment)
	}
	if t.IdleAsExpected {
		h.IdleAsExpected++
	}
	if t.FullTrials == 0 || t.Placements < t.Links {
		return
	}
	full := entry(&h.Full, record.FullLinks{Links: t.Links, Least: t.FullLeastLinks}, func(f record.FullLinks) bool {
		return f.Links == t.Links
	})
	full.Trials += t.FullTrials
	full.Least = min(full.Least, t.FullLeastLinks)
}

// hashed accumulates one compared level. goodput and limit are sums over the trials with the
// largest number of flows.
type hashed struct {
	record.HashingLevel
	goodput, limit float64
}

// hashingLevels counts the trials by compared level and number of flows. It returns nil if some
// flow has one path, its paths or limit are unknown, or flows have a rate of their own.
func hashingLevels(run *record.Run) (levels []record.HashingLevel) {
	by := map[string]*hashed{}
	links := 0
	for _, t := range run.Trials {
		if t.LimitBps <= 0 || t.PlacementLimitBps <= 0 || len(t.Flows) == 0 {
			return nil
		}
		link := 0.0 // what one link can carry
		for _, f := range t.Flows {
			if f.Paths < 2 || f.LimitBps <= 0 || f.CapBps() > 0 || links > 0 && f.Paths != links {
				return nil
			}
			links, link = f.Paths, max(link, f.LimitBps)
		}
		if t.LimitBps <= 1.01*link {
			continue // one flow uses one link, whatever decides
		}
		label := levelOf(run, t.Levels)
		if by[label] == nil {
			by[label] = &hashed{HashingLevel: record.HashingLevel{Label: label, Links: links}}
		}
		by[label].count(&t, link)
	}
	for _, t := range run.Treatments {
		h := by[levelOf(run, t.Levels)]
		if h == nil {
			continue
		}
		delete(by, h.Label) // several treatments may have this level
		slices.SortFunc(h.Placed, func(a, b record.PlacedFlows) int { return a.Flows - b.Flows })
		for i := range h.Placed {
			p := &h.Placed[i]
			p.Excess = p.Idle > mostIdle(*p, links)
			p.Filled = filled(run, h.Label, p.Flows)
		}
		n := float64(h.Placed[len(h.Placed)-1].Trials)
		h.GoodputBps, h.LimitBps = h.goodput/n, h.limit/n
		levels = append(levels, h.HashingLevel)
	}
	return levels
}

// levelOf joins the names of the compared levels.
func levelOf(run *record.Run, levels map[string]string) string {
	return strings.Join(comparedLevels(run, levels), " + ")
}

func (h *hashed) count(t *record.Trial, linkBps float64) {
	n := len(t.Flows)
	if !slices.ContainsFunc(h.Placed, func(p record.PlacedFlows) bool { return p.Flows > n }) {
		if !slices.ContainsFunc(h.Placed, func(p record.PlacedFlows) bool { return p.Flows == n }) {
			h.goodput, h.limit = 0, 0
		}
		h.goodput, h.limit = h.goodput+t.GoodputBps, h.limit+t.LimitBps
	}
	p := entry(&h.Placed, record.PlacedFlows{Flows: n}, func(p record.PlacedFlows) bool { return p.Flows == n })
	p.Trials++
	p.ByChance = p.ByChance || t.Chance != nil
	if t.PlacementLimitBps < 1.05*linkBps {
		p.OneLink++
	}
	if t.PlacementLimitBps < 0.95*t.LimitBps {
		p.Idle++
	}
}

// filled reports whether this many flows of a level reach the limit with their whole interval, in
// every condition.
func filled(run *record.Run, label string, flows int) bool {
	return !slices.ContainsFunc(run.Treatments, func(t record.Treatment) bool {
		trials := run.TrialsOf(t.Name)
		return levelOf(run, t.Levels) == label && len(trials) > 0 && len(trials[0].Flows) == flows &&
			(t.Goodput.Confidence == 0 || t.Goodput.LowBps < enough*t.LimitBps)
	})
}

// mostIdle returns the largest number of trials with an idle link that chance alone explains: a
// larger number happens in at most one of a thousand runs. If that is not known, it returns the
// number of trials.
func mostIdle(p record.PlacedFlows, links int) int {
	some, known := ecmp.Alike(links, 1).SomeUnused(p.Flows)
	if !known || !p.ByChance {
		return p.Trials
	}
	_, many := ecmp.Counts(p.Trials, some, 0.999)
	return many
}
