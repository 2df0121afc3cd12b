package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/control/trial"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// With a server of an application that is not linerate's there is one agent, this host's,
// which makes the requests and takes their times. What the server does is not known but
// by its answers.

// alone says that no agent is at the other end.
func (o Options) alone() bool { return o.Iperf3 || o.URL != "" }

// foreignTrial measures with a server that is another program.
func (s *session) foreignTrial(ctx context.Context) error {
	open := func() ([]*trial.Flow, error) {
		flows := s.plan()
		var requests []message.FlowRequest
		for _, f := range flows {
			f.Cookie = message.Cookie{}
			requests = append(requests, message.FlowRequest{
				Spec: f.Spec, ID: f.ID, Sends: true, Local: f.Source, LocalPort: f.SourcePort, Remote: f.Accepted,
				Host: s.host, Foreign: true,
			})
		}
		opening, cancel := context.WithTimeout(ctx, s.options.patience()+connectTime(s.options.Flows))
		defer cancel()
		opened, err := bus.Call(opening, s.group.Bus, record.NodeClient, message.Connect,
			message.ConnectRequest{Flows: requests, TimeoutNs: int64(s.options.patience())})
		if err != nil {
			return nil, err
		}
		for i, o := range opened {
			if o.Error != nil {
				return nil, o.Error
			}
			if i < len(flows) {
				flows[i].Opened = o.Local
			}
		}
		return flows, nil
	}
	t, readings, err := s.measureOpened(ctx, open, func(context.Context) (*trial.Peer, error) {
		return &trial.Peer{}, nil
	})
	if err != nil {
		return s.unlessLinerate(ctx, err)
	}
	t.Peer = &record.Peer{}
	return s.finish(t, readings)
}

// unlessLinerate adds to an error how to measure with the server, if that is linerate's.
func (s *session) unlessLinerate(ctx context.Context, err error) error {
	const patience = 2 * time.Second
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stream, _, failed := greet(asking, s.server.String(), s.options.source(0), greeting.AskName)
	if failed != nil {
		return err
	}
	stream.Close()
	return fmt.Errorf("%w\nlinerate serve listens at %s; measure with: linerate measure %s --protocol %s", err,
		s.server, s.server, s.options.Flows.Protocol)
}

// resolve finds the address of a server that is another program, and keeps its name.
func (s *session) resolve(ctx context.Context) error {
	host, port, err := net.SplitHostPort(s.options.Addresses[0])
	if err != nil {
		return err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.patience())
	defer cancel()
	at, err := Resolve(ctx, cmp.Or(s.options.Network, "ip"), host)
	if err != nil {
		return fmt.Errorf("%w\nCheck its spelling, or use the server's address", err)
	}
	if _, err := netip.ParseAddr(host); err != nil {
		s.host = s.options.Addresses[0]
	}
	s.server = netip.AddrPortFrom(at, uint16(number))
	s.servers = []netip.AddrPort{s.server}
	return nil
}

// Resolve returns an address of host, which is a name or an address. network says of which
// family: "ip4", "ip6", or "ip" for either.
func Resolve(ctx context.Context, network, host string) (netip.Addr, error) {
	if at, err := netip.ParseAddr(host); err == nil && (network == "ip" || at.Unmap().Is4() == (network == "ip4")) {
		return at.Unmap(), nil // with its zone, which a look-up drops
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, network, host)
	if name, is := errors.AsType[*net.DNSError](err); is && (network == "ip" || !name.IsNotFound) {
		return netip.Addr{}, greeting.Cause(err)
	}
	if err != nil || len(found) == 0 {
		return netip.Addr{}, fmt.Errorf("%s has no %s address", host, map[string]string{"ip4": "IPv4", "ip6": "IPv6",
			"ip": "IP"}[network])
	}
	return found[0].Unmap(), nil
}
