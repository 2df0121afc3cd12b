package fix

import (
	"fmt"
	"slices"

	"linerate/internal/model/hint"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/said"
)

// ownBacklog says where well-known programs have the backlog of listen(2).
const ownBacklog = "nginx: listen … backlog=N; Apache: ListenBacklog; HAProxy: backlog; Redis: tcp-backlog; Netty: SO_BACKLOG; Java, Python: an argument, 50 and 128 at most otherwise; Go takes somaxconn"

// LargerBacklog is the fix for accept queues that are full, or if none is now, for those of all
// listeners. A queue's length is the smaller of the backlog that the program gave to listen(2)
// and of somaxconn at that time: no parameter lengthens one below somaxconn.
func LargerBacklog(h *facts.Host, first string) ([]string, []setting.Setting) {
	const key = "net.core.somaxconn"
	most := h.Number(key, 0)
	list := slices.DeleteFunc(slices.Clone(h.State.Listeners), func(l record.Listener) bool {
		return l.Protocol != "tcp"
	})
	if now := slices.DeleteFunc(slices.Clone(list), func(l record.Listener) bool {
		return !facts.Full(l)
	}); len(now) > 0 {
		list = now
	}
	bounded := func(l record.Listener) bool { return l.Backlog >= most }
	if most >= 0 && len(list) > 0 && !slices.ContainsFunc(list, bounded) {
		return said.On(h.Name, h.Alone, first,
			fmt.Sprintf(
				"a larger backlog in the program's listen(2), and start it again (%s); %s is %d, above its backlog, and does not bound it",
				ownBacklog, key, most)), nil
	}
	return Fixed(h, []string{first,
		"a larger backlog in the program's listen(2), up to the largest that is granted, and after that start it again:"},
		key, fmt.Sprint(max(8192, 2*most)))
}

// Backlog are the steps of LargerBacklog.
func Backlog(h *facts.Host) []record.Step {
	lines, settings := LargerBacklog(h, "")
	if len(lines) == 2 && settings == nil {
		return []record.Step{record.Advice(h.Name, hint.ProgramBacklog{Somaxconn: h.Number("net.core.somaxconn", 0)})}
	}
	return append([]record.Step{record.Advice(h.Name, hint.LargerBacklog{})}, record.Settings(settings...)...)
}
