package connection

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/fix"
	"linerate/internal/science/diagnose/said"
)

func acceptQueueFull(_ facts.Trial, h *facts.Host) *record.Finding {
	rows := said.ListenersWhere(h, facts.Full, said.QueueRow)
	if len(rows) == 0 {
		return nil
	}
	finding := &record.Finding{Host: h.Name, Confidence: record.Certain,
		Summary: "a program does not accept connections as fast as they come: its queue is full now", Evidence: rows,
		Reference: "listen(2); accept(2)"}
	for _, l := range h.State.Listeners {
		if facts.Full(l) && len(finding.Places) < facts.MostPlaces {
			finding.Places = append(finding.Places, []string{facts.ListenerAt(l.Local)})
		}
	}
	finding.Fix, finding.Settings = fix.LargerBacklog(h, "see what the program waits for")
	return finding
}

func backlogSmall(_ facts.Trial, h *facts.Host) *record.Finding {
	const few = 8
	rows := said.ListenersWhere(h, func(l record.Listener) bool {
		return l.Protocol == "tcp" && l.Backlog < few && !strings.HasPrefix(l.Local, "127.") &&
			!strings.HasPrefix(l.Local, "[::1]")
	}, func(l record.Listener) string { return fmt.Sprintf("%s: backlog %d", l.Local, l.Backlog) })
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.Name, Confidence: record.Possible,
		Summary: "a program lets only a few connections wait for accept(2): more at once are delayed by a second and longer", Evidence: rows,
		Fix:       said.On(h.Name, h.Alone, "a larger backlog in the program's listen(2), such as 128"),
		Reference: "listen(2)"}
}
