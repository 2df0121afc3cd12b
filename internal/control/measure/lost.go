package measure

import (
	"errors"
	"fmt"
	"slices"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
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

// oneEnd says how a measurement without the server was counted, and what is not known of it.
func (s *session) oneEnd(m *record.Measure) {
	list := []string{fmt.Sprintf(
		"what followed: the figures end with the latest sample before the loss, %s after the window's beginning",
		unit.FormatSeconds(m.DurationS))}
	for i := range m.Directions {
		d := &m.Directions[i]
		switch {
		case d.Transactions != nil:
			list = append(list, "which requests the server had and did not answer")
			continue
		case d.Direction == flow.Write:
			d.Counted = record.CountedAcknowledged
			list = append(list, "what the server's program had read: acknowledged bytes may have waited in its kernel")
		default:
			d.Counted = record.CountedReceived
			list = append(list, "the bytes in the server's send buffers, and what held its sending back")
		}
	}
	m.Unknown = append(list, "the server's interfaces, other traffic on them, and its processors in the window")
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
				"the server at %s: connection lost after %s (nothing was kept: the server alone counts what it receives)", s.server, measured)
		}
		if errors.Is(err, bus.ErrEnded) { // which says no more
			return fmt.Errorf("the server at %s has gone", s.server)
		}
		return fmt.Errorf("the server at %s has gone: %w", s.server, err)
	default:
		return fmt.Errorf("measuring with %s: %w", s.server, err)
	}
}
