package tuning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
)

// ratioText spells an effect's ratio with its interval: "4.01× (3.98–4.04)".
func ratioText(e *record.Effect) string {
	r := e.Ratio
	switch {
	case r.None:
		return "no ratio"
	case r.High == 0:
		return fmt.Sprintf("%.3g×", r.Mean)
	case r.High >= 1000*r.Mean && r.Low < 0.005: // no bound worth a number
		return fmt.Sprintf("%.2f×", r.Mean)
	case r.High >= 1000*r.Mean: // chance alone: no upper bound worth a number
		return fmt.Sprintf("%.2f× (at least %.2f)", r.Mean, r.Low)
	}
	return fmt.Sprintf("%.2f× (%.2f–%.2f)", r.Mean, r.Low, r.High)
}

// Because says what a setting that is kept was before, and what speaks for it.
func Because(s record.TuneSetting) string {
	var said []string
	if was := prior(s.Prior); was != "" {
		said = append(said, "was "+was)
	}
	if s.Corrected != "" {
		said = append(said, "corrected from "+s.Corrected)
	}
	if s.Added != "" {
		said = append(said, "added: "+s.Added)
	}
	if s.Alone != nil {
		said = append(said, "alone "+Spelled(s.Alone))
	}
	if s.Removed != nil {
		said = append(said, "the list without it "+Spelled(s.Removed))
	}
	return strings.Join(said, "; ")
}

// prior is the value that a setting had: "4096 131072 6291456", or "1 on a and 2 on b" where
// hosts differ.
func prior(values map[string]string) string {
	var texts []string
	for _, host := range slices.Sorted(maps.Keys(values)) {
		texts = append(texts, values[host]+" on "+host)
	}
	distinct := slices.Sorted(maps.Values(values))
	if distinct = slices.Compact(distinct); len(distinct) == 1 {
		return distinct[0]
	}
	return join(texts)
}

// Spelled is an effect in all responses: "4.00× (3.99–4.01) improves, latency p99
// 1.00× (0.98–1.02) no difference".
func Spelled(e *record.Effect) string {
	text := fmt.Sprintf("%s %s", ratioText(e), e.Verdict)
	for i := range e.Beside {
		b := &e.Beside[i]
		if r, known := metric.Find(b.Response); known {
			text += fmt.Sprintf(", %s %s %s", r.Label, sizeText(r, b), b.Verdict)
		}
	}
	return text
}

// list joins settings: "a, b and c".
func list(settings []record.TuneSetting) string {
	var names []string
	for _, s := range settings {
		names = append(names, named(s))
	}
	return join(names)
}

// reasoned joins settings, each with why: "a (this) and b (that)".
func reasoned(settings []record.TuneSetting) string {
	var names []string
	for _, s := range settings {
		names = append(names, fmt.Sprintf("%s (%s)", s.Key, s.Why))
	}
	return join(names)
}

func join(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
