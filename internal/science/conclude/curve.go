package conclude

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

// alongCurve answers a study of nothing but flows that a hash placed: how many links'
// worth they carry is known beforehand, up to chance. nil: it is another one.
func alongCurve(run *record.Run) (said []string) {
	if len(run.Hashing) < len(run.Treatments) {
		return nil
	}
	if said = againstChance(run); len(said) == 0 {
		return nil
	}
	if text := remark(run); text != "" {
		said = append(said, text)
	}
	if text := portsChosen(run); text != "" {
		said = append(said, text)
	}
	if text := foretold(run); text != "" {
		said = append(said, text)
	}
	return said
}

// againstChance says whether what was measured is what chance makes of it.
func againstChance(run *record.Run) (said []string) {
	cases, inside, often := 0, 0, 0
	var outside, other []string
	for _, h := range run.Hashing {
		if !h.ByChance {
			continue
		}
		cases++
		if h.Inside {
			inside++
		} else {
			outside = append(outside, h.Treatment)
		}
		if h.IdleAsExpected {
			often++
		} else {
			other = append(other, h.Treatment)
		}
	}
	if cases == 0 {
		return nil
	}
	confidence := fmt.Sprintf("%.3g %%", 100*run.Confidence)
	said = append(said, fmt.Sprintf("In %s the mean lies inside the %s band of what chance lets flows carry%s; in %s a link was idle in as many trials as chance has it%s.",
		ofCases(inside, cases), confidence, but(outside), ofCases(often, cases), but(other)))
	if text := filled(run); text != "" {
		said = append(said, text)
	}
	return said
}

func ofCases(n, of int) string {
	if of == 1 {
		return fmt.Sprintf("%d of 1 case", n)
	}
	return fmt.Sprintf("%d of %d cases", n, of)
}

func but(treatments []string) string {
	if len(treatments) == 0 {
		return ""
	}
	// Their names may have commas.
	if more := len(treatments) - 3; more > 1 {
		return fmt.Sprintf(" (not: %s; and %d more)", strings.Join(treatments[:3], "; "), more)
	}
	return " (not: " + strings.Join(treatments, "; ") + ")"
}

// filled says what the trials carried whose flows were to use every link, as the
// kernels had said.
func filled(run *record.Run) string {
	type full struct {
		links, trials int
		least         float64
	}
	var list []full
	for _, h := range run.Hashing {
		if !h.ByChance || h.FullTrials == 0 || h.Placements < h.Links {
			continue
		}
		i := slices.IndexFunc(list, func(f full) bool { return f.links == h.Links })
		if i < 0 {
			i, list = len(list), append(list, full{links: h.Links, least: h.FullLeastLinks})
		}
		list[i].trials += h.FullTrials
		list[i].least = min(list[i].least, h.FullLeastLinks)
	}
	var parts []string
	for i, f := range list {
		trials := fmt.Sprintf(" (%d)", f.trials)
		if i == 0 {
			trials = fmt.Sprintf(" (%d trials)", f.trials)
			if f.trials == 1 {
				trials = " (1 trial)"
			}
		}
		parts = append(parts, fmt.Sprintf("%.2f of %d%s", f.least, f.links, trials))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Where the kernels had named every link, at least " + join(parts, "and") + " links' worth were carried."
}

// likely: below this chance that all flows are on one link nobody expects to see it.
const likely = 0.01

// remark says how often all flows were on one of two links.
func remark(run *record.Run) string {
	var flows, seen, expected []string
	trials := 0
	for _, h := range run.Hashing {
		if !h.ByChance || h.Links != 2 || h.Placements != h.Flows || h.IdleChance < likely || trials > 0 && h.Replicates != trials {
			continue
		}
		trials = h.Replicates
		flows, seen = append(flows, fmt.Sprint(h.Flows)), append(seen, fmt.Sprint(h.IdleTrials))
		expected = append(expected, fmt.Sprintf("%d–%d", h.IdleLowTrials, h.IdleHighTrials))
	}
	if len(flows) == 0 {
		return ""
	}
	return fmt.Sprintf("On two links, %s flows were all on one in %s of %d trials (chance: %s).", join(flows, "and"), join(seen, "and"), trials, join(expected, "and"))
}

// portsChosen says what flows carried whose ports were chosen.
func portsChosen(run *record.Run) string {
	least, trials := 0.0, 0
	for _, h := range run.Hashing {
		if h.ByChance || !h.Chosen {
			continue
		}
		if part := h.MeasuredLeastLinks / float64(min(h.Links, h.Flows)); trials == 0 || part < least {
			least = part
		}
		trials += h.Replicates
	}
	if trials == 0 {
		return ""
	}
	return fmt.Sprintf("With chosen ports each of %d trials carried at least %.4g %% of what its links can.", trials, 100*least)
}
