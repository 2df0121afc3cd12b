package trial

import (
	"cmp"
	"fmt"
	"slices"

	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// failedEvent is the first event that could not be made to happen: the trial is
// then not the one that was asked for.
func (r Readings) failedEvent() error {
	seen := map[string]int{}
	for _, e := range r.Events {
		done, there := r.eventDone(e.Node, seen[e.Node])
		if !there {
			done.Error = &message.Error{Text: "it did not happen"}
		}
		if done.Error != nil {
			return fmt.Errorf("%s: %s at %v of the window: %w", e.Node, e.What, e.At, done.Error)
		}
		seen[e.Node]++
	}
	return nil
}

// eventDone is what became of a node's n-th event.
func (r Readings) eventDone(node string, n int) (message.EventResult, bool) {
	if done := r.Replies[node].Events; n < len(done) {
		return done[n], true
	}
	return message.EventResult{}, false
}

// events are what happened in the window, in the order of time.
func (r Readings) events() (list []record.Event) {
	seen := map[string]int{}
	for _, e := range r.Events {
		done, there := r.eventDone(e.Node, seen[e.Node])
		seen[e.Node]++
		if !there {
			continue
		}
		since := func(ns int64) float64 { return float64(ns-r.Clocks[e.Node].OffsetNs-r.BeginNs) / 1e9 }
		list = append(list, record.Event{
			Host: e.Node, What: e.What, AtS: e.At.Seconds(), BeganS: since(done.BeganNs), EndedS: since(done.EndedNs), Applied: done.Applied,
		})
	}
	slices.SortStableFunc(list, func(a, b record.Event) int { return cmp.Compare(a.AtS, b.AtS) })
	return list
}
