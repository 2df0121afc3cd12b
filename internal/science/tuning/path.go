package tuning

import (
	"fmt"
	"math"

	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// full is how near the baseline is to the limit of its path; nil: not within the margin, or
// it is not goodput that counts.
func full(run *record.Run, f record.Factor) *record.TuneFull {
	if metric.Of(run)[0].Name != metric.Goodput.Name {
		return nil
	}
	goodput, limit, most := 0.0, 0.0, 0.0
	for _, t := range run.Treatments {
		if !here(run, f, t.Levels) {
			continue
		}
		if t.LimitBps == 0 {
			return nil // a level takes the link's rate away
		}
		if most = max(most, t.LimitBps); t.Levels[f.Name] == f.Baseline {
			goodput, limit = t.Goodput.MeanBps, t.LimitBps
		}
	}
	if limit == 0 || goodput < (1-run.Margin)*limit {
		return nil
	}
	return &record.TuneFull{Share: goodput / limit, Most: max(0, most/goodput-1)}
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

// FullPath says that nothing is left to gain; empty: the path is not full.
func FullPath(t *record.Tune) string {
	if t.Full == nil {
		return ""
	}
	return fmt.Sprintf("As it is, goodput is at %.1f %% of the path's limit: no setting can raise it by more than %.1f %%", 100*t.Full.Share, math.Ceil(1000*t.Full.Most)/10)
}

// CongestionControl is what the flows use at a level of the list's factor, as the kernel
// reports it, and the host that sends the first of them; empty: they are not TCP's.
func CongestionControl(run *record.Run, level string) (control, sender string) {
	f := factor(run)
	for _, t := range run.Trials {
		if t.Levels[f.Name] != level || !here(run, f, t.Levels) {
			continue
		}
		for _, flow := range t.Flows {
			if flow.CongestionControl != "" {
				return flow.CongestionControl, flow.From
			}
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
