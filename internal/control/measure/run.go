package measure

import (
	"cmp"
	"context"
	"strings"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/conclude"
	"linerate/internal/version"
)

// asMeasured is the treatment of a measurement that is made in one mode alone.
const asMeasured = "measurement"

// modeFactor is the factor of a measurement in several modes: they stand side by side.
const modeFactor = "mode"

// run is the measurement as a run with one trial for each mode. Its ID is a proposal to the
// notebook. Trust checks and findings are those of the measurement's own documents.
func (s *session) run(m *record.Measure) *record.Run {
	o := s.options
	r := &record.Run{
		Schema: record.RunSchema, ID: proposeID(o.Addresses[0]), Study: record.MeasureStudy, Status: notebook.Complete,
		Question: "What does the path between this host and " + s.server.String() + " carry?",
		Started:  m.Started, Unit: "bit/s", Responses: responses(o), Trials: s.trials,
		Design:      record.Design{Replicates: 1},
		Environment: record.Environment{Version: version.String(), Mode: "real hosts"},
	}
	for _, e := range m.Ends {
		r.Environment.Hosts = append(r.Environment.Hosts, e.HostEnvironment)
	}
	factor := record.Factor{Name: modeFactor, Role: "condition"}
	for i := range r.Trials {
		t := &r.Trials[i]
		t.Block, t.Order, t.Treatment = 1, i+1, asMeasured
		if len(o.Modes) > 1 {
			mode := m.EachMode()[i].Mode
			t.Treatment, t.Levels = mode, map[string]string{modeFactor: mode}
			factor.Baseline = cmp.Or(factor.Baseline, mode)
			factor.Levels = append(factor.Levels, record.Level{Name: mode})
		}
		if t.PlannedS > 0 {
			r.Status = notebook.Interrupted
		}
		if t.Topology != nil {
			r.Topology = *t.Topology
		}
	}
	if len(r.Topology.Hosts) == 0 {
		for _, e := range m.Ends {
			r.Topology.Hosts = append(r.Topology.Hosts, topology.Host{Name: e.Host, Via: []string{"linerate"}})
		}
	}
	if len(factor.Levels) > 0 {
		r.Factors = []record.Factor{factor}
	}
	r.DurationS = time.Since(s.began).Seconds()
	conclude.Conclude(r)
	r.Trust, r.Findings = nil, []record.Finding{}
	for i, one := range m.EachMode() {
		for _, c := range one.Trust {
			c.Trial = i + 1
			r.Trust = append(r.Trust, c)
		}
		r.Findings = append(r.Findings, one.Findings...)
	}
	return r
}

// responses are what a measurement is shown by.
func responses(o Options) (names []string) {
	add := func(list ...metric.Metric) {
		for _, m := range list {
			names = append(names, m.Name)
		}
	}
	switch p := flow.Of(o.Flows.Protocol); {
	case o.LossFree != nil:
		add(metric.LossFree)
	case p.Transactional():
		add(metric.Transactions, metric.LatencyP50, metric.LatencyP99)
	case p.Transport == flow.UDP:
		add(metric.Goodput, metric.Lost, metric.Jitter)
	default:
		add(metric.Goodput)
	}
	if o.Latency {
		add(metric.LatencyP50, metric.LatencyP99)
	}
	return names
}

// proposeID names a measurement after its server.
func proposeID(address string) string {
	host := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, address)
	return record.MeasureStudy + "-" + strings.Trim(host[:min(len(host), 60)], "-.")
}

// Keep enters a measurement into the notebook, and gives it its ID. It also writes when ctx
// has ended.
func Keep(ctx context.Context, store notebook.Store, run *record.Run) error {
	ctx = context.WithoutCancel(ctx)
	status := run.Status
	if err := store.Begin(ctx, run); err != nil {
		return err
	}
	for _, t := range run.Trials {
		if err := store.SaveTrial(ctx, run.ID, t); err != nil {
			return err
		}
	}
	run.Status = status
	return store.Finish(ctx, run)
}
