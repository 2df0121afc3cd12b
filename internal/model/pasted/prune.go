package pasted

import (
	"cmp"

	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
	"linerate/internal/model/syntax"
)

// prune removes what has a string that is not what its field declares. A line counts as not read for each.
func (r *reader) prune(s *netstate.HostSnapshot) {
	name := s.Reading.Host
	for _, why := range syntax.Prune(s) {
		if r.Idle+r.Lost < r.Lines { // a line may have several
			r.Lost++
		}
		if len(r.NotUnderstood) < mostLost {
			r.NotUnderstood = append(r.NotUnderstood, plain.Short(name, longestName)+": "+why)
		}
	}
	s.Reading.Host = cmp.Or(s.Reading.Host, "host")
}
