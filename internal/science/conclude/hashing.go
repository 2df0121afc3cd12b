package conclude

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/ecmp"
)

// hashingResult concludes a run whose flows all have several equal paths, where some
// treatment compares what decides among them, or where nothing is asked but what chance
// makes of it; nil: the run is about something else. Means and intervals say little
// there: few flows use one link or all of them by chance.
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

// addChance counts a treatment whose flows are placed by chance.
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
	full := entry(&h.Full, record.FullLinks{Links: t.Links, Least: t.FullLeastLinks}, func(f record.FullLinks) bool { return f.Links == t.Links })
	full.Trials += t.FullTrials
	full.Least = min(full.Least, t.FullLeastLinks)
}

// hashed are the trials of one level with so many flows; goodput and limit are sums.
type hashed struct {
	flows, trials, idle int
	goodput, limit      float64
	link                float64 // what one flow can carry, and so one link
}

// hashingLevels gathers the trials by compared level. None: some flow has one path, or
// its paths or limit are not known, or the flows have a rate of their own.
func hashingLevels(run *record.Run) (levels []record.HashingLevel) {
	by := map[string][]hashed{}
	links := 0
	for _, t := range run.Trials {
		if t.LimitBps <= 0 || t.PlacementLimitBps <= 0 || len(t.Flows) == 0 {
			return nil
		}
		link := 0.0
		for _, f := range t.Flows {
			if f.Paths < 2 || f.LimitBps <= 0 || f.CapBps() > 0 || links > 0 && f.Paths != links {
				return nil
			}
			links, link = f.Paths, max(link, f.LimitBps)
		}
		label := strings.Join(comparedLevels(run, t.Levels), " + ")
		counts := by[label]
		c := entry(&counts, hashed{flows: len(t.Flows)}, func(c hashed) bool { return c.flows == len(t.Flows) })
		by[label] = counts
		c.trials++
		c.goodput, c.limit, c.link = c.goodput+t.GoodputBps, c.limit+t.LimitBps, max(c.link, link)
		if t.PlacementLimitBps < 0.95*t.LimitBps {
			c.idle++
		}
	}
	for _, t := range run.Treatments {
		label := strings.Join(comparedLevels(run, t.Levels), " + ")
		counts := by[label]
		delete(by, label) // one level of several treatments
		if l, ok := hashingLevel(label, links, counts); ok {
			levels = append(levels, l)
		}
	}
	return levels
}

// hashingLevel is what a level makes of the links: one of them, or all from so many
// flows on, and what chance made of fewer; false: one flow has one link, whatever
// decides.
func hashingLevel(label string, links int, counts []hashed) (l record.HashingLevel, ok bool) {
	counts = slices.DeleteFunc(counts, func(c hashed) bool { return c.limit <= 1.01*c.link*float64(c.trials) })
	if len(counts) == 0 {
		return l, false
	}
	slices.SortFunc(counts, func(a, b hashed) int { return a.flows - b.flows })
	last := counts[len(counts)-1]
	n := float64(last.trials)
	l = record.HashingLevel{Label: label, Links: links, Flows: last.flows, GoodputBps: last.goodput / n, LimitBps: last.limit / n, Several: len(counts) > 1}
	l.OneLink = !slices.ContainsFunc(counts, func(c hashed) bool { return c.goodput > 1.05*c.link*float64(c.trials) })
	if l.OneLink {
		return l, true
	}
	from := len(counts)
	for from > 0 && counts[from-1].goodput >= enough*counts[from-1].limit {
		from--
	}
	if from < len(counts) {
		l.FullFrom = counts[from].flows
	}
	for _, c := range counts[:from] {
		l.Idle, l.IdleOf = l.Idle+c.idle, l.IdleOf+c.trials
		l.Excess = l.Excess || c.idle > mostIdle(c, links)
	}
	return l, true
}

// mostIdle is in how many trials chance leaves a link idle at most, but once in a
// thousand runs or more rarely.
func mostIdle(c hashed, links int) int {
	some, known := ecmp.Alike(links, 1).SomeUnused(c.flows)
	if !known {
		return c.trials
	}
	_, many := ecmp.Counts(c.trials, some, 0.999)
	return many
}
