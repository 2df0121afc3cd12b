package study

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Which protocols an option means something to. What is not here means something
// to all. Of transactions the opener asks, so that they have no other direction.
var meaningful = []struct {
	key       string
	protocols []string
	written   func(o Options) bool // true: this value needs one of the protocols
	clear     func(o *Options)
}{
	{"direction", bulk, func(o Options) bool { return o.Direction != Write }, func(o *Options) { o.Direction = Write }},
	{"mss", overTCP, always, func(o *Options) { o.MSS = 0 }},
	{"nodelay", overTCP, always, func(o *Options) { o.NoDelay = nil }},
	{"congestion_control", overTCP, always, func(o *Options) { o.CongestionControl = "" }},
	{"rate_cap", bulk, always, func(o *Options) { o.RateCap = 0 }},
	{"mode", stream, always, func(o *Options) { o.Mode = "" }},
	{"read_cap", stream, always, func(o *Options) { o.ReadCap = 0 }},
	{"write_cap", stream, always, func(o *Options) { o.WriteCap = 0 }},
	{"source_ports", bulk, func(o Options) bool { return o.SourcePorts != PortsKernel }, func(o *Options) { o.SourcePorts = "" }},
	{"datagram", datagrams, always, func(o *Options) { o.Datagram = 0 }},
	{"request", transactional, always, func(o *Options) { o.Request = 0 }},
	{"response", transactional, always, func(o *Options) { o.Response = 0 }},
	{"connections", transactional, always, func(o *Options) { o.Connections = 0 }},
	{"pace", transactional, always, func(o *Options) { o.Pace = 0 }},
	{"poll", transactional, always, func(o *Options) { o.Poll = nil }},
	{"follow", transactional, always, func(o *Options) { o.Follow = nil }},
	{"threads", transactional, always, func(o *Options) { o.Threads = 0 }},
}

// ProtocolsOf are the protocols that an option means something to, by its key;
// none: to all, or there is no such option.
func ProtocolsOf(key string) []string {
	for _, m := range meaningful {
		if m.key == key {
			return m.protocols
		}
	}
	return nil
}

func always(Options) bool { return true }

var (
	stream        = []string{flow.TCP}
	datagrams     = []string{flow.UDP}
	bulk          = []string{flow.TCP, flow.UDP}
	transactional = flow.Transactional
	overTCP       = []string{flow.TCP, flow.RR, flow.CRR}
)

// protocol is the options' protocol by its name.
func (o Options) protocol() string {
	or(&o.Protocol, flow.TCP)
	return o.Protocol
}

// fitted returns the options that mean something to their protocol: a workload's
// are for flows of several. Those of transactions get their defaults.
func (o Options) fitted() Options {
	for _, m := range meaningful {
		if !slices.Contains(m.protocols, o.protocol()) {
			m.clear(&o)
		}
	}
	if !flow.Bulk(o.Protocol) {
		or(&o.Request, 1)
		or(&o.Response, 1)
		or(&o.Connections, 1)
		or(&o.Threads, 1)
	}
	return o
}

