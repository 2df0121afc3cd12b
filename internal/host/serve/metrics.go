package serve

import "linerate/internal/host/openmetrics"

// serving is what the server has done and has in use.
func (s *server) serving() openmetrics.Serving {
	moved := s.others(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	return openmetrics.Serving{
		Budget: s.budget, Received: moved.ReceivedBytes, Written: moved.WrittenBytes,
		Sessions: s.ended, Refused: s.refused, Pending: s.pending.Len(),
	}
}
