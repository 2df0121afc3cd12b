package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// full: more connections wait for accept(2) than the listener's backlog.
func full(l record.Listener) bool { return l.Protocol == "tcp" && l.Queued > l.Backlog }

func acceptQueueFull(_ observed, h *host) *record.Finding {
	rows := h.listenersWhere(full, queueRow)
	if len(rows) == 0 {
		return nil
	}
	finding := &record.Finding{Host: h.name, Confidence: record.Certain,
		Summary: "a program does not accept connections as fast as they come: its queue is full now", Evidence: rows,
		Reference: "listen(2); accept(2)"}
	for _, l := range h.state.Listeners {
		if full(l) && len(finding.Places) < mostPlaces {
			finding.Places = append(finding.Places, []string{listenerAt(l.Local)})
		}
	}
	finding.Fix, finding.Settings = h.largerBacklog("see what the program waits for")
	return finding
}

func queueRow(l record.Listener) string {
	return fmt.Sprintf("%s: %d connections wait for accept(2), its backlog is %d", l.Local, l.Queued, l.Backlog)
}

// ownBacklog says where well-known programs have the backlog of listen(2).
const ownBacklog = "nginx: listen … backlog=N; Apache: ListenBacklog; HAProxy: backlog; Redis: tcp-backlog; Netty: SO_BACKLOG; Java, Python: an argument, 50 and 128 at most otherwise; Go takes somaxconn"

// largerBacklog is the fix for accept queues that are full, or if none is now, for those of all
// listeners. A queue's length is the smaller of the backlog that the program gave to listen(2)
// and of somaxconn at that time: no parameter lengthens one below somaxconn.
func (h *host) largerBacklog(first string) ([]string, []setting.Setting) {
	const key = "net.core.somaxconn"
	most := h.number(key, 0)
	list := slices.DeleteFunc(slices.Clone(h.state.Listeners), func(l record.Listener) bool {
		return l.Protocol != "tcp"
	})
	if now := slices.DeleteFunc(slices.Clone(list), func(l record.Listener) bool { return !full(l) }); len(now) > 0 {
		list = now
	}
	bounded := func(l record.Listener) bool { return l.Backlog >= most }
	if most >= 0 && len(list) > 0 && !slices.ContainsFunc(list, bounded) {
		return on(h.name, h.alone, first,
			fmt.Sprintf(
				"a larger backlog in the program's listen(2), and start it again (%s); %s is %d, above its backlog, and does not bound it",
				ownBacklog, key, most)), nil
	}
	return h.fixed([]string{first,
		"a larger backlog in the program's listen(2), up to the largest that is granted, and after that start it again:"},
		key, fmt.Sprint(max(8192, 2*most)))
}

func backlogSmall(_ observed, h *host) *record.Finding {
	const few = 8
	rows := h.listenersWhere(func(l record.Listener) bool {
		return l.Protocol == "tcp" && l.Backlog < few && !strings.HasPrefix(l.Local, "127.") &&
			!strings.HasPrefix(l.Local, "[::1]")
	}, func(l record.Listener) string { return fmt.Sprintf("%s: backlog %d", l.Local, l.Backlog) })
	if len(rows) == 0 {
		return nil
	}
	return &record.Finding{Host: h.name, Confidence: record.Possible,
		Summary: "a program lets only a few connections wait for accept(2): more at once are delayed by a second and longer", Evidence: rows,
		Fix: on(h.name, h.alone, "a larger backlog in the program's listen(2), such as 128"), Reference: "listen(2)"}
}
