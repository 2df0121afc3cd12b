// Package polled computes the figures of a window from polls of a device that may refresh its
// counters less often than it is polled, such as a switch that is read by SNMP.
//
// The figures cover the time between two readings in the window whose time is known. They are not
// extrapolated to the edges of the window.
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
	// Periods is the least number of times that a device has to refresh its counters in a window.
	Periods = 4
	// leastPart is the share of the window that must lie between the two readings.
	leastPart = 0.7
	// early is how long before the edge of the window a reading may have been requested.
	early = 5e6 // ns
	// liveShare is the share of polls with new values from which on the device counts as reading
	// its counters at each request.
	liveShare = 0.75
	// leastSteps is the number of polls that it takes to decide that.
	leastSteps = 3
	// busyStep is the least number of bytes that a port must carry on average between two polls for
	// an unchanged counter to show that it was not refreshed.
	busyStep = 4 * 1514
)

// Poll is one reply: counters read between SentNs, when the request was sent, and ReceivedNs.
// Counters never decrease.
type Poll struct {
	SentNs, ReceivedNs int64
	Counters           record.SwitchCounters
}

func (p Poll) octets() uint64 { return p.Counters.InOctets + p.Counters.OutOctets }

// Refresh returns the seconds between two refreshes of a device's counters; 0: the device reads
// them at each request. polls are those of its busiest port. Traffic that pauses regularly looks
// like a device that refreshes at these times, and counting from change to change is as exact then.
// known is false if the port is idle or its counters changed too rarely.
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

// Window holds what a port counted between two readings.
type Window struct {
	FromNs, ToNs int64
	// DoubtS is the largest possible error of the time from FromNs to ToNs, in seconds.
	DoubtS   float64
	Counters record.SwitchCounters
}

// point is a reading with its time, which is known within ± half.
type point struct {
	at, half int64
	counters record.SwitchCounters
}

// Count returns what a port counted in the window from begin to end (ns). refreshS is the device's
// refresh interval; 0: it reads its counters at each request. An error says why there are no
// reliable figures, and what would help.
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
			"its counters cover only %.0f %% of the window: use a longer window", 100*part)
	}
	w := Window{FromNs: first.at, ToNs: last.at, DoubtS: float64(first.half+last.half) / 1e9, Counters: last.counters}
	for i, before := range first.counters.Each() {
		*w.Counters.Each()[i] -= *before
	}
	return w, nil
}

// points returns the readings with their times. A device that reads its counters at each request
// did so between request and reply; another one (cached) refreshed a new value since the poll
// before.
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

// inside returns the points within the window. A reading may be requested slightly before its begin
// or after its end.
func inside(points []point, begin, end int64) []point {
	return slices.DeleteFunc(points, func(p point) bool {
		return p.at-p.half < begin-early || p.at-p.half > end+early
	})
}

// Wraps explains why counters of this many bits may have wrapped unnoticed in the polls of a port
// of this rate. Empty: they cannot have.
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

// WrapS returns after how many seconds a 32-bit octet counter wraps at this rate.
func WrapS(bps float64) float64 { return (1 << 32) * 8 / bps }
