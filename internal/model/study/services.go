package study

import (
	"fmt"
	"net/netip"
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// services checks the services that flows connect to in every treatment.
func (c *checker) services(p *Plan) {
	for _, t := range p.Treatments {
		list := c.flowsPath(t)
		for i, f := range t.Workload.Flows {
			if !f.Served() {
				continue
			}
			at := c.written(t, fmt.Sprintf("%s[%d]", list, i), "service")
			host, known := c.Topology.Host(f.To)
			if !known {
				continue // which has been reported
			}
			s, known := host.Service(f.Service)
			_, program, ok := s.Of()
			switch {
			case !known:
				c.report(at, "host %s has no service %q%s", f.To, f.Service,
					source.DidYouMean(f.Service, host.ServiceNames()))
			case ok && !slices.Contains(program.Protocols, f.Protocol):
				c.report(at, "service %s: %s does not answer flows of %s here, but those of %s", f.Service,
					program.Name, f.Protocol, source.Or(program.Protocols))
			}
		}
	}
}

// ServedAt returns the address at which the flow's service listens. It returns false if linerate's
// own server answers.
func (f PlannedFlow) ServedAt(t *topology.Topology) (netip.AddrPort, bool) {
	host, known := t.Host(f.Acceptor)
	if !f.Served() || !known {
		return netip.AddrPort{}, false
	}
	given, known := host.Service(f.Service)
	s, _, _ := given.Of()
	return netip.AddrPortFrom(f.Destination, uint16(s.Port)), known
}

// Bodies returns the sizes of the responses that HTTP services must have in a treatment.
func (t *Treatment) Bodies() (sizes []int64) {
	for _, f := range t.Flows {
		if size := f.body(); f.Served() && f.Protocol == flow.HTTP && !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

func (f PlannedFlow) body() int64 {
	if f.Response == 0 {
		return flow.DefaultBody
	}
	return int64(f.Response)
}

// Asked returns the options of the flow for its opener. If the server is a service and the flow has
// no path, it adds the path of a file of the size of the response.
func (f PlannedFlow) Asked() flow.Spec {
	spec := f.Spec
	if f.Served() && f.Protocol == flow.HTTP && f.Path == "" {
		spec.Path = fmt.Sprintf("/%d", f.body())
	}
	return spec
}
