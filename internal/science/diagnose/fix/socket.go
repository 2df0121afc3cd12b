package fix

import (
	"fmt"
	"slices"

	"linerate/internal/model/hint"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// Backlog returns the steps against full accept queues; if none is full now, those for all
// listeners. The length of a queue is the smaller of the backlog that the program gave to listen(2)
// and of somaxconn at that time, so no parameter helps a queue that is shorter than somaxconn.
func Backlog(h *facts.Host) []record.Step {
	const key = "net.core.somaxconn"
	most := h.Number(key, 0)
	list := slices.DeleteFunc(slices.Clone(h.State.Listeners), func(l netstate.Listener) bool {
		return l.Protocol != "tcp"
	})
	if now := slices.DeleteFunc(slices.Clone(list), func(l netstate.Listener) bool {
		return !facts.Full(l)
	}); len(now) > 0 {
		list = now
	}
	bounded := func(l netstate.Listener) bool { return l.BacklogUnknown || l.Backlog >= most }
	if most >= 0 && len(list) > 0 && !slices.ContainsFunc(list, bounded) {
		return []record.Step{record.Advice(h.Name, hint.ProgramBacklog{Somaxconn: most})}
	}
	return append([]record.Step{record.Advice(h.Name, hint.LargerBacklog{})},
		Parameter(h, key, fmt.Sprint(max(8192, 2*most)))...)
}
