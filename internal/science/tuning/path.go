package tuning

import (
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/science/limits"
)

// full is how near the baseline is to the limit of its path; nil: not within the margin, or
// it is not goodput that counts.
func full(run *record.Run, f record.Factor) *record.TuneFull {
	if metric.Of(run)[0].Name != metric.Goodput.Name {
		return nil
	}
	goodput, limit, most, highest := 0.0, 0.0, 0.0, ""
	for _, t := range run.Treatments {
		if !here(run, f, t.Levels) {
			continue
		}
		if t.LimitBps == 0 {
			return nil // a level takes the link's rate away
		}
		if t.LimitBps > most {
			most, highest = t.LimitBps, t.Levels[f.Name]
		}
		if t.Levels[f.Name] == f.Baseline {
			goodput, limit = t.Goodput.MeanBps, t.LimitBps
		}
	}
	if limit == 0 || goodput < (1-run.Margin)*limit {
		return nil
	}
	return &record.TuneFull{
		Share: goodput / limit, Left: max(0, limit/goodput-1), Most: max(0, most/goodput-1),
		WithoutTimestamps: timestamps(run, f.Baseline) && !timestamps(run, highest),
	}
}

// timestamps reports whether a flow of a level has TCP timestamps.
func timestamps(run *record.Run, level string) bool {
	return slices.ContainsFunc(flows(run, level), func(f record.Flow) bool {
		return (f.SenderInfo != nil || f.ReceiverInfo != nil) && !limits.FrameOf(f).NoTimestamps
	})
}

// flows are those of a level of the list's factor, in the conditions of its effects.
func flows(run *record.Run, level string) (all []record.Flow) {
	f := factor(run)
	for _, t := range run.Trials {
		if t.Levels[f.Name] == level && here(run, f, t.Levels) {
			all = append(all, t.Flows...)
		}
	}
	return all
}

// here: the levels are of the conditions that the run's effects are of.
func here(run *record.Run, f record.Factor, levels map[string]string) bool {
	for _, e := range run.Effects {
		if e.Factor == f.Name {
			for name, level := range e.At {
				if levels[name] != level {
					return false
				}
			}
			return true
		}
	}
	return true
}

// CongestionControl is what the flows use at a level of the list's factor, as the kernel
// reports it, and the host that sends the first of them; empty: they are not TCP's.
func CongestionControl(run *record.Run, level string) (control, sender string) {
	for _, flow := range flows(run, level) {
		if flow.CongestionControl != "" {
			return flow.CongestionControl, flow.From
		}
	}
	return "", ""
}

// BaselineControl is CongestionControl of the baseline.
func BaselineControl(run *record.Run) string {
	control, _ := CongestionControl(run, factor(run).Baseline)
	return control
}

// controls completes a setting of the congestion control with what the flows used with and
// without it: it is an option of the flows, which no host has a value of before.
func controls(run *record.Run, s *record.TuneSetting) {
	if s.Key != setting.CongestionControl || s.Alone == nil {
		return
	}
	before, sender := CongestionControl(run, s.Alone.From)
	if after, _ := CongestionControl(run, s.Alone.To); s.Value == "" {
		s.Value = after
	}
	if s.Prior == nil && before != "" {
		s.Prior = map[string]string{sender: before}
	}
}
