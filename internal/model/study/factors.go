package study

import (
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// Factors describes the study's factors for the result document, with only the levels that
// treatments of the plan have.
func (p *Plan) Factors() []record.Factor {
	used := map[[2]string]bool{}
	for _, t := range p.Treatments {
		for factor, level := range t.Levels {
			used[[2]string{factor, level}] = true
		}
	}
	var list []record.Factor
	for _, f := range p.Study.Factors {
		made := record.Factor{Name: f.Name, Role: f.Role, Baseline: f.Baseline, Ablate: f.Ablate}
		for _, u := range f.Untried {
			made.Untried = append(made.Untried, record.Untried(u))
		}
		for _, a := range f.Amended {
			made.Amended = append(made.Amended, record.Amended(a))
		}
		for _, l := range f.Levels {
			if !used[[2]string{f.Name, l.Name}] {
				continue
			}
			level := record.Level{Name: l.Name, About: l.About, Against: l.Against, Part: l.Part}
			for _, s := range l.Settings {
				level.SettingLines = append(level.SettingLines, s.Lines()...)
			}
			if l.Workload != nil {
				for _, o := range flow.Options {
					if o.Wanted(&l.Workload.Spec) {
						level.FlowLines = append(level.FlowLines, o.Key+" "+o.Text(&l.Workload.Spec))
					}
				}
			}
			level.Settings = len(level.SettingLines)
			made.Levels = append(made.Levels, level)
		}
		list = append(list, made)
	}
	return list
}
