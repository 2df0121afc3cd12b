package cli

import (
	"fmt"
	"time"

	"linerate/internal/control/run"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
	"linerate/internal/science/stats"
	"linerate/internal/show/wording"
)

// planDocument is what `linerate check --json` prints.
type planDocument struct {
	Schema   string `json:"schema"` // linerate.plan/v1
	Study    string `json:"study"`
	Question string `json:"question,omitempty"`
	Hosts    int    `json:"hosts"`
	Switches int    `json:"switches"`
	Links    int    `json:"links"`
	// Shapes groups the links by what they do to frames, in the order of the file.
	Shapes []planShape `json:"shapes,omitempty"`
	// Responses are the metrics by which treatments are judged.
	Responses  []string        `json:"responses"`
	Factors    []record.Factor `json:"factors"`
	Treatments []planTreatment `json:"treatments"`
	Blocks     int             `json:"blocks"`
	Trials     int             `json:"trials"`
	EstimateS  float64         `json:"estimate_s"`
	// Comparisons is the number of comparisons in each response. Sensitivity assumes the scatter of
	// an ordinary lab; absent: nothing is compared, or in too few blocks for a verdict.
	Comparisons int                 `json:"comparisons"`
	Sensitivity *record.Sensitivity `json:"sensitivity,omitempty"`
	// Margin is the practical margin, such as 0.02: smaller differences do not matter.
	Margin  float64 `json:"margin"`
	Until   float64 `json:"until,omitempty"`
	BudgetS float64 `json:"budget_s,omitempty"`
	Seed    uint64  `json:"seed,omitempty"`
	// Order has, for each block, the treatments' names in the order of trials. It is absent without
	// a seed, because each run then draws its own.
	Order [][]string `json:"order,omitempty"`
	// Warnings say what a run will not show (percentiles of too few requests, verdicts on too few
	// blocks), and which kernel parameters it may not find.
	Warnings []string `json:"warnings,omitempty"`
	// LeftOut are treatments that a run here leaves out, because this kernel lacks what they need.
	LeftOut []record.LeftOut `json:"left_out,omitempty"`
	// Commands are all commands that a run executes, except linerate itself in a lab.
	Commands []topology.Command `json:"commands,omitempty"`
	// parameters are the Warnings about kernel parameters, which the text output prints above the
	// plan.
	parameters []run.ParameterWarning
	unit       string // of goodput, for the text output
	time       string // how long the plan takes, for the text output
}

// planShape is what links do to frames, such as "1 Gbit/s, delay 25ms, loss 0.1%".
type planShape struct {
	Links   []string `json:"links"`             // "client.eth0 – server.eth0"
	Forward string   `json:"forward"`           // from the first end to the second
	Reverse string   `json:"reverse,omitempty"` // absent: the same
}

type planTreatment struct {
	Name        string            `json:"name"`
	Baseline    bool              `json:"baseline"`
	Levels      map[string]string `json:"levels"`
	Settings    []string          `json:"settings"`
	Events      []string          `json:"events,omitempty"`
	Attacks     []string          `json:"attacks,omitempty"`
	Flows       []planFlow        `json:"flows"`
	TrialS      float64           `json:"trial_s"`
	LimitBps    float64           `json:"limit_bps"` // 0: unknown
	Limit       record.Limit      `json:"limit,omitzero"`
	LimitWhy    string            `json:"limit_why,omitempty"`
	Unreachable bool              `json:"unreachable,omitempty"`
}

// planFlow is one connection; From sends and To receives.
type planFlow struct {
	ID          string `json:"id"`
	From        string `json:"from"`
	To          string `json:"to"`
	OpenedBy    string `json:"opened_by"`
	Protocol    string `json:"protocol"`
	Source      string `json:"source,omitempty"` // source address; absent: the kernel chooses it
	Destination string `json:"destination"`
}

// planScatter is how far trials of an undisturbed lab usually scatter at most, as one relative
// standard deviation. What a plan can detect is proportional to it.
const planScatter = 0.01

// planTime says how long a plan's blocks take, and how many of them fit into its budget if that
// also has to leave time for a proof of reserve trials.
func planTime(p *study.Plan, reserve int) string {
	whole, blocks, fits := p.Time(p.Blocks()), p.Blocks(), run.Fitting(p, reserve)
	if budget := time.Duration(p.Study.Design.Budget); budget > 0 && (budget < whole || fits < blocks) {
		text := fmt.Sprintf("at most %s (budget): %d of %s", unit.FormatTime(budget), fits,
			unit.Plural(blocks, "block"))
		if reserve > 0 {
			text += " and the proof of what is kept"
		}
		return text
	}
	return "about " + unit.FormatTime(whole)
}

