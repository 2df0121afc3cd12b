package bottleneck

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestWaitsAt: a queue is at the interface that the flow leaves by, if that has one at most
// readings; at another interface only if the flows do not leave by their own, as with ARP flux.
func TestWaitsAt(t *testing.T) {
	for _, c := range []struct {
		name, waits string
		carried     float64 // of what the flows got, by the interface of their path
		want        string
	}{
		{"none", "", 1, ""},
		{"its own", "%s.eth0", 1, "%s.eth0"},
		{"of other flows", "%s.other", 1, ""},
		{"where it leaves instead", "%s.other", 0.1, "%s.other"},
	} {
		trial, _ := sound()
		f := trial.Flows[0]
		h := reading(&trial, f.From)
		f.Path = []string{f.From + ".eth0", f.To + ".eth0"}
		trial.Flows = []record.Flow{f}
		sent := func(name string, bps float64) (begin, end netstate.InterfaceCounters) {
			return netstate.InterfaceCounters{Interface: name, AtNs: 1}, netstate.InterfaceCounters{Interface: name,
				AtNs: 1 + int64(time.Second), TxBytes: uint64(bps / 8)}
		}
		b0, e0 := sent("eth0", c.carried*f.GoodputBps)
		b1, e1 := sent("other", f.GoodputBps)
		h.Begin.Interfaces = []netstate.InterfaceCounters{b0, b1}
		h.End.Interfaces = []netstate.InterfaceCounters{e0, e1}
		h.Begin.Qdiscs = nil
		for _, name := range []string{"eth0", "other"} {
			q := netstate.QdiscCounters{Interface: name, Kind: "tbf"}
			if strings.ReplaceAll(c.waits, "%s", f.From) == f.From+"."+name {
				q.Backlog = 3028
			}
			h.Begin.Qdiscs = append(h.Begin.Qdiscs, q)
		}
		h.End.Qdiscs, h.Series = h.Begin.Qdiscs, nil
		if got := (scene{Trial: trial}).waitsAt(f); got != strings.ReplaceAll(c.want, "%s", f.From) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
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
