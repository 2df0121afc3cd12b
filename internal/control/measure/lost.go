package measure

import (
	"errors"
	"fmt"
	"slices"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/record"
)

// A server that is lost in a window leaves what this host has counted until then: its own
// window, up to the latest sample before, as with an iperf3 server. The measurement ends
// with it.

// lose goes on without the server; nil: it is there.
func (s *session) lose(why error) {
	if s.lost = why; why != nil {
		s.group.Nodes = []string{record.NodeClient}
	}
}

// peer is the server as one that nothing is read of; nil: it is there.
func (s *session) peer() *trial.Peer {
	if s.lost == nil {
		return nil
	}
	return &trial.Peer{}
}

// endedEarly marks a trial in which the server was lost. It is an error if this host has not
// counted all of its flows: of datagrams that it sends only the server knows what arrived.
func (s *session) endedEarly(t *record.Trial) error {
	if s.lost == nil {
		return nil
	}
	if slices.ContainsFunc(t.Flows, func(f record.Flow) bool { return !record.CountedHere(f.CountedAt) }) {
		return s.lost
	}
	t.Ended = "the connection to the server was lost"
	return nil
}

// withServer adds to an error which server it is about, and whether its connection has
// ended; with iperf3's, of which there is one stream less, errors say so themselves.
func (s *session) withServer(err error) error {
	if s.options.alone() {
		return bus.Local(err, record.NodeClient)
	}
	select {
	case <-s.group.Bus.Lost(record.NodeServer):
		if measured := s.datagramsUntil(); errors.Is(err, bus.ErrEnded) && measured != "" {
			return fmt.Errorf(
				"the server at %s: connection lost after %s (nothing was kept: the server alone counts what it "+
					"receives)", s.server, measured)
		}
		if errors.Is(err, bus.ErrEnded) { // which says no more
			return fmt.Errorf("the server at %s has gone", s.server)
		}
		return fmt.Errorf("the server at %s has gone: %w", s.server, err)
	default:
		return fmt.Errorf("measuring with %s: %w", s.server, err)
	}
}
