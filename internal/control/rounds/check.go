package rounds

import (
	"errors"
	"fmt"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/mesh"
	"linerate/internal/model/unit"
)

// Bounds of a mesh.
const (
	mostStreams = 64
	mostWindow  = time.Hour
)

// check returns an error for a plan or options that cannot be measured.
func check(plan *mesh.Plan, hosts []Host, o Options) error {
	switch n := len(hosts); {
	case n != len(plan.Hosts):
		return fmt.Errorf("the plan has %d hosts, and %d are given", len(plan.Hosts), n)
	case o.Duration <= 0 || o.Duration > mostWindow || o.Warmup < 0 || o.Warmup > mostWindow:
		return fmt.Errorf("a window of %v after %v: expected at most %v", o.Duration, o.Warmup, mostWindow)
	case o.Flows.Streams > mostStreams:
		return fmt.Errorf("%d streams: expected at most %d", o.Flows.Streams, mostStreams)
	case o.latency() && o.Flows.Streams > 1:
		return errors.New("latency is measured with one stream: expected it without several")
	case flow.Of(o.Flows.Protocol).Application:
		return fmt.Errorf("a mesh of %s: expected tcp, udp or rr", o.Flows.Protocol)
	}
	if f := o.Fabric; f != nil {
		for _, h := range plan.Hosts {
			if _, is := f.Host(h.Name); !is {
				return fmt.Errorf("the topology has no host %s", h.Name)
			}
		}
	}
	if err := plan.Check(); err != nil {
		return fmt.Errorf("the plan: %w", err)
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // one without a change of clocks
	begin := plan.Hours.Next(day)
	if end := plan.Hours.End(begin); !end.IsZero() && begin.Add(o.Duration+o.Warmup+Overhead).After(end) {
		return fmt.Errorf("a round of %v does not fit into the hours %s", o.Duration+o.Warmup+Overhead, plan.Hours)
	}
	for i, h := range plan.Hosts {
		if h.Name != hosts[i].Name {
			return fmt.Errorf("host %d of the plan is %s, and of those that are given %.60q", i+1, h.Name,
				hosts[i].Name)
		}
	}
	return nil
}

// named are the options of a mesh for its record, by name, and restore reads them again.
func named(o Options) map[string]string {
	all := map[string]string{"duration": unit.Duration(o.Duration).String(),
		"warmup": unit.Duration(o.Warmup).String()}
	for _, option := range flow.Options {
		if option.Type != "" && option.Wanted(&o.Flows) {
			all[option.Key] = option.Text(&o.Flows)
		}
	}
	return all
}

func (o *Options) restore(named map[string]string) error {
	var problems []error
	for key, text := range named {
		var err error
		switch key {
		case "duration", "warmup":
			var d unit.Duration
			d, err = unit.ParseDuration(text)
			if key == "warmup" {
				o.Warmup = time.Duration(d)
			} else {
				o.Duration = time.Duration(d)
			}
		default:
			if option := flow.Find(key); option != nil {
				err = option.Parse(&o.Flows, text)
			}
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
