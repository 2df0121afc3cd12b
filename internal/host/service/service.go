// Package service runs the services of a lab's host (topology.Service): server programs for DNS, HTTP and mail, each
// by a descriptor of package daemon. Their configurations are close to those of their Debian packages, but they log
// no requests and limit no client. Each program also gets the settings of the study.
//
// They answer like linerate's own servers: any name with 192.0.2.1, an HTTP request with a body of the size in its
// path, and any mail with acceptance.
package service

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/bus"
	"linerate/internal/host/daemon"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/topology"
)

// Set is the set of services on a host. The zero value has none.
type Set struct {
	mu    sync.Mutex
	byKey map[string]*running
}

// running is a service with its program.
type running struct {
	daemon.Daemon
	of         topology.Service
	descriptor daemon.Descriptor
}

// descriptors are those of the programs of topology.ServicePrograms, which the file of each adds while the program is
// initialised.
var descriptors = map[string]func(topology.Service) daemon.Descriptor{}

// Start starts the services that are not running, and waits until they serve. It fails if a service has ended by
// itself.
func (s *Set) Start(ctx context.Context, r message.ServicesRequest) ([]message.ServiceStarted, error) {
	var started []message.ServiceStarted
	for _, o := range r.Services {
		one, err := s.find(o)
		if err != nil {
			return nil, err
		}
		if why := one.Broken(); why != "" {
			return nil, fmt.Errorf("service %s: %s", o.Name, why)
		}
		if _, err = one.Start(ctx, one.descriptor); err == nil && one.of.Program == "nginx" {
			err = one.Do(func(dir string) error { return bodies(dir, r.Bodies) })
		}
		if err != nil {
			return nil, fmt.Errorf("service %s: %w", o.Name, err)
		}
		version, err := one.Prepare(one.descriptor)
		if err != nil {
			return nil, err
		}
		started = append(started, message.ServiceStarted{Name: o.Name, Version: version})
	}
	return started, nil
}

// find is the service of that name, not started if it is new.
func (s *Set) find(o topology.Service) (*running, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, known := s.byKey[o.Name]; known {
		return one, nil
	}
	of, known, is := o.Of()
	if !is {
		return nil, bus.Coded(message.Invalid, fmt.Errorf("service %.40q: no such program", o.Name))
	}
	d := descriptors[known.Name](of)
	d.Program, d.Package = known.Name, known.Package
	if d.Ready == nil {
		d.Ready = func(ctx context.Context) error { return listens(ctx, of.Port) }
	}
	lists.Put(&s.byKey, o.Name, &running{of: of, descriptor: d})
	return s.byKey[o.Name], nil
}

// Broken returns which service ended by itself, and why; empty: none did.
func (s *Set) Broken() string {
	for name, one := range s.all() {
		if why := one.Broken(); why != "" {
			return fmt.Sprintf("service %s: %s", name, why)
		}
	}
	return ""
}

func (s *Set) all() map[string]*running {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := map[string]*running{}
	for name, one := range s.byKey {
		list[name] = one
	}
	return list
}

// Close ends all services.
func (s *Set) Close() {
	for _, one := range s.all() {
		one.Close()
	}
}

// listens is nil once something accepts connections at a port of this host.
func listens(ctx context.Context, port int) error {
	conn, err := dial(ctx, port)
	if err == nil {
		conn.Close()
	}
	return err
}

func dial(ctx context.Context, port int) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// hasIPv6 reports whether the host has IPv6, on its loopback at least: where the kernel has
// none, no server can listen on its addresses.
func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// lines joins those of a file.
func lines(list ...string) []byte { return []byte(strings.Join(list, "\n") + "\n") }
