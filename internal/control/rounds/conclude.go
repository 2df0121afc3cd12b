package rounds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"linerate/internal/control/reach"
	"linerate/internal/model/mesh"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/suspects"
	"linerate/internal/science/tomography"
)

// conclude fills in what the rounds say.
func (c *conductor) conclude() {
	m, before := c.run.Mesh, c.run.Mesh.Conclusion
	planned, added := suspects.Of(c.run)
	c.run.Conclusion = nil
	if m.Conclusion = nil; len(planned.Observations) == 0 {
		return
	}
	says := suspects.Conclude(planned)
	if len(added.Observations) > 0 {
		says = suspects.Confirm(planned, added, says)
	}
	if m.Fabric != nil {
		links, err := tomography.Mesh(m.Fabric, planned, says)
		if err != nil {
			c.options.Say("links between switches are not judged: " + err.Error())
		}
		says.Suspects = append(links, says.Suspects...)
	}
	if before != nil { // its hosts were looked at
		for i := range says.Suspects {
			for _, s := range before.Suspects {
				if same(s, says.Suspects[i]) {
					says.Suspects[i].Findings = s.Findings
				}
			}
		}
	}
	m.Conclusion = &says
	brief := says // for lists of runs
	brief.Effects, brief.Racks, brief.Worst = nil, nil, nil
	brief.Unmeasured, brief.Limits, brief.Candidates = nil, nil, nil
	c.run.Conclusion = &record.Conclusion{Unit: c.run.Unit, Response: m.Metric, Trials: len(c.run.Trials),
		Conditions: []record.ConditionResult{}, Mesh: &brief,
		Ending: record.Ending{Status: c.run.Status, Blocks: 1, Planned: 1}}
}

func same(a, b record.MeshSuspect) bool {
	return a.Kind == b.Kind && a.Host == b.Host && a.From == b.From && a.To == b.To && a.Link == b.Link
}

// again adds rounds in which suspects are tested again, once, and reports whether there are any. When
// these are measured it looks at the hosts of the suspects that they confirm.
func (c *conductor) again(ctx context.Context) (more bool, _ error) {
	m := c.run.Mesh
	if c.conclude(); m.Conclusion == nil {
		return false, nil
	}
	if len(m.Again) == 0 {
		planned, _ := suspects.Of(c.run)
		wanted := suspects.Again(planned, *m.Conclusion)
		wanted = slices.DeleteFunc(wanted, func(p mesh.Pair) bool {
			return c.agents[p[0]] == nil || c.agents[p[1]] == nil
		})
		for len(wanted) > 0 { // a pair that is listed again is measured again
			var once, rest []mesh.Pair
			for _, p := range wanted {
				if slices.Contains(once, p) {
					rest = append(rest, p)
				} else {
					once = append(once, p)
				}
			}
			rounds, _, err := c.plan.Schedule(once)
			if err != nil {
				return false, err
			}
			m.Again, wanted = append(m.Again, rounds...), rest
		}
		if len(m.Again) > 0 {
			return true, c.describe(ctx)
		}
	}
	return false, c.examine(ctx)
}

const (
	// mostExamined bounds the hosts whose snapshots are taken.
	mostExamined = 32
	// between is the time between the two readings of their counters.
	between = time.Second
	// examineTimeout bounds the snapshots, beyond that time.
	examineTimeout = time.Minute
)

// examine evaluates snapshots of both ends of what was confirmed: a host, or two of a pair.
func (c *conductor) examine(ctx context.Context) error {
	suspects := c.run.Mesh.Conclusion.Suspects
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) && len(names) < mostExamined {
			names = append(names, name)
		}
	}
	for _, s := range suspects {
		if s.Confirmed {
			add(s.Host)
			if s.Kind == record.MeshPair {
				add(s.From)
				add(s.To)
			}
		}
	}
	var list []*reach.Reached
	for _, i := range c.present() {
		if slices.Contains(names, c.hosts[i].Name) {
			list = append(list, c.agents[i])
		}
	}
	if len(list) == 0 {
		return nil
	}
	c.progress("looking at " + few(names))
	within, cancel := context.WithTimeoutCause(ctx, between+examineTimeout,
		fmt.Errorf("no snapshot within %v: %w", between+examineTimeout, context.DeadlineExceeded))
	defer cancel()
	snapshots, err := c.reached.SnapshotsOf(within, list, message.SnapshotRequest{OverNs: int64(between)})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, one := range all(err) {
		if e, is := errors.AsType[*reach.Error](one); is {
			c.options.Say("not looked at: " + e.Error())
		}
	}
	for i := range suspects {
		s := &suspects[i]
		if !s.Confirmed {
			continue
		}
		ends := slices.DeleteFunc(slices.Clone(snapshots), func(h netstate.HostSnapshot) bool {
			return h.Reading.Host != s.Host && (s.Kind != record.MeshPair || h.Reading.Host != s.From &&
				h.Reading.Host != s.To)
		})
		if len(ends) > 0 {
			s.Findings = slices.DeleteFunc(diagnose.Hosts(ends).Findings, func(f record.Finding) bool {
				return f.Confidence == record.Possible
			})
		}
	}
	return nil
}
