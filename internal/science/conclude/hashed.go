package conclude

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/ecmp"
)

// Where flows are hashed over equal links, means and intervals say little: few
// flows use one link or all of them, by chance. What a reader wants to know is with
// how many flows the links are full, and how often one was left idle.

// hashing is one compared level, at each number of flows.
type hashing struct {
	label  string
	ways   int
	counts []hashed
}

// hashed are the trials with so many flows.
type hashed struct {
	flows, trials, idle int
	goodput, limit      float64 // means
	link                float64 // what one flow can carry, and so one link
}

// overLinks answers a study whose flows all have several equal ways, and in which
// some treatment compares what decides among them. nil: it is none.
func overLinks(run *record.Run) []string {
	levels, ways := hashings(run)
	if len(levels) < 2 {
		return nil
	}
	links := every(ways) + " links"
	var said []string
	for _, h := range levels {
		if text := h.says(run, links); text != "" {
			said = append(said, text)
		}
	}
	said = append(said, againstChance(run)...)
	if text := foretold(run); text != "" {
		said = append(said, text)
	}
	return said
}

// hashings gathers the trials; none: some flow has one way only, or its way or
// limit is not known, or the flows are no fewer than what they are asked to carry.
func hashings(run *record.Run) (levels []hashing, ways int) {
	for _, t := range run.Trials {
		if t.LimitBps <= 0 || t.PlacementLimitBps <= 0 || len(t.Flows) == 0 {
			return nil, 0
		}
		link := 0.0
		for _, f := range t.Flows {
			if f.Paths < 2 || f.LimitBps <= 0 || f.CapBps() > 0 || ways > 0 && f.Paths != ways {
				return nil, 0
			}
			ways, link = f.Paths, max(link, f.LimitBps)
		}
		label := strings.Join(comparedLevels(run, t), " with ")
		i := slices.IndexFunc(levels, func(h hashing) bool { return h.label == label })
		if i < 0 {
			i, levels = len(levels), append(levels, hashing{label: label, ways: ways})
		}
		levels[i].add(t, link)
	}
	order := func(label string) int {
		return slices.IndexFunc(run.Treatments, func(t record.Treatment) bool {
			return strings.Join(comparedLevels(run, record.Trial{Levels: t.Levels}), " with ") == label
		})
	}
	slices.SortStableFunc(levels, func(a, b hashing) int { return order(a.label) - order(b.label) })
	return levels, ways
}

func comparedLevels(run *record.Run, t record.Trial) (names []string) {
	for _, f := range run.Factors {
		if compared(f) {
			names = append(names, t.Levels[f.Name])
		}
	}
	return names
}

// add takes a trial in. The sums become means in says.
func (h *hashing) add(t record.Trial, link float64) {
	i := slices.IndexFunc(h.counts, func(c hashed) bool { return c.flows == len(t.Flows) })
	if i < 0 {
		h.counts = append(h.counts, hashed{flows: len(t.Flows)})
		slices.SortFunc(h.counts, func(a, b hashed) int { return a.flows - b.flows })
		i = slices.IndexFunc(h.counts, func(c hashed) bool { return c.flows == len(t.Flows) })
	}
	c := &h.counts[i]
	c.trials++
	c.goodput += t.GoodputBps
	c.limit += t.LimitBps
	c.link = max(c.link, link)
	if t.PlacementLimitBps < 0.95*t.LimitBps {
		c.idle++
	}
}

func (c hashed) full() bool { return c.goodput >= enough*c.limit }

// says what a level makes of the links: one of them, or all, from how many flows
// on, and what chance made of fewer.
func (h *hashing) says(run *record.Run, links string) string {
	// One flow has one link, whatever decides.
	counts := slices.DeleteFunc(slices.Clone(h.counts), func(c hashed) bool { return c.limit <= 1.01*c.link*float64(c.trials) })
	if len(counts) == 0 {
		return ""
	}
	spell := func(c hashed) string {
		mean := c.goodput / float64(c.trials)
		value, suffix := quantity(run.Unit, mean, c.limit/float64(c.trials))
		return value + " " + suffix
	}
	last := counts[len(counts)-1]
	one := !slices.ContainsFunc(counts, func(c hashed) bool { return c.goodput > 1.05*c.link*float64(c.trials) })
	if one {
		text := fmt.Sprintf("With %s all flows share one link, %s", h.label, spell(last))
		if len(counts) > 1 {
			text += ", however many they are"
		}
		return text + "."
	}
	from := len(counts)
	for from > 0 && counts[from-1].full() {
		from--
	}
	chance, byChance := "", " by chance"
	idle, trials := 0, 0
	for _, c := range counts[:from] {
		idle, trials = idle+c.idle, trials+c.trials
		if c.idle > mostIdle(c, h.ways) {
			byChance = ", more often than by chance,"
		}
	}
	if from < len(counts) {
		text := fmt.Sprintf("With %s they fill %s, %s", h.label, links, spell(last))
		if len(counts) > 1 {
			text += fmt.Sprintf(", from %d on", counts[from].flows)
		}
		if idle > 0 {
			chance = fmt.Sprintf("; fewer left a link idle%s in %d of %d trials", byChance, idle, trials)
		}
		return text + chance + "."
	}
	if idle > 0 {
		chance = fmt.Sprintf(": a link was left idle%s in %d of %d trials", byChance, idle, trials)
	}
	value, suffix := quantity(run.Unit, last.limit/float64(last.trials), last.limit/float64(last.trials))
	return fmt.Sprintf("With %s %d flows carry %s of %s %s%s.", h.label, last.flows, strings.TrimSuffix(spell(last), " "+suffix), value, suffix, chance)
}

// mostIdle is in how many trials chance leaves a link idle at most, but once in a
// thousand runs or more rarely.
func mostIdle(c hashed, ways int) int {
	some, known := ecmp.Alike(ways, 1).SomeUnused(c.flows)
	if !known {
		return c.trials
	}
	_, many := ecmp.Counts(c.trials, some, 0.999)
	return many
}

// foretold says whether flows took the ways that the kernels had named.
func foretold(run *record.Run) string {
	known, same := 0, 0
	for _, t := range run.Trials {
		for _, f := range t.Flows {
			if took, ok := f.AsPredicted(); ok {
				known++
				if took {
					same++
				}
			}
		}
	}
	switch {
	case known == 0:
		return ""
	case same == known:
		return fmt.Sprintf("All %d flows whose link the kernels had named beforehand took it.", known)
	}
	return fmt.Sprintf("Of %d flows whose link the kernels had named beforehand, %d took it.", known, same)
}
