package cli

import (
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/science/limits"
)

// planDocument is what `linerate check --json` prints.
type planDocument struct {
	Schema   string `json:"schema"` // linerate.plan/v1
	Study    string `json:"study"`
	Question string `json:"question,omitempty"`
	Hosts    int    `json:"hosts"`
	Switches int    `json:"switches"`
	Links    int    `json:"links"`
	// Responses are what treatments are judged by.
	Responses  []string        `json:"responses"`
	Factors    []record.Factor `json:"factors"`
	Treatments []planTreatment `json:"treatments"`
	Blocks     int             `json:"blocks"`
	Trials     int             `json:"trials"`
	EstimateS  float64         `json:"estimate_s"`
	Until      float64         `json:"until,omitempty"`
	BudgetS    float64         `json:"budget_s,omitempty"`
	Seed       uint64          `json:"seed,omitempty"`
	// Order holds, for each block, the treatments' names in the order of trials;
	// absent without a seed, which each run then draws.
	Order [][]string `json:"order,omitempty"`
	// TooFew says which percentiles will stay unknown, since a trial has too few requests.
	TooFew []string `json:"too_few,omitempty"`
}

type planTreatment struct {
	Name        string            `json:"name"`
	Baseline    bool              `json:"baseline"`
	Levels      map[string]string `json:"levels"`
	Settings    []string          `json:"settings"`
	Events      []string          `json:"events,omitempty"`
	Flows       []planFlow        `json:"flows"`
	TrialS      float64           `json:"trial_s"`
	LimitBps    float64           `json:"limit_bps"` // 0: unknown
	LimitWhy    string            `json:"limit_why,omitempty"`
	Unreachable bool              `json:"unreachable,omitempty"`
}

// planFlow is one connection; from sends and to receives.
type planFlow struct {
	ID          string `json:"id"`
	From        string `json:"from"`
	To          string `json:"to"`
	OpenedBy    string `json:"opened_by"`
	Protocol    string `json:"protocol"`
	Source      string `json:"source,omitempty"` // of the connection; absent: the kernel chooses
	Destination string `json:"destination"`
}

func newPlanDocument(p *study.Plan, seed uint64) *planDocument {
	s := p.Study
	d := &planDocument{
		Schema: "linerate.plan/v1", Study: s.Name, Question: s.Question, Responses: s.Responses,
		Factors: p.Factors(), Hosts: len(s.Topology.Hosts), Switches: len(s.Topology.Switches), Links: len(s.Topology.Links),
		Blocks: s.Design.Replicates, Trials: s.Design.Replicates * len(p.Treatments),
		EstimateS: p.Time(s.Design.Replicates).Seconds(),
		Until:     float64(s.Design.Until), BudgetS: s.Design.Budget.Seconds(), Seed: seed, TooFew: p.TooFew(),
	}
	for _, t := range p.Treatments {
		made := planTreatment{
			Name: t.Name, Baseline: t.Baseline, Levels: t.Levels, Settings: settingLines(t.Settings),
			TrialS: t.Time().Seconds(), Unreachable: t.Unreachable,
		}
		for _, f := range t.Flows {
			planned := planFlow{ID: f.ID, From: f.Sender(), To: f.Receiver(), OpenedBy: f.Opener, Protocol: flow.Of(f.Protocol).Name, Destination: f.Destination.String()}
			if f.Source.IsValid() {
				planned.Source = f.Source.String()
			}
			made.Flows = append(made.Flows, planned)
		}
		for _, e := range t.Workload.Events {
			made.Events = append(made.Events, e.String())
		}
		limit := limits.Network{Topology: s.Topology.With(t.Settings)}.Planned(t.Flows)
		made.LimitBps, made.LimitWhy = limit.Bps, limit.Why
		d.Treatments = append(d.Treatments, made)
	}
	for block := 1; block <= d.Blocks && seed != 0; block++ {
		var names []string
		for _, i := range p.Order(block, seed) {
			names = append(names, p.Treatments[i].Name)
		}
		d.Order = append(d.Order, names)
	}
	return d
}

func settingLines(settings []setting.Setting) []string {
	lines := []string{}
	for _, s := range settings {
		lines = append(lines, s.Lines()...)
	}
	return lines
}
