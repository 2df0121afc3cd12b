// Package polled makes the figures of a window from polls of a device that may refresh its
// counters more rarely than it is asked: a switch that is read by SNMP.
//
// Figures are of the time between two readings in the window whose time is known, and are
// not extended to the window's edges: what a device has not said is not guessed.
package polled

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

const (
	// Periods is how many times a device has to refresh its counters in a window.
	Periods = 4
	// leastPart of the window has to be between the two readings.
	leastPart = 0.7
	// early is how long before the window's edge a reading may have been asked for.
	early = 5e6 // ns
	// liveShare of polls give new values where the device counts at each request.
	liveShare = 0.75
	// leastSteps are as many polls as it takes to tell that.
	leastSteps = 3
	// busyStep is the least that a port carries between two polls on average, in bytes, so
	// that a counter which stays the same was not refreshed.
	busyStep = 4 * 1514
)

// Poll is one reply: counters between SentNs, when it was asked for, and ReceivedNs. They
// never decrease.
type Poll struct {
	SentNs, ReceivedNs int64
	Counters           record.SwitchCounters
}

func (p Poll) octets() uint64 { return p.Counters.InOctets + p.Counters.OutOctets }

// Refresh is how many seconds apart a device refreshes its counters, as the polls of its
// busiest port show; 0: at each request. Traffic that pauses as often looks the same, and its
// changes are as good as refreshes for figures. It is not known where the port is idle or the
// counters changed too rarely.
func Refresh(polls []Poll) (seconds float64, known bool) {
	var changes []int64
	for i := 1; i < len(polls); i++ {
		if polls[i].octets() != polls[i-1].octets() {
			changes = append(changes, polls[i].SentNs)
		}
	}
	steps := len(polls) - 1
	if steps < leastSteps || len(changes) == 0 || polls[steps].octets()-polls[0].octets() < uint64(steps)*busyStep {
		return 0, false
	}
	if float64(len(changes)) >= liveShare*float64(steps) {
		return 0, true
	}
	var gaps []float64
	for i := 1; i < len(changes); i++ {
		gaps = append(gaps, float64(changes[i]-changes[i-1])/1e9)
	}
	if len(gaps) == 0 {
		return 0, false
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2], true
}

// Window is what a port counted between two readings.
type Window struct {
	FromNs, ToNs int64
	// DoubtS is by how many seconds the time between may be wrong.
	DoubtS   float64
	Counters record.SwitchCounters
}

// point is a reading whose time is known within half.
type point struct {
	at, half int64
	counters record.SwitchCounters
}

// Count is what a port counted in the window from begin to end (ns). refreshS is the device's
// refresh interval; 0: it counts at each request. An error: there are no figures that can be
// trusted, and what would help.
func Count(polls []Poll, begin, end int64, refreshS float64) (Window, error) {
	windowS := float64(end-begin) / 1e9
	if refreshS > 0 && windowS < Periods*refreshS {
		return Window{}, fmt.Errorf(
			"its counters change every %s, too rarely for a window of %s: set workload.duration to %s or more",
			unit.FormatSeconds(refreshS), unit.FormatSeconds(windowS), unit.FormatSeconds(math.Ceil(Periods*refreshS)))
	}
	points := inside(points(polls, refreshS > 0), begin, end)
	if len(points) < 2 {
		if refreshS > 0 {
			return Window{}, errors.New("its counters did not change twice in the window")
		}
		return Window{}, errors.New("it did not answer at the edges of the window")
	}
	first, last := points[0], points[len(points)-1]
	if part := float64(last.at-first.at) / float64(end-begin); part < leastPart {
		return Window{}, fmt.Errorf(
			"its counters are of %.0f %% of the window alone: a longer window has more of its readings", 100*part)
	}
	w := Window{FromNs: first.at, ToNs: last.at, DoubtS: float64(first.half+last.half) / 1e9, Counters: last.counters}
	for i, before := range first.counters.Each() {
		*w.Counters.Each()[i] -= *before
	}
	return w, nil
}

// points are readings with their times: of a device that counts at each request, when it was
// asked; of others, when a value was new, since the poll before.
func points(polls []Poll, cached bool) (list []point) {
	for i, p := range polls {
		from := p.SentNs
		if cached {
			if i == 0 || p.octets() == polls[i-1].octets() {
				continue
			}
			from = polls[i-1].SentNs
		}
		list = append(list, point{(from + p.ReceivedNs) / 2, (p.ReceivedNs - from) / 2, p.Counters})
	}
	return list
}

// inside are the points from the window's begin to its end. The last may be read as much
// later as an answer takes.
func inside(points []point, begin, end int64) []point {
	return slices.DeleteFunc(points, func(p point) bool {
		return p.at-p.half < begin-early || p.at-p.half > end+early
	})
}

// Wraps says why counters of so many bits may have wrapped unnoticed in polls of a port
// of that rate; empty: they cannot have.
func Wraps(polls []Poll, bits int, bps, refreshS float64) string {
	if bits > 32 {
		return ""
	}
	if bps <= 0 {
		return "it has only 32-bit octet counters, and the rate of the port is not known"
	}
	longest := refreshS
	for i := 1; i < len(polls); i++ {
		longest = max(longest, float64(polls[i].ReceivedNs-polls[i-1].SentNs)/1e9)
	}
	if round := WrapS(bps); longest >= round {
		return fmt.Sprintf("it has only 32-bit octet counters, which wrap in %s at %s, and its readings are %s apart",
			unit.FormatSeconds(round), unit.FormatRate(bps), unit.FormatSeconds(longest))
	}
	return ""
}

// WrapS is in how many seconds a 32-bit octet counter wraps.
func WrapS(bps float64) float64 { return (1 << 32) * 8 / bps }
