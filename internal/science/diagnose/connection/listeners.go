package connection

import (
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
)

// listeners finds listening sockets that meet a condition, each with the fact that is returns.
func listeners(c cause.Of[cause.None], h *facts.Host, confidence string, where func(netstate.Listener) bool,
	is func(netstate.Listener) any) *record.Finding {
	list := h.Listeners(where, is)
	if len(list) == 0 {
		return nil
	}
	return facts.Found(c, h, confidence, cause.None{}).With(h.Name, list...)
}

func acceptQueueFull(_ facts.Trial, h *facts.Host) *record.Finding {
	finding := listeners(cause.AcceptQueueFull, h, record.Certain, facts.Full, facts.AcceptQueue)
	if finding == nil {
		return nil
	}
	for _, l := range h.State.Listeners {
		if facts.Full(l) && len(finding.Touches) < facts.MostPlaces {
			finding.At(facts.ListenerAt(l.Local))
		}
	}
	return finding.Fixed(fix.Backlog(h)...)
}

func backlogSmall(_ facts.Trial, h *facts.Host) *record.Finding {
	const few = 8
	return listeners(cause.BacklogSmall, h, record.Possible, func(l netstate.Listener) bool {
		return l.Protocol == "tcp" && !l.BacklogUnknown && l.Backlog < few && !strings.HasPrefix(l.Local, "127.") &&
			!strings.HasPrefix(l.Local, "[::1]")
	}, func(l netstate.Listener) any {
		return fact.Backlog{Local: l.Local, Backlog: l.Backlog, Program: l.Program}
	})
}
