package lab

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// Hosts with `bgp` run a routing daemon if one is installed on this machine; otherwise
// they get the routes that it would install as static ones.

// convergeTimeout bounds the wait for all routes. Sessions are retried every second,
// and a large fabric on a busy machine needs several retries.
const convergeTimeout = 60 * time.Second

// Routing says how the hosts got the routes that they learn by BGP; nil: there are
// none.
func (l *Lab) Routing() *record.Routing { return l.routing }

// probeRouting asks one agent whether a routing daemon is installed: all hosts with BGP
// are on this machine.
func (l *Lab) probeRouting(ctx context.Context) error {
	i := slices.IndexFunc(l.topology.Hosts, func(h topology.Host) bool { return h.BGP != nil })
	if i < 0 {
		return nil
	}
	reply, err := bus.Call(ctx, l.bus, l.topology.Hosts[i].Name, message.ProbeBGP, struct{}{})
	if err != nil {
		return err
	}
	l.routing = &record.Routing{Protocol: "bgp", Daemon: reply.Daemon, Note: reply.Lacking}
	return nil
}

// daemons reports whether routing daemons install the learned routes.
func (l *Lab) daemons() bool { return l.routing != nil && l.routing.Daemon != "" }

// Converge starts the routing daemons that are not running, and waits until the kernel
// of every host has all learned routes. took is the time that this took; 0: no daemon
// had to be started and no route waited for.
func (l *Lab) Converge(ctx context.Context) (took time.Duration, err error) {
	if !l.daemons() {
		return 0, nil
	}
	began := time.Now()
	requests, wanted := map[string]message.BGPRequest{}, map[string]message.RoutesWanted{}
	for i := range l.topology.Hosts {
		h := &l.topology.Hosts[i]
		if h.BGP == nil {
			continue
		}
		if requests[h.Name], err = l.bgpRequest(i, h); err != nil {
			return 0, err
		}
		wanted[h.Name] = message.RoutesWanted{Routes: learnedRoutes(h), TimeoutNs: int64(convergeTimeout)}
	}
	started, err := bus.Ask(ctx, l.bus, message.StartBGP, requests)
	if err != nil {
		return 0, fmt.Errorf("starting the routing daemons: %w", err)
	}
	found, err := bus.Ask(ctx, l.bus, message.Routes, wanted)
	if err != nil {
		return 0, fmt.Errorf("waiting for routes of BGP: %w", err)
	}
	busy := false // a daemon was started or a route waited for
	var late []string
	for host, reply := range found {
		busy = busy || started[host].Began || reply.Waited
		for _, route := range reply.Missing {
			late = append(late, host+" has no route to "+route)
		}
	}
	if len(late) > 0 {
		slices.Sort(late)
		return 0, fmt.Errorf("BGP has not converged within %v: %s", convergeTimeout,
			strings.Join(source.Some(late, 5), "; "))
	}
	if l.routing.Hosts == nil {
		for _, h := range l.topology.Hosts {
			if h.BGP != nil {
				l.routing.Hosts = append(l.routing.Hosts, record.HostRoutes{Host: h.Name, Routes: found[h.Name].Routes})
			}
		}
	}
	if !busy {
		return 0, nil
	}
	return time.Since(began), nil
}

func (l *Lab) bgpRequest(i int, h *topology.Host) (message.BGPRequest, error) {
	n := i + 1
	o := message.BGPRequest{
		AS: h.BGP.AS, RouterID: netip.AddrFrom4([4]byte{0, byte(n >> 16), byte(n >> 8), byte(n)}),
		Announce: h.Announced(), Transit: h.Forward, Metric: topology.LearnedMetric,
	}
	for _, s := range l.topology.Sessions(h) {
		local, err := topology.LinkLocal(l.topology.MAC(s.Peer))
		if err != nil {
			return o, err
		}
		o.Sessions = append(o.Sessions, message.BGPSession{Interface: s.Interface, Address: local, AS: s.AS})
	}
	return o, nil
}

// learnedRoutes are the routes that the daemon of a host must install.
func learnedRoutes(h *topology.Host) (list []message.RouteWanted) {
	for _, r := range h.Routes {
		to, err := netip.ParsePrefix(r.To)
		if !r.Learned || err != nil {
			continue
		}
		w := message.RouteWanted{To: to}
		for _, n := range r.Nexthops {
			w.Interfaces = append(w.Interfaces, n.Interface)
		}
		if r.Interface != "" {
			w.Interfaces = append(w.Interfaces, r.Interface)
		}
		list = append(list, w)
	}
	return list
}
