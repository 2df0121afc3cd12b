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
	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/conclude"
	"linerate/internal/version"
)

// asMeasured is the treatment of a measurement in one mode.
const asMeasured = "measurement"

// run is the measurement as a run of one block, with a trial for each mode. Of a trial of two directions each is
// a treatment: they stand side by side, and what they carried has no one limit or cause. Its ID
// is a proposal to the notebook.
func (s *session) run() *record.Run {
	r := s.describe(s.trials)
	conclude.Conclude(r)
	return r
}

// describe returns the run with the given trials (nil: none), without a conclusion.
func (s *session) describe(trials []record.Trial) *record.Run {
	o, started := s.options, s.began
	var hosts []netstate.HostReading
	if len(trials) > 0 {
		started, hosts = trials[0].Started, trials[0].Hosts
	}
	r := &record.Run{
		Schema: record.RunSchema, ID: proposeID(o.Addresses[0]), Study: record.MeasureStudy, Status: notebook.Complete,
		Question: s.question(),
		Started:  started, Unit: "bit/s", Responses: responses(o), Trials: trials,
		Address: cmp.Or(o.URL, s.server.String()), Snapshots: []netstate.HostSnapshots{s.local},
		Design:      record.Design{Replicates: 1, Options: o.named()},
		Environment: record.Environment{Version: version.String(), Mode: "real hosts"},
	}
	for _, h := range hosts {
		r.Environment.Hosts = append(r.Environment.Hosts, s.environment(h.Host, trials[0].Flows))
	}
	modes, ways := record.Factor{Name: "mode", Role: "condition"}, record.Factor{Name: "direction", Role: "condition"}
	for i := range r.Trials {
		t := &r.Trials[i]
		t.Block, t.Order, t.Levels, t.Treatment = 1, i+1, map[string]string{}, asMeasured
		if len(o.Modes) > 1 {
			addLevel(&modes, t.Mode)
			t.Levels["mode"], t.Treatment = t.Mode, t.Mode
		}
		for k := range t.Parts {
			if len(t.Parts) < 2 {
				break
			}
			p := &t.Parts[k]
			addLevel(&ways, p.Name())
			p.Levels, p.Treatment = map[string]string{"direction": p.Name()}, p.Name()
			if t.Treatment != asMeasured {
				p.Treatment = t.Treatment + ", " + p.Name()
			}
		}
		if t.PlannedS > 0 {
			r.Status = notebook.Interrupted
		}
		if t.Topology != nil {
			r.Topology = *t.Topology
		}
	}
	if len(r.Topology.Hosts) == 0 {
		for _, h := range r.Environment.Hosts {
			r.Topology.Hosts = append(r.Topology.Hosts, topology.Host{Name: h.Host, Via: []string{"linerate"}})
		}
	}
	r.Factors = append(r.Factors, lists.Where([]record.Factor{modes, ways}, func(f record.Factor) bool {
		return len(f.Levels) > 0
	})...)
	r.DurationS = time.Since(s.began).Seconds()
	return r
}

// environment describes a host, with the congestion control of flows that it sends, or else receives.
func (s *session) environment(host string, flows []record.Flow) netstate.HostEnvironment {
	e := s.hellos[host].Environment
	e.Host, e.Version = host, s.hellos[host].Version
	for _, f := range flows {
		if f.Probe {
			continue
		}
		e.CongestionControl = f.CongestionControl
		if f.From == host {
			break
		}
	}
	return e
}

// addLevel gives a factor a level, once.
func addLevel(f *record.Factor, name string) {
	f.Baseline = cmp.Or(f.Baseline, name)
	if !slices.ContainsFunc(f.Levels, func(l record.Level) bool { return l.Name == name }) {
		f.Levels = append(f.Levels, record.Level{Name: name})
	}
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

// responses are what a measurement is shown by.
func responses(o Options) (names []string) {
	add := func(list ...metric.Metric) {
		names = append(names, lists.Map(list, func(m metric.Metric) string { return m.Name })...)
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

// Keep saves a measurement in the notebook and sets its ID. It writes even if ctx has ended.
func Keep(ctx context.Context, store notebook.Store, run *record.Run) error {
	ctx = context.WithoutCancel(ctx)
	status := run.Status
	if err := store.Begin(ctx, run); err != nil {
		return err
	}
	run.Status = status
	return Finish(ctx, store, run)
}

// Finish stores the result of a measurement that Store.Begin has added.
func Finish(ctx context.Context, store notebook.Store, run *record.Run) error {
	ctx = context.WithoutCancel(ctx)
	for _, t := range run.Trials {
		if err := store.SaveTrial(ctx, run.ID, t); err != nil {
			return err
		}
	}
	return store.Finish(ctx, run)
}
