package lab

import (
	"context"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Services returns the server programs that run on the hosts, in the order of the study
// file.
func (l *Lab) Services() []record.Service { return l.services }

// StartServices starts the services of the hosts that are not running, and waits until all
// serve. Services that speak HTTP offer files of the given sizes (bodies), in bytes. It
// fails if a service has ended by itself.
func (l *Lab) StartServices(ctx context.Context, bodies []int64) error {
	requests := map[string]message.ServicesRequest{}
	for _, h := range l.topology.Hosts {
		if len(h.Services) > 0 {
			requests[h.Name] = message.ServicesRequest{Services: h.Services, Bodies: bodies}
		}
	}
	started, err := bus.Ask(ctx, l.bus, message.Services, requests)
	if err != nil {
		return err
	}
	l.services = nil
	for _, h := range l.topology.Hosts {
		for _, s := range started[h.Name] {
			if given, known := h.Service(s.Name); known {
				l.services = append(l.services, recorded(h.Name, given, s.Version))
			}
		}
	}
	return nil
}

func recorded(host string, given topology.Service, version string) record.Service {
	s, _, _ := given.Of()
	return record.Service{Host: host, Name: s.Name, Version: version, Port: s.Port, Settings: s.Words()[1:]}
}
