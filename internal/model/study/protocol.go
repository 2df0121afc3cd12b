package study

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/source"
)

// protocols checks the options against the protocols of the flows that they apply to, and the
// responses against the flows.
func (c *checker) protocols(p *Plan) {
	options := map[string]flow.Spec{"workload": c.Workload.Spec}
	governs := map[string]map[string]bool{} // protocols that an option applies to, by its path
	bound := map[string]bool{}              // paths of flows that specify a source address
	copied := map[string]bool{}             // paths of flows with copies
	var order []string
	govern := func(path, protocol string) {
		if governs[path] == nil {
			governs[path] = map[string]bool{}
			order = append(order, path)
		}
		governs[path][protocol] = true
	}
	reported := map[string]bool{}
	for _, t := range p.Treatments {
		list, flows := "workload.flows", c.Workload.Flows
		above := []string{"workload"}
		for _, l := range c.chosen(t) {
			if l.Workload == nil {
				continue
			}
			path := l.path + ".workload"
			options[path], above = l.Workload.Spec, append(above, path)
			if l.Workload.Flows != nil {
				list, flows = path+".flows", l.Workload.Flows
			}
		}
		for i, f := range t.Workload.Flows {
			path := fmt.Sprintf("%s[%d]", list, i)
			options[path] = flows[i].Spec
			for _, path := range append(above, path) {
				govern(path, flow.Of(f.Protocol).Name)
				bound[path] = bound[path] || f.Source.IsValid()
				copied[path] = copied[path] || f.Copies > 1
			}
			for _, o := range flow.Options {
				wrong := o.Conflict(&f.Spec)
				if wrong == "" {
					continue
				}
				if at := c.written(t, path, o.Key); !reported[at] {
					reported[at] = true
					c.report(at, "%s%s", o.Key, wrong)
				}
			}
		}
	}
	for _, path := range order {
		for _, o := range flow.Options {
			over := options[path]
			known := o.Protocols == nil || slices.ContainsFunc(o.Protocols, func(p string) bool {
				return governs[path][p]
			})
			if !known && c.has(path+"."+o.Key) && !o.IsNeutral(&over) {
				c.meaningless(path, o, over, governs[path])
			}
		}
		if at := path + ".destinations"; c.has(at) && options[path].Destinations == flow.AllDestinations &&
			!copied[path] {
			c.report(at,
				"destinations: all means nothing to a flow without copies; expected copies of 2 or more, or a flow "+
					"for each address: destination: \"192.0.2.{1..2}\"")
		}
		if at := path + ".bind_no_port"; c.has(at) && !bound[path] {
			c.report(at,
				"bind_no_port: means nothing to a flow without source: nothing is bound, and connecting chooses")
		}
	}
	c.responses(p)
}

func (c *checker) meaningless(path string, o *flow.Option, over flow.Spec, protocols map[string]bool) {
	if o.Key == "direction" {
		c.report(path+".direction",
			"direction %s: of %s flows the opener asks and the other end responds; there is no other direction",
			over.Direction, spell(protocols))
		return
	}
	c.report(path+"."+o.Key, "%s: means nothing to %s flows, only to %s", o.Key, spell(protocols),
		source.Or(o.Protocols))
}

// spell joins protocols in the order of the reference.
func spell(set map[string]bool) string {
	return strings.Join(flow.Names(func(p flow.Protocol) bool { return set[p.Name] }), " and ")
}

// responses checks that every treatment has the study's responses, and sets the default.
func (c *checker) responses(p *Plan) {
	c.probed(p)
	lacking := func(r metric.Metric) (Treatment, bool) {
		if c.Workload.Probe && r.From(flow.RR) {
			return Treatment{}, false
		}
		for _, t := range p.Treatments {
			if len(t.Workload.Flows) > 0 && !slices.ContainsFunc(t.Workload.Flows, func(f Flow) bool {
				return r.From(f.Protocol)
			}) {
				return t, true
			}
		}
		return Treatment{}, false
	}
	if c.Workload.LossFree != nil && !c.searchable(p) {
		return
	}
	if c.has("response") {
		for i, name := range c.Responses {
			path := fmt.Sprintf("response[%d]", i)
			r, _ := metric.Find(name)
			if slices.Contains(c.Responses[:i], name) {
				c.report(path, "response %s is given twice", name)
			} else if name == metric.LossFree.Name && c.Workload.LossFree == nil {
				c.report(path, "response %s: nothing searches for it; expected loss_free in the workload as well", name)
			} else if t, lacks := lacking(r); lacks {
				c.report(path, "response %s: treatment %q has no flow of protocol %s, so it has none", name, t.Name,
					source.Or(r.Protocols))
			}
		}
		if len(c.Responses) == 0 {
			c.report("response", "response: expected one of %s", source.Or(metric.ResponseNames()))
		}
		return
	}
	var beside []string
	if c.Workload.Probe {
		beside = []string{metric.LatencyP50.Name, metric.LatencyP99.Name}
	}
	if c.Workload.LossFree != nil {
		c.Responses = append([]string{metric.LossFree.Name}, beside...)
		return
	}
	var missing []string
	for _, p := range flow.Protocols {
		first, _ := metric.Find(p.Responses[0])
		t, lacks := lacking(first)
		if !lacks {
			c.Responses = append(slices.Clone(p.Responses), beside...)
			return
		}
		missing = append(missing, fmt.Sprintf("%q has no %s flow, and so no %s", t.Name, source.Or(first.Protocols),
			first.Name))
	}
	c.report("workload", "the treatments have nothing in common to be judged by: %s",
		strings.Join(slices.Compact(missing), "; "))
}
