package measure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/conclude"
	"linerate/internal/science/stats"
	"linerate/internal/version"
)

// asMeasured is the treatment of a measurement in one mode and one direction.
const asMeasured = "measurement"

// run is the measurement as a run with one trial for each mode, and for each of two
// directions: those stand side by side, and what they carried has no one limit or cause. Its
// ID is a proposal to the notebook. Trust checks and findings are those of the measurement's
// own documents; a check that failed puts both directions of the window in doubt.
func (s *session) run(m *record.Measure) (*record.Run, error) {
	o := s.options
	r := &record.Run{
		Schema: record.RunSchema, ID: proposeID(o.Addresses[0]), Study: record.MeasureStudy, Status: notebook.Complete,
		Question: s.question(),
		Started:  m.Started, Unit: "bit/s", Responses: responses(o),
		Design:      record.Design{Replicates: 1, Options: o.named()},
		Environment: record.Environment{Version: version.String(), Mode: "real hosts"},
	}
	for _, e := range m.Ends {
		r.Environment.Hosts = append(r.Environment.Hosts, e.HostEnvironment)
	}
	modes, ways := record.Factor{Name: "mode", Role: "condition"}, record.Factor{Name: "direction", Role: "condition"}
	var checks []record.Check
	var findings []record.Finding
	for i, one := range m.EachMode() {
		parts, err := byDirection(s.trials[i], one.Directions)
		if err != nil {
			return nil, err
		}
		for d, t := range parts {
			t.Block, t.Order, t.Levels = 1, len(r.Trials)+1, map[string]string{}
			var names []string
			at := func(f *record.Factor, level string) {
				names, t.Levels[f.Name] = append(names, level), level
				if f.Baseline = cmp.Or(f.Baseline, level); !slices.ContainsFunc(f.Levels, func(l record.Level) bool {
					return l.Name == level
				}) {
					f.Levels = append(f.Levels, record.Level{Name: level})
				}
			}
			if len(o.Modes) > 1 {
				at(&modes, one.Mode)
			}
			if len(parts) > 1 {
				at(&ways, one.Directions[d].Direction)
			}
			t.Treatment = cmp.Or(strings.Join(names, ", "), asMeasured)
			if t.PlannedS > 0 {
				r.Status = notebook.Interrupted
			}
			if t.Topology != nil {
				r.Topology = *t.Topology
			}
			for _, c := range one.Trust {
				if c.Trial = t.Order; d == 0 || !c.Pass {
					checks = append(checks, c)
				}
			}
			r.Trials = append(r.Trials, t)
		}
		findings = append(findings, one.Findings...)
	}
	if len(r.Topology.Hosts) == 0 {
		for _, e := range m.Ends {
			r.Topology.Hosts = append(r.Topology.Hosts, topology.Host{Name: e.Host, Via: []string{"linerate"}})
		}
	}
	for _, f := range []record.Factor{modes, ways} {
		if len(f.Levels) > 0 {
			r.Factors = append(r.Factors, f)
		}
	}
	r.DurationS, r.Snapshots = time.Since(s.began).Seconds(), []record.HostSnapshots{s.local}
	conclude.Judged(r, checks, findings)
	m.Findings = append(m.Findings, r.Findings[len(findings):]...)
	return r, nil
}

// question is what the measurement asks.
func (s *session) question() string {
	if f := s.options.FindMax; f != nil {
		return fmt.Sprintf("How many requests a second between this host and %s meet “%s”?", s.server, f.Objective)
	}
	return "What does the path between this host and " + s.server.String() + " carry?"
}

// named are the options that the flows of a measurement do not show, by name.
func (o Options) named() map[string]string {
	all := map[string]string{"duration": unit.Duration(o.Duration).String(), "warmup": unit.Duration(o.Warmup).String(),
		"interval": unit.Duration(o.Interval).String()}
	for _, option := range flow.Options {
		if slices.Contains([]string{"protocol", "direction", "streams", "mode"}, option.Key) || option.Type == "" ||
			!option.Wanted(&o.Flows) {
			continue
		}
		all[option.Key] = option.Text(&o.Flows)
	}
	if modes := strings.Join(o.Modes, ", "); modes != "" {
		all["mode"] = modes
	}
	if l := o.LossFree; l != nil {
		all["loss_free"] = fmt.Sprintf("loss %s, resolution %s, repeats %d", unit.FormatPercent(float64(l.Loss)),
			unit.FormatPercent(float64(l.Resolution)), l.Repeats)
	}
	if f := o.FindMax; f != nil {
		all["find_max"] = f.Objective.String() + "; " + f.String()
	}
	switch {
	case o.Iperf3:
		all["peer"] = "iperf3"
	case o.URL != "":
		all["peer"] = "another program"
	}
	return all
}

// byDirection takes a trial's flows of two directions apart: a trial for each, of the same
// window, with its own totals and limit. Of one direction the trial stays as it is.
func byDirection(t record.Trial, of []record.MeasureDirection) ([]record.Trial, error) {
	if len(of) < 2 {
		return []record.Trial{t}, nil
	}
	var parts []record.Trial
	for _, d := range of {
		part := t
		part.Hosts = slices.Clone(t.Hosts)
		for i := range part.Hosts {
			part.Hosts[i].ProcessCPUS = 0 // it is of both directions
		}
		part.Flows = slices.DeleteFunc(slices.Clone(t.Flows), func(f record.Flow) bool {
			return f.ID != probeID && (f.From == record.NodeClient) != (d.Direction == flow.Write)
		})
		totals, err := stats.Total(part.Flows)
		if err != nil {
			return nil, err
		}
		part.GoodputBps, part.SenderReportedBps, part.Datagrams = totals.GoodputBps, totals.SenderReportedBps,
			totals.Datagrams
		part.TransactionsPerS, part.Latency = totals.TransactionsPerS, totals.Latency
		part.LimitBps, part.Limit = d.LimitBps, d.Limit
		parts = append(parts, part)
	}
	return parts, nil
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
		if p.Application {
			add(metric.Errors)
		}
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
		if run.Window(t.Order) != t.Order {
			t.Hosts = nil // see ShareReadings
		}
		if err := store.SaveTrial(ctx, run.ID, t); err != nil {
			return err
		}
	}
	run.Status = status
	return store.Finish(ctx, run)
}
