package study

import (
	"cmp"
	"fmt"
	"slices"

	"linerate/internal/model/attacks"
	"linerate/internal/model/flow"
	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// checker checks a study apart from its topology.
type checker struct {
	*Study
	report source.Report
	// has reports whether the file contains a value. False: it has its default.
	has func(path string) bool
	doc *source.Document
	// varied reports whether levels change the paths of packets. A problem with a flow then exists
	// only in some treatments.
	varied bool
	// unsound has the keys of flows whose path cannot be checked.
	unsound map[string]bool
	// broken has the paths of levels with a wrong setting. The paths of packets with them are
	// meaningless.
	broken map[string]bool
}

var studyName = pattern.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// check checks the parts of a study that were decoded completely, together with what they refer to.
// In all other parts it only checks the names of hosts. So one kind of mistake does not hide
// another, and does not cause false reports.
func (c *checker) check() {
	if !studyName.MatchString(c.Name) {
		c.report("study", "study name %q: expected small letters, digits and dashes", c.Name)
	}
	c.unsound, c.broken = map[string]bool{}, map[string]bool{}
	hosts, workload := c.doc.Sound("topology"), c.doc.Sound("workload")
	factors, design := c.doc.Sound("factors"), c.doc.Sound("design")
	if factors && hosts {
		for i, f := range c.Factors {
			c.Factors[i] = f.ablated()
		}
		c.settings()
		c.factors()
	}
	if workload && hosts {
		c.workload()
	}
	if design {
		c.Design.check(c.has, c.report)
	}
	if design && factors {
		c.parts()
	}
	if hasNodes(c.doc) && !(hosts && workload && factors) {
		c.names()
	}
}

func (c *checker) workload() {
	c.timing("workload", c.Workload.Duration, c.Workload.Warmup)
	c.interval()
	c.options("workload", c.Workload.Spec)
	c.lossFree()
	c.hosts("workload.age_neighbours", c.Workload.AgeNeighbours)
	c.events("workload", &c.Topology, c.Workload.Events)
	c.attacks("workload", &c.Topology, c.Workload.Attacks)
	if len(c.Workload.Flows) == 0 {
		c.report("workload.flows", "no flows: nothing would be measured")
	}
	c.flows("workload.flows", c.Workload.Flows)
}

// names checks the names of hosts in flows, settings and events.
func (c *checker) names() {
	known := func(name, path string) { c.Topology.FindHost(name, path, c.report) }
	workload := func(path string, flows []Flow, aging []string, events []Event, attacking []attacks.Spec) {
		for i, f := range flows {
			known(f.From, fmt.Sprintf("%s.flows[%d].from", path, i))
			known(f.To, fmt.Sprintf("%s.flows[%d].to", path, i))
		}
		for i, name := range aging {
			known(name, fmt.Sprintf("%s.age_neighbours[%d]", path, i))
		}
		for i, e := range events {
			known(e.Host, fmt.Sprintf("%s.events[%d].host", path, i))
		}
		for i, a := range attacking {
			known(a.From, fmt.Sprintf("%s.attacks[%d].from", path, i))
			known(a.To, fmt.Sprintf("%s.attacks[%d].to", path, i))
		}
	}
	workload("workload", c.Workload.Flows, c.Workload.AgeNeighbours, c.Workload.Events, c.Workload.Attacks)
	for i, f := range c.Factors {
		for j, l := range f.Levels {
			path := fmt.Sprintf("factors[%d].levels[%d]", i, j)
			for k, s := range l.Settings {
				known(s.Host, fmt.Sprintf("%s.settings[%d].host", path, k))
			}
			if over := l.Workload; over != nil {
				workload(path+".workload", over.Flows, over.AgeNeighbours, over.Events, over.Attacks)
			}
		}
	}
}

// settings checks the settings of all levels, each together with what its level adds.
func (c *checker) settings() {
	for i, f := range c.Factors {
		wrong := map[string]bool{} // levels
		for j, l := range f.Levels {
			if l.Part != "" && wrong[f.Ablate] {
				continue // the problem with the list has been reported
			}
			report := func(path, format string, args ...any) {
				if l.Part == "" {
					c.report(path, format, args...)
				} else if !wrong[l.Name] { // it is not in the file
					c.report(fmt.Sprintf("factors[%d].ablate", i), "%q cannot be taken apart into %q: %s", f.Ablate,
						l.Name, fmt.Sprintf(format, args...))
				}
				wrong[l.Name], c.broken[levelPath(i, j)] = true, true
			}
			over := c.Topology.With(l.Settings)
			for k, s := range l.Settings {
				over.CheckSetting(s, fmt.Sprintf("%s.settings[%d]", levelPath(i, j), k), report)
				c.varied = c.varied || s.Address != nil || s.Nexthop != nil || s.Route != nil || s.Rule != nil
			}
		}
	}
}

// timing checks what a workload and an override have in common. An explicit zero differs from a
// missing value.
func (c *checker) timing(path string, duration, warmup unit.Duration) {
	if duration == 0 && c.has(path+".duration") {
		c.report(path+".duration", "duration: expected more than 0s")
	}
	if warmup == 0 && c.has(path+".warmup") {
		c.report(path+".warmup", "warmup: expected more than 0s: a connection needs time to reach its speed")
	}
}

func (c *checker) interval() {
	w := c.Workload
	switch duration := cmp.Or(w.Duration, defaultDuration); {
	case c.has("workload.interval") && w.Interval < minInterval:
		c.report("workload.interval", "interval %s: expected at least %s", w.Interval, minInterval)
	case w.Interval > duration:
		c.report("workload.interval", "interval %s is longer than the window of %s", w.Interval, duration)
	}
	if c.has("workload.connect_timeout") && w.ConnectTimeout == 0 {
		c.report("workload.connect_timeout", "connect_timeout: expected more than 0s")
	}
}

// minInterval is the shortest sampling interval, so that sampling does not distort the measurement.
const minInterval = unit.Duration(5e6)

// options checks the options at a path.
func (c *checker) options(path string, spec flow.Spec) {
	for _, o := range flow.Options {
		if !c.has(path + "." + o.Key) {
			continue
		}
		if wrong := o.Check(&spec); wrong != "" {
			c.report(path+"."+o.Key, "%s%s", o.Key, wrong)
		}
	}
}

// hosts checks a list of host names.
func (c *checker) hosts(path string, names []string) {
	for i, name := range names {
		path := fmt.Sprintf("%s[%d]", path, i)
		if _, ok := c.Topology.FindHost(name, path, c.report); ok && slices.Contains(names[:i], name) {
			c.report(path, "host %q is named twice", name)
		}
	}
}

// end checks the host of a flow. Key is the key of the flow's address at that end.
func (c *checker) end(name, path, key string) bool {
	_, ok := c.Topology.FindHost(name, path, func(path, format string, args ...any) {
		if end, is := c.Topology.EndOf(name); is {
			host, _ := c.Topology.Host(end.Node)
			address := "ADDRESS"
			if i, _ := host.Interface(end.Interface); len(i.Addresses) > 0 {
				address = i.Addresses[0].First.String()
			}
			format, args = "%s, and %s: %s for that interface", []any{fmt.Sprintf(format, args...), key, address}
		}
		c.report(path, format, args...)
	})
	return ok
}

// flows checks flows independently of treatments. Their paths are checked for each treatment.
func (c *checker) flows(path string, flows []Flow) {
	for i, f := range flows {
		path := fmt.Sprintf("%s[%d]", path, i)
		c.options(path, f.Spec)
		fromKnown, toKnown := c.end(f.From, path+".from", "source"), c.end(f.To, path+".to", "destination")
		switch {
		case !fromKnown || !toKnown:
		case f.From == f.To:
			c.report(path, "flow from %q to itself never leaves the host", f.From)
		case f.Source.IsValid() && f.Destination.IsValid() && f.Source.Is4() != f.Destination.Is4():
			c.report(path+".destination", "flow from %s to %s: one is IPv4, the other IPv6", f.Source, f.Destination)
		default:
			continue
		}
		c.unsound[path] = true
	}
}
