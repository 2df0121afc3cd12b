package bottleneck

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

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

// TestManyFlows: four times the flows of a host with several interfaces take some sixteen times
// as long, since each is compared with the others; a further factor would take minutes of a
// thousand flows.
func TestManyFlows(t *testing.T) {
	took := func(n int) time.Duration {
		trial, over := sound()
		several := trial.Flows
		trial.Flows = nil
		for i := range n {
			f := several[i%len(several)]
			f.ID, f.GoodputBps = fmt.Sprint("f", i), f.GoodputBps*float64(len(several))/float64(n)
			trial.Flows = append(trial.Flows, f)
		}
		best := time.Duration(math.MaxInt64)
		for range 3 {
			began := time.Now()
			attribute(&trial, over, false)
			best = min(best, time.Since(began))
		}
		return best
	}
	if few, many := took(128), took(512); many > 48*few {
		t.Errorf("128 flows took %v, 512 %v", few, many)
	}
}
