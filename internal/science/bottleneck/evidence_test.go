package bottleneck

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestQueuedAt: a queue is at the interface of the sending host that has one at most readings.
func TestQueuedAt(t *testing.T) {
	for waits, want := range map[int]string{0: "before a link on the path", 2: "at %s.eth0"} {
		trial, _ := sound()
		host := trial.Flows[0].From
		h := reading(&trial, host)
		h.Begin.Qdiscs = []record.QdiscCounters{{Interface: "eth0", Kind: "tbf", Backlog: uint64(waits) * 1514}}
		h.End.Qdiscs, h.Series = h.Begin.Qdiscs, nil
		if got := (scene{Trial: trial}).queuedAt(host); got != strings.ReplaceAll(want, "%s", host) {
			t.Errorf("%d packets wait: %q, want %q", waits, got, want)
		}
	}
}