// protocols checks the options against the protocols of the flows that they are
// for, and the responses against what the flows have.
func (c *checker) protocols(p *Plan) {
	options := map[string]Options{"workload": c.Workload.Options}
	governs := map[string]map[string]bool{} // protocols by path of options
	bound := map[string]bool{}              // those of flows that say where they connect from
	var order []string
	govern := func(path, protocol string) {
		if governs[path] == nil {
			governs[path] = map[string]bool{}
			order = append(order, path)
		}
		governs[path][protocol] = true
	}
	told := map[string]bool{} // what has been reported
	for _, t := range p.Treatments {
		list, flows := "workload.flows", c.Workload.Flows
		above := []string{"workload"}
		for i, f := range c.Factors {
			j := slices.IndexFunc(f.Levels, func(l Level) bool { return l.Name == t.Levels[f.Name] })
			over := f.Levels[j].Workload
			if over == nil {
				continue
			}
			path := fmt.Sprintf("factors[%d].levels[%d].workload", i, j)
			options[path], above = over.Options, append(above, path)
			if over.Flows != nil {
				list, flows = path+".flows", over.Flows
			}
		}
		for i, f := range t.Workload.Flows {
			path := fmt.Sprintf("%s[%d]", list, i)
			options[path] = flows[i].Options
			for _, path := range append(above, path) {
				govern(path, f.protocol())
				bound[path] = bound[path] || f.Source.IsValid()
			}
			for _, m := range []struct {
				key   string
				bytes unit.Bytes
			}{{"request", f.Request}, {"response", f.Response}} {
				if f.Protocol != flow.UDPRR || m.bytes <= flow.MaxDatagramBytes {
					continue
				}
				if at := c.written(t, path, m.key); !told[at] {
					told[at] = true
					c.report(at, "%s %s: of %s each is one datagram, which carries at most %d bytes", m.key, m.bytes, f.Protocol, flow.MaxDatagramBytes)
				}
			}
			if f.Follow != nil && *f.Follow && (f.Connections > 1 || f.Poll != nil && *f.Poll) {
				if at := c.written(t, path, "follow"); !told[at] {
					told[at] = true
					c.report(at, "follow: a thread follows the packets of one connection, and does not poll; this flow has %s, poll: %t", count(f.Connections, "connection"), f.Poll != nil && *f.Poll)
				}
			}
			if f.Threads > f.Connections && !flow.Bulk(f.Protocol) {
				if at := c.written(t, path, "threads"); !told[at] {
					told[at] = true
					c.report(at, "threads %d: a flow with %s has nothing for more than %d to do: say connections, too", f.Threads, count(f.Connections, "connection"), f.Connections)
				}
			}
		}
	}
	for _, path := range order {
		for _, m := range meaningful {
			known := slices.ContainsFunc(m.protocols, func(p string) bool { return governs[path][p] })
			if known || !c.has(path+"."+m.key) || !m.written(options[path]) {
				continue
			}
			c.meaningless(path, m.key, options[path], m.protocols, governs[path])
		}
		if at := path + ".bind_no_port"; c.has(at) && !bound[path] {
			c.report(at, "bind_no_port: means nothing to a flow without source: nothing is bound, and connecting chooses")
		}
	}
	c.responses(p)
}

func (c *checker) meaningless(path, key string, o Options, wanted []string, protocols map[string]bool) {
	if key == "direction" {
		c.report(path+".direction", "direction %s: of %s flows the opener asks and the other end responds; there is no other direction", o.Direction, spell(protocols))
		return
	}
	c.report(path+"."+key, "%s: means nothing to %s flows, only to %s", key, spell(protocols), source.Or(wanted))
}

// spell lists a set of protocols in the order in which they are known.
func spell(set map[string]bool) string {
	var list []string
	for _, p := range flow.Protocols {
		if set[p] {
			list = append(list, p)
		}
	}
	return strings.Join(list, " and ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// responses checks that every treatment has what the study judges by, and chooses
// where it does not say.
func (c *checker) responses(p *Plan) {
	c.probed(p)
	lacking := func(r metric.Metric) (Treatment, bool) {
		if c.Workload.Probe && r.From(flow.RR) {
			return Treatment{}, false
		}
		for _, t := range p.Treatments {
			if len(t.Workload.Flows) > 0 && !slices.ContainsFunc(t.Workload.Flows, func(f Flow) bool { return r.From(f.Protocol) }) {
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
				c.report(path, "response %s: treatment %q has no flow of protocol %s, so it has none", name, t.Name, source.Or(r.Protocols()))
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
	without, noGoodput := lacking(metric.Goodput)
	if !noGoodput {
		c.Responses = append([]string{metric.Goodput.Name}, beside...)
		return
	}
	if other, lacks := lacking(metric.Transactions); lacks {
		c.report("workload", "the treatments have nothing in common to be judged by: %q has no tcp or udp flow, and so no goodput; %q has no flow of %s, and so no transactions", without.Name, other.Name, source.Or(transactional))
		return
	}
	c.Responses = []string{metric.Transactions.Name, metric.LatencyP99.Name}
}
