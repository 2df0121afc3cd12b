package tuning

import (
	"slices"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/science/limits"
)

// full returns how close the baseline is to the limit of its path. Nil: it is not within the
// margin, or the first response is not goodput.
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

// timestamps reports whether any flow of a level uses TCP timestamps.
func timestamps(run *record.Run, level string) bool {
	return slices.ContainsFunc(flows(run, level), func(f record.Flow) bool {
		return (f.SenderInfo != nil || f.ReceiverInfo != nil) && !limits.FrameOf(f).NoTimestamps
	})
}

// flows returns the flows at a level of the list's factor, in the condition of the run's effects.
func flows(run *record.Run, level string) (all []record.Flow) {
	f := factor(run)
	for _, t := range run.Trials {
		if t.Levels[f.Name] == level && here(run, f, t.Levels) {
			all = append(all, t.Flows...)
		}
	}
	return all
}

// here reports whether the levels belong to the condition of the run's effects.
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

// CongestionControl returns the congestion control of the flows at a level of the list's factor,
// as the kernel reports it, and the host that sends the first TCP flow. Empty: no flow uses TCP.
func CongestionControl(run *record.Run, level string) (control, sender string) {
	for _, flow := range flows(run, level) {
		if flow.CongestionControl != "" {
			return flow.CongestionControl, flow.From
		}
	}
	return "", ""
}

// BaselineControl returns the congestion control of the flows at the baseline.
func BaselineControl(run *record.Run) string {
	control, _ := CongestionControl(run, factor(run).Baseline)
	return control
}

// controls fills in the values of a setting of the congestion control from what the flows used
// with and without it. It is an option of the flows, so hosts have no prior value.
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
