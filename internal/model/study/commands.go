package study

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/model/tool"
	"linerate/internal/model/topology"
)

// Commands lists the commands that executing the plan runs: those of its topology, and the tools of
// its flows.
func (p *Plan) Commands() []topology.Command {
	list := p.Study.Topology.Commands()
	tools := map[[2]string]topology.Command{} // by node and Alike
	for _, t := range p.Treatments {
		times := map[[2]string]int{}
		for _, job := range toolJobs(t) {
			alike := job
			alike.Seconds = 1
			alike.Destination = netip.AddrPortFrom(unnamed(job.Destination.Addr()), 0)
			if job.Source.IsValid() {
				alike.Source = unnamed(job.Source)
			}
			server, client := job.tool.Shown(job.Job)
			serverAlike, clientAlike := alike.tool.Shown(alike.Job)
			for _, c := range []struct {
				node        string
				argv, alike []string
			}{{job.client, client, clientAlike}, {job.server, server, serverAlike}} {
				if c.argv == nil {
					continue // the tool has no server
				}
				key := [2]string{c.node, strings.Join(c.alike, "\x00")}
				times[key]++
				made, known := tools[key]
				if !known {
					made = topology.Command{Node: c.node, Argv: c.argv, Alike: key[1]}
				}
				made.Times = max(made.Times, times[key])
				tools[key] = made
			}
		}
	}
	return append(list, slices.SortedFunc(maps.Values(tools), func(a, b topology.Command) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Alike, b.Alike))
	})...)
}

// unnamed returns the unspecified address of the same family.
func unnamed(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// toolJob is one client of a tool with its server.
type toolJob struct {
	tool           *tool.Tool
	client, server string
	tool.Job
}

// toolJobs returns the jobs of a treatment in the order of its flows.
func toolJobs(t Treatment) (jobs []toolJob) {
	places := map[string]int{} // index in jobs, by process
	for _, f := range t.Flows {
		made, foreign := tool.Find(f.Tool)
		if !foreign {
			continue
		}
		at, known := places[f.Process]
		if !known {
			at = len(jobs)
			places[f.Process] = at
			jobs = append(jobs, toolJob{made, f.Opener, f.Acceptor, tool.Job{
				Spec: f.Spec, Reads: !f.OpenerSends, Source: f.Source,
				Destination: netip.AddrPortFrom(f.Destination, 0),
				Seconds:     (t.Workload.Warmup + t.Workload.Duration).Seconds(),
			}})
			if !made.All {
				jobs[at].Streams = 0
			}
		}
		if !made.All {
			jobs[at].Streams++
		}
	}
	return jobs
}
