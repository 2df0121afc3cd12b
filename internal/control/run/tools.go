package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/bus"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/study"
	"linerate/internal/model/tool"
)

// MissingToolsError lists foreign tools that a plan needs and that are not installed.
type MissingToolsError struct {
	// Lines has a line for each missing program, with the host and the package.
	Lines []string
	// Treatments are those that need the programs, out of the number Of in the plan.
	Treatments []string
	Of         int
	// StandIn says that linerate's own flows can replace all of the programs.
	StandIn bool
}

func (e *MissingToolsError) Error() string {
	text := strings.Join(e.Lines, "\n") + "\nNothing was made."
	if others := e.Of - len(e.Treatments); others > 0 {
		text += fmt.Sprintf(
			" %d of %d treatments need no such program: --only LEVEL leaves the others out (a factor's baseline is "+
				"always kept).", others, e.Of)
	}
	if e.StandIn {
		text += "\nlinerate's own flows can stand in for it, counted at the sender as it does: --set " +
			"workload.tool=linerate --set workload.accounting=sender"
	}
	return text
}

// program is a program needed on a host; lacking is what to say where it is missing.
type program struct{ host, name, lacking string }

// programs are those that a treatment needs: for its flows, and for the services of its
// hosts, which serve in all treatments.
func programs(p *study.Plan, t study.Treatment) (list []program) {
	for _, f := range t.Flows {
		if named, foreign := tool.Find(f.Tool); foreign {
			list = append(list, program{f.Opener, named.Client, f.Opener + ": " + named.NotInstalled(named.Client)})
			if named.Server != "" {
				list = append(list, program{f.Acceptor, named.Server, f.Acceptor + ": " +
					named.NotInstalled(named.Server)})
			}
		}
	}
	for _, h := range p.Study.Topology.Hosts {
		for _, s := range h.Services {
			if _, of, known := s.Of(); known {
				list = append(list, program{h.Name, of.Name,
					fmt.Sprintf("%s is not installed for service %s of %s: apt-get install %s", of.Name, s.Name, h.Name,
						of.Package)})
			}
		}
	}
	return list
}

// MissingTools looks for the programs that the virtual hosts of a plan need, which are
// this machine's. The agents of real hosts are asked later. The error is a
// *MissingToolsError.
func MissingTools(p *study.Plan) error {
	return missing(p, func(host string, names []string) ([]string, error) {
		if h, _ := p.Study.Topology.Host(host); len(h.Via) > 0 {
			return nil, nil
		}
		return slices.DeleteFunc(names, func(name string) bool {
			_, err := proc.Find(name)
			return err == nil
		}), nil
	})
}

// missingTools asks the real hosts' agents.
func (c *conductor) missingTools(ctx context.Context) error {
	return missing(c.plan, func(host string, names []string) ([]string, error) {
		if h, _ := c.study.Topology.Host(host); len(h.Via) == 0 {
			return nil, nil // see MissingTools
		}
		reply, err := bus.Call(ctx, c.bus, host, message.Programs, message.ProgramsRequest{Programs: names})
		return reply.Missing, err
	})
}

// missingDaemon is an error if a treatment stops a routing daemon and the routes were
// made without one.
func (c *conductor) missingDaemon() error {
	routing := c.lab.Routing()
	if routing == nil || routing.Note == "" {
		return nil
	}
	e := &MissingToolsError{Lines: []string{routing.Note}, Of: len(c.plan.Treatments)}
	for _, t := range c.plan.Treatments {
		if slices.ContainsFunc(t.Workload.Events, func(event study.Event) bool { return event.Stop != "" }) {
			e.Treatments = append(e.Treatments, t.Name)
		}
	}
	if len(e.Treatments) == 0 {
		return nil
	}
	return e
}

// missing asks which of each host's programs are not installed.
func missing(p *study.Plan, ask func(host string, names []string) ([]string, error)) error {
	hosts := map[string][]string{}
	for _, t := range p.Treatments {
		for _, at := range programs(p, t) {
			if !slices.Contains(hosts[at.host], at.name) {
				hosts[at.host] = append(hosts[at.host], at.name)
			}
		}
	}
	absent, err := bus.Collect(slices.Sorted(maps.Keys(hosts)), func(host string) ([]string, error) {
		return ask(host, hosts[host])
	})
	if err != nil {
		return err
	}
	e := &MissingToolsError{Of: len(p.Treatments)}
	if named, foreign := tool.Find(p.Study.Workload.Tool); foreign {
		e.StandIn = !p.Study.Workload.Tool.Described() && slices.Contains(named.Protocols, flow.TCP) &&
			p.Study.Workload.ToolArgs == nil
	}
	for _, t := range p.Treatments {
		lacks := false
		for _, at := range programs(p, t) {
			if slices.Contains(absent[at.host], at.name) {
				lacks = true
				e.Lines = append(e.Lines, at.lacking)
			}
		}
		if lacks {
			e.Treatments = append(e.Treatments, t.Name)
		}
	}
	if len(e.Lines) == 0 {
		return nil
	}
	slices.Sort(e.Lines)
	e.Lines = slices.Compact(e.Lines)
	return e
}
