package polled

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/model/record"
)

const ms = int64(1e6)

// polls of a port that carries bps from one instant on, by a device that refreshes its
// counters every so many ms (0: at each request), spaced ms apart; answers take 2 ms.
func polls(from, to, spacing, traffic, refresh int64, bps float64) (list []Poll) {
	for at := from; at <= to; at += spacing {
		counted := at + 1
		if refresh > 0 {
			counted = at / refresh * refresh
		}
		octets := uint64(max(0, float64(counted-traffic)) * bps / 8000)
		list = append(list, Poll{at * ms, (at + 2) * ms, record.SwitchCounters{InOctets: octets,
			InUcast: octets / 1500}})
	}
	return list
}

func TestRefresh(t *testing.T) {
	for name, c := range map[string]struct {
		polls []Poll
		want  float64
		known bool
	}{
		"at each request": {polls(0, 5000, 250, -1000, 0, 1e9), 0, true},
		"every 5 s":       {polls(0, 20000, 250, -1000, 5000, 1e9), 5, true},
		"every 2 s":       {polls(0, 9000, 250, -1000, 2000, 1e9), 2, true},
		"idle":            {polls(0, 9000, 250, 1e9, 0, 1e9), 0, false},
		"changed once":    {polls(100, 5100, 250, -1000, 5000, 1e9), 0, false},
		"two polls":       {polls(0, 250, 250, -1000, 0, 1e9), 0, false},
		"next to idle":    {polls(0, 20000, 250, -1000, 5000, 1e4), 0, false},
	} {
		if got, known := Refresh(c.polls); math.Abs(got-c.want) > 0.26 || known != c.known {
			t.Errorf("%s: %.3g s, known %t", name, got, known)
		}
	}
}

func TestCount(t *testing.T) {
	const begin, end = 2000 * ms, 22000 * ms
	for name, c := range map[string]struct {
		polls   []Poll
		refresh float64
		within  float64 // of the rate
		refused string
	}{
		"at each request":     {polls: polls(0, 22000, 250, 1000, 0, 1e9), within: 1e-9},
		"one edge unanswered": {polls: polls(2250, 22000, 250, 1000, 0, 1e9), within: 1e-9},
		"cached":              {polls: polls(0, 23000, 250, 1000, 2000, 1e9), refresh: 2, within: 0.02},
		"cached, too short": {polls: polls(0, 23000, 250, 1000, 8000, 1e9), refresh: 8,
			refused: "set workload.duration to 32 s or more"},
		"silent in the middle": {polls: polls(0, 9000, 250, 1000, 0, 1e9), refused: "35 % of the window"},
		"silent":               {refused: "did not answer"},
		"never refreshed": {polls: polls(0, 23000, 250, 1000, 50000, 1e9), refresh: 1,
			refused: "did not change twice"},
	} {
		w, err := Count(c.polls, begin, end, c.refresh)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %+v, %v", name, w, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		seconds := float64(w.ToNs-w.FromNs) / 1e9
		rate := float64(w.Counters.InOctets) * 8 / seconds
		if math.Abs(rate/1e9-1) > c.within || math.Abs(rate/1e9-1) > w.DoubtS/seconds+1e-9 {
			t.Errorf("%s: %.6g bit/s over %.3g s, doubt %.3g s", name, rate, seconds, w.DoubtS)
		}
	}
}

func TestWraps(t *testing.T) {
	list := polls(0, 10000, 1000, 0, 0, 1e9)
	for name, c := range map[string]struct {
		bits         int
		bps, refresh float64
		want         string
	}{
		"64 bits":        {64, 100e9, 0, ""},
		"1 Gbit/s":       {32, 1e9, 0, ""},
		"40 Gbit/s":      {32, 40e9, 0, "wrap in"},
		"rarely":         {32, 1e9, 40, "wrap in 34"},
		"unknown rate":   {32, 0, 0, "not known"},
		"next to a wrap": {32, 10e9, 0, ""},
	} {
		if got := Wraps(list, c.bits, c.bps, c.refresh); (got == "") != (c.want == "") ||
			!strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
