package study

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/source"
	"linerate/internal/model/tool"
)

// tools checks the use of foreign tools in every treatment: one level may select the tool, and
// another one an option that it does not support.
func (c *checker) tools(p *Plan) {
	for _, t := range p.Treatments {
		c.fixedPorts(t)
		list := c.flowsPath(t)
		for i, f := range t.Workload.Flows {
			at := toolFlow{c, t, fmt.Sprintf("%s[%d]", list, i)}
			if program, foreign := tool.Find(f.Tool); foreign {
				at.check(program, f)
			} else if len(f.ToolArgs) > 0 &&
				f.Tool.Name != flow.OwnTool { // the arguments mean nothing to linerate, which replaces the tool
				c.report(at.path("tool_args"), "tool_args without a tool: which program's words are these?")
			}
		}
	}
}

// fixedPorts checks that no two processes of a treatment use the same port, since their connections
// could not be distinguished.
func (c *checker) fixedPorts(t Treatment) {
	taken := map[netip.AddrPort]string{}
	for _, f := range t.Flows {
		at := netip.AddrPortFrom(f.Destination, uint16(f.Tool.Port))
		if f.Tool.Port == 0 {
			continue
		}
		if other, is := taken[at]; is && other != f.Process {
			c.report(c.flowsPath(t),
				"treatment %q: port %d of %s is used by another process, too: the connections of the two cannot be "+
					"distinguished",
				t.Name, at.Port(), at.Addr())
			return
		}
		taken[at] = f.Process
	}
}

// flowsPath returns the path at which the flows of a treatment are written.
func (c *checker) flowsPath(t Treatment) string {
	list := "workload.flows"
	for _, l := range c.chosen(t) {
		if l.Workload != nil && l.Workload.Flows != nil {
			list = l.path + ".workload.flows"
		}
	}
	return list
}

// toolFlow is a flow of a treatment that a tool makes.
type toolFlow struct {
	*checker
	treatment Treatment
	flow      string // its path
}

func (f toolFlow) path(key string) string { return f.written(f.treatment, f.flow, key) }

func (f toolFlow) check(program *tool.Tool, of Flow) {
	protocol := flow.Of(of.Protocol)
	if !slices.Contains(program.Protocols, protocol.Name) {
		f.report(f.path("tool"), "%s makes no flows of protocol %s: it does %s", program.Name, protocol.Name,
			source.Or(program.Protocols))
		return
	}
	for _, o := range flow.Options {
		key, wanted := o.Key, o.Wanted(&of.Spec)
		if key == "congestion_control" { // a study always has one
			wanted = f.has(f.path(key))
		}
		if o.Planned || !wanted || program.Can(key) {
			continue
		}
		others := tool.Or(key)
		if others == "" {
			f.report(f.path(key), "%s is an option of linerate's own flows; %s does not have it", key, program.Name)
			continue
		}
		f.report(f.path(key), "%s: %s has no such option here; of the tools, %s", key, program.Name, others)
	}
	switch {
	case of.Source.IsValid() && program.NoSource:
		f.report(f.flow+".source", "%s has no option for the address to connect from", program.Name)
	case program.WriteOnly && protocol.Bulk() && of.Direction != flow.Write:
		f.report(f.path("direction"), "direction %s: %s's client always sends", of.Direction, program.Name)
	case program.Name == "iperf" && protocol.Name == flow.UDP && of.RateCap == 0:
		f.report(f.path("tool"), "iperf sends datagrams at a rate: give rate_cap")
	}
	if wrong := program.Problem(tool.Job{Spec: of.Spec, Source: of.Source}, of.Direction); wrong != "" {
		f.report(f.path("tool"), "tool: %s", wrong)
	}
	if of.Tool.Described() && len(of.ToolArgs) > 0 {
		f.report(f.path("tool_args"), "tool_args: write the words of a description in its client")
		return
	}
	for _, wrong := range program.CheckArgs(of.ToolArgs) {
		f.report(fmt.Sprintf("%s[%d]", f.path("tool_args"), wrong.Index), "tool_args %q: %s",
			of.ToolArgs[wrong.Index], wrong.Why)
	}
}