func newPlanDocument(p *study.Plan, seed uint64) *planDocument {
	s, blocks := p.Study, p.Blocks()
	d := &planDocument{
		Schema: "linerate.plan/v1", Study: s.Name, Question: s.Question, Responses: s.Responses,
		Factors: p.Factors(), Hosts: len(s.Topology.Hosts), Switches: len(s.Topology.Switches),
		Links:  len(s.Topology.Links),
		Blocks: blocks, Trials: blocks * len(p.Treatments),
		EstimateS:   p.Time(blocks).Seconds(),
		Comparisons: p.Comparisons(), Sensitivity: planSensitivity(p, 0),
		Margin: float64(s.Design.Margin), Until: float64(s.Design.Until), BudgetS: s.Design.Budget.Seconds(),
		Seed: seed, Warnings: p.TooFew(), Commands: p.Commands(),
	}
	if warning := run.BlocksWarning(p); warning != "" {
		d.Warnings = append(d.Warnings, warning)
	}
	d.Warnings = append(d.Warnings, run.MTUWarnings(p)...)
	d.unit, d.time = s.Unit, planTime(p, 0)
	d.parameters = append(run.ParameterWarnings(p, proc.Sysctls{}), run.Lowered(p, proc.Sysctls{})...)
	for _, w := range d.parameters {
		d.Warnings = append(d.Warnings, w.Text)
	}
	for _, l := range s.Topology.Links {
		d.addLink(&s.Topology, l)
	}
	for _, t := range p.Treatments {
		made := planTreatment{
			Name: t.Name, Baseline: t.Baseline, Levels: t.Levels, Settings: settingLines(t.Settings),
			TrialS: p.TrialTime(&t).Seconds(), Unreachable: t.Unreachable,
		}
		for _, f := range t.Flows {
			planned := planFlow{ID: f.ID, From: f.Sender(), To: f.Receiver(), OpenedBy: f.Opener,
				Protocol: flow.Of(f.Protocol).Name, Destination: f.Destination.String()}
			if f.Source.IsValid() {
				planned.Source = f.Source.String()
			}
			made.Flows = append(made.Flows, planned)
		}
		made.Events = append(made.Events, lists.Map(t.Workload.Events, study.Event.String)...)
		made.Attacks = append(made.Attacks, lists.Map(t.Attacks, study.PlannedAttack.String)...)
		limit := limits.Network{Topology: s.Topology.With(t.Settings)}.Planned(t.Flows)
		made.LimitBps, made.Limit, made.LimitWhy = limit.Bps, limit.Limit, wording.Limit(limit.Limit, "")
		d.Treatments = append(d.Treatments, made)
	}
	if text := ifShaped(p); text != "" {
		d.Warnings = append(d.Warnings, text)
	}
	for block := 1; block <= d.Blocks && seed != 0; block++ {
		names := lists.Map(p.Order(block, seed), func(i int) string { return p.Treatments[i].Name })
		d.Order = append(d.Order, names)
	}
	return d
}

// leaveOut adds what a run here leaves out, or why it cannot be made.
func (d *planDocument) leaveOut(left []record.LeftOut, err error) {
	d.LeftOut = left
	if text := wording.LeftOut(left); text != "" {
		d.Warnings = append(d.Warnings, text)
	}
	if err != nil {
		d.Warnings = append(d.Warnings, "a run fails on this machine: "+plain.Line(err.Error()))
	}
}

// addLink adds a link to those that do the same to frames.
func (d *planDocument) addLink(t *topology.Topology, l topology.Link) {
	name := linkEnd(t, l.From) + " – " + linkEnd(t, l.To)
	there, back := l.Towards(l.From), l.Towards(l.To)
	shape := planShape{Links: []string{name}, Forward: there.Beside(back), Reverse: back.Beside(there)}
	if shape.Reverse == shape.Forward {
		shape.Reverse = ""
	}
	for i, other := range d.Shapes {
		if other.Forward == shape.Forward && other.Reverse == shape.Reverse {
			d.Shapes[i].Links = append(other.Links, name)
			return
		}
	}
	d.Shapes = append(d.Shapes, shape)
}

// linkEnd returns the name of a host's interface, or that of a switch without its port, which is
// named after the other end.
func linkEnd(t *topology.Topology, e topology.End) string {
	if _, ok := t.Switch(e.Node); ok {
		return e.Node
	}
	return e.String()
}

// ifShaped describes the first limit that a run may find to be different: check asks no real host,
// and takes their links as Ethernets. Empty: there is none.
func ifShaped(p *study.Plan) string {
	virtual := map[topology.End]string{}
	for _, h := range p.Study.Topology.Hosts {
		for _, i := range h.Interfaces {
			if len(h.Via) > 0 {
				virtual[topology.End{Node: h.Name, Interface: i.Name}] = "veth"
			}
		}
	}
	for _, t := range p.Treatments {
		over := p.Study.Topology.With(t.Settings)
		ethernet, shaped := limits.Network{Topology: over}.Planned(t.Flows).Bps,
			limits.Network{Topology: over, Kinds: virtual}.Planned(t.Flows).Bps
		if ethernet > 0 && shaped > ethernet {
			return fmt.Sprintf(
				"links of real hosts are taken for Ethernets; where a run finds a virtual link or a shaper, the "+
					"limit is %s in place of %s",
				unit.FormatRate(shaped), unit.FormatRate(ethernet))
		}
	}
	return ""
}

// planSensitivity returns what a plan detects with the blocks that its budget has time for besides
// reserve trials. nil: it compares nothing, or in too few blocks for a verdict, or it is judged by
// a difference, which has no relative size.
func planSensitivity(p *study.Plan, reserve int) *record.Sensitivity {
	s := p.Study
	if lead, ok := metric.Find(s.Responses[0]); !ok || lead.Signed {
		return nil
	}
	design := stats.Design{Blocks: min(p.Blocks(), run.Fitting(p, reserve)), Comparisons: p.Comparisons(),
		Responses: len(s.Responses), Confidence: study.Confidence, Margin: float64(s.Design.Margin)}
	return design.Sensitivity(planScatter)
}

func settingLines(settings []setting.Setting) []string {
	lines := []string{}
	for _, s := range settings {
		lines = append(lines, s.Lines()...)
	}
	return lines
}
