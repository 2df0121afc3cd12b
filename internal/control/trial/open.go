package trial

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// Flow is a flow of a trial, as planned and as Open made it.
type Flow struct {
	study.PlannedFlow
	// Cookie and Accepted are set before Open if the flow uses a listener that the acceptor shares
	// among flows. If the acceptor is another program, a service of the topology, only Accepted is.
	Cookie   message.Cookie
	Accepted netip.AddrPort // the acceptor's address
	// SourcePort is the local port of the opener; 0: the kernel chooses.
	SourcePort uint16
	Opened     netip.AddrPort // the opener's address
	Probe      bool           // the flow measures latency beside the other flows
	// Spins allows its threads to spin before they sleep, unless its options say how they wait: it is the only
	// flow, and is compared with none that has more connections.
	Spins   bool
	Failure *message.Error // why it could not be opened; nil: it is open

	ports []uint16 // the acceptor's, if it has several for the flow
}

// Planned returns flows that each have a listener of their own, or a service of the topology as
// acceptor.
func Planned(planned []study.PlannedFlow, over *topology.Topology) []*Flow {
	flows := make([]*Flow, len(planned))
	for i, p := range planned {
		flows[i] = &Flow{PlannedFlow: p}
		flows[i].Accepted, _ = p.ServedAt(over)
	}
	return flows
}

// Ends returns the addresses of the sender and the receiver: those of the connection or, if it is
// not open, the planned ones.
func (f *Flow) Ends(over *topology.Topology) (from, to netip.Addr) {
	planned := f.PlannedFlow
	if f.Opened.IsValid() {
		planned.Source = f.Opened.Addr() // what the kernel chose
	}
	return planned.Addresses(over)
}

// connectStagger is how long a host's connecting waits at most for that of the host before it.
const connectStagger = 20 * time.Millisecond

// Open opens all flows. Acceptors listen, openers connect, one host after another so that ARP
// requests do not coincide, unless the flows are Apart, and acceptors confirm. timeout bounds each
// connection attempt. If a flow cannot be opened, that is not an error of Open: the reason is in its
// Failure.
func (g Group) Open(ctx context.Context, flows []*Flow, timeout time.Duration) error {
	byID := map[string]*Flow{}
	accept, connect := map[string][]message.FlowRequest{}, map[string][]message.FlowRequest{}
	for _, f := range flows {
		byID[f.ID] = f
		if f.Served() {
			continue
		}
		at := f.Destination
		if !f.Cookie.IsZero() {
			at = netip.Addr{}
		}
		accept[f.Acceptor] = append(accept[f.Acceptor], request(f, !f.OpenerSends, at))
	}
	brief, cancel := g.within(ctx, 0)
	defer cancel()
	listening, err := bus.Ask(brief, g.Bus, message.Listen, accept)
	if err != nil {
		return err
	}
	for host, list := range listening {
		for _, l := range list {
			f, ours := byID[l.ID]
			if !ours {
				return fmt.Errorf("%s listens for a flow %.40q that was not requested", host, l.ID)
			}
			f.Failure, f.ports = l.Error, l.Ports
			if f.Cookie.IsZero() {
				f.Accepted = l.Local
			}
		}
	}
	for _, f := range flows {
		if f.Failure != nil && !g.Apart {
			return fmt.Errorf("%s: %w", f.Acceptor, f.Failure)
		}
	}
	if g.Accepting != nil {
		if err := g.Accepting(ctx, flows); err != nil {
			return err
		}
	}
	for _, f := range flows {
		if f.Failure != nil {
			continue
		}
		o := request(f, f.OpenerSends, f.Source)
		o.Remote, o.LocalPort, o.Ports = f.Accepted, f.SourcePort, f.ports
		connect[f.Opener] = append(connect[f.Opener], o)
	}
	stagger := connectStagger
	if g.Apart {
		stagger = 0
	}
	connected, err := oneByOne(slices.Sorted(maps.Keys(connect)), stagger,
		func(host string) ([]message.Opened, error) {
			request := message.ConnectRequest{Flows: connect[host], TimeoutNs: int64(timeout)}
			ctx, cancel := g.within(ctx, timeout+connectTime(connect[host]))
			defer cancel()
			return bus.Call(ctx, g.Bus, host, message.Connect, request)
		})
	if err != nil {
		return err
	}
	for _, opened := range connected {
		for _, o := range opened {
			if f, ours := byID[o.ID]; ours {
				f.Opened, f.Failure = o.Local, o.Error
			}
		}
	}
	ready, longest := map[string]message.ReadyRequest{}, timeout
	for host, requests := range accept {
		wait := timeout + acceptTime(requests)
		ready[host], longest = message.ReadyRequest{TimeoutNs: int64(wait)}, max(longest, wait)
	}
	for _, f := range flows {
		if f.Failure != nil && !f.Served() {
			r := ready[f.Acceptor]
			r.Unused = append(r.Unused, f.ID)
			ready[f.Acceptor] = r
		}
	}
	ctx, cancel = g.within(ctx, longest)
	defer cancel()
	accepted, err := bus.Ask(ctx, g.Bus, message.Ready, ready)
	for _, ends := range accepted {
		for _, end := range ends {
			if f, ours := byID[end.ID]; ours && f.Failure == nil {
				f.Failure = end.Error
			}
		}
	}
	return err
}

// acceptTime is how much longer than the timeout very many connections may take to be accepted.
func acceptTime(requests []message.FlowRequest) (d time.Duration) {
	for _, r := range requests {
		d += time.Duration(r.Connections) * 100 * time.Microsecond
	}
	return d
}

// connectTime is how much longer than the timeout very many connections may take to be opened: 10
// ms each, for long paths and slow acceptors.
func connectTime(requests []message.FlowRequest) (d time.Duration) {
	for _, r := range requests {
		d += time.Duration(max(1, r.Connections)) * 10 * time.Millisecond
	}
	return d
}

// request returns the request for one end of a flow.
func request(f *Flow, sends bool, local netip.Addr) message.FlowRequest {
	r := message.FlowRequest{Spec: f.Asked(), ID: f.ID, Sends: sends, Local: local, Cookie: f.Cookie,
		Process: f.Process, Foreign: f.Served()}
	if !f.Spins && r.Poll == nil && flow.Of(r.Protocol).Threads {
		r.Poll = new(false)
	}
	return r
}
