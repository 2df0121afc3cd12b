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
	for i, done := range r.results() {
		if e := r.Events[i]; done.Error != nil {
			return fmt.Errorf("%s: %s at %v of the window: %w", e.Node, e.What, e.At, done.Error)
		}
	}
	return nil
}

// results are what became of the events, in their order: a node reports its own in the
// order of time.
func (r Readings) results() []message.EventResult {
	list := make([]message.EventResult, len(r.Events))
	reported := map[string]int{}
	for i, e := range r.Events {
		list[i].Error = &message.Error{Text: "it did not happen"}
		if n, own := reported[e.Node], r.Replies[e.Node].Events; n < len(own) {
			list[i] = own[n]
		}
		reported[e.Node]++
	}
	return list
}

// events are what happened in the window, in the order of time.
func (r Readings) events() (list []record.Event) {
	for i, done := range r.results() {
		e := r.Events[i]
		if done.Error != nil {
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
