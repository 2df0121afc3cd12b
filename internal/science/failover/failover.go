// Package failover detects what events in a trial's window did to its running flows: how
// long nothing of a flow reached its receiver, by which path it came before and after,
// and whether flows moved whose own path was left as it was.
//
// Times are those of packets, where the receiver has seen these (packet(7)), and of the
// samples otherwise; a silence counts only where it is longer than what the flow had
// before. Which of several events at one instant moved a flow is not known.
package failover

import (
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// chance is how many times its own longest silence from before a flow may be silent
// without anything being lost.
const chance = 2

// Detect returns what each of a window's events did to each flow, in the flows' order;
// nil: there were no events.
func Detect(flows []record.Flow, hosts []record.HostReading, events []record.Event,
	over *topology.Topology) [][]record.Outage {
	s := scene{trial: record.Trial{Flows: flows, Hosts: hosts, Events: events}, over: over,
		seen: map[string]map[int][]arrival{}, near: map[[2]string]bool{}, partial: map[float64]bool{}}
	for _, e := range events {
		if !slices.Contains(s.instants, e.AtS) {
			s.instants = append(s.instants, e.AtS)
		}
	}
	if len(s.instants) == 0 {
		return nil
	}
	slices.Sort(s.instants)
	for _, h := range hosts {
		for _, a := range h.Arrivals {
			if s.seen[a.Flow] == nil {
				s.seen[a.Flow] = map[int][]arrival{}
			}
			s.seen[a.Flow][a.Events] = append(s.seen[a.Flow][a.Events], arrival{h.Host, a.Interface, a.LastNs})
		}
	}
	list := make([][]record.Outage, len(flows))
	for i := range flows {
		if flows[i].Connected && flow.Of(flows[i].Protocol).Bulk() {
			list[i] = s.outages(&flows[i])
		}
	}
	for _, instant := range s.instants {
		s.withdraw(instant, list)
	}
	return list
}

// scene is a trial arranged for its flows to be followed.
type scene struct {
	trial    record.Trial // flows, hosts and events alone
	over     *topology.Topology
	instants []float64 // of events
	seen     map[string]map[int][]arrival
	near     map[[2]string]bool // results of Adjacent
	// Of some flow only its receiver saw by which interface it came after an instant.
	partial map[float64]bool
}

// arrival is an interface by which a flow came in, with its latest packet.
type arrival struct {
	host, name string // of the interface
	last       int64
}

func (a arrival) end() topology.End { return topology.End{Node: a.host, Interface: a.name} }

// outages are what the events did to a flow; none: its receiver was not read, or neither
// packets nor samples show it.
func (s *scene) outages(f *record.Flow) (list []record.Outage) {
	receiver, ok := s.trial.Reading(f.To)
	if !ok {
		return nil
	}
	detect := sampled(receiver, f)
	if slices.ContainsFunc(receiver.Arrivals, func(a record.Arrival) bool { return a.Flow == f.ID && a.LastNs != 0 }) {
		detect = timed(receiver, f)
	}
	if detect == nil {
		return nil
	}
	for i, at := range s.instants {
		begin := receiver.Begin.ScheduledNs
		from, to := begin, receiver.End.ScheduledNs
		if i > 0 {
			from = begin + nanoseconds(s.instants[i-1])
		}
		if i+1 < len(s.instants) {
			to = begin + nanoseconds(s.instants[i+1])
		}
		o := record.Outage{AtS: at}
		if !detect(&o, i, from, begin+nanoseconds(at), to) {
			continue // it was silent before
		}
		before, whole := s.path(f, i)
		o.Before = before
		if o.Resumed {
			after, also := s.path(f, i+1)
			// A path that is known before or after only shows no move.
			if whole != also {
				before, after = end(before), end(after)
			}
			o.Before, o.After = before, after
			s.partial[at] = s.partial[at] || !also && len(after) > 0
		}
		o.Moved = len(o.Before) > 0 && len(o.After) > 0 && !slices.Equal(o.Before, o.After)
		list = append(list, o)
	}
	return list
}

func nanoseconds(s float64) int64 { return int64(s * 1e9) }

// detector fills in how long a flow was silent because of the i-th event, which was at an
// instant between two others; false: it was silent before.
type detector func(o *record.Outage, i int, from, at, to int64) bool

// timed detects by packets.
func timed(receiver record.HostReading, f *record.Flow) detector {
	longest := func(events int) int64 {
		for _, s := range receiver.Gaps {
			if s.Flow == f.ID && s.Events == events {
				return s.ToNs - s.FromNs
			}
		}
		return 0
	}
	return func(o *record.Outage, i int, from, at, to int64) bool {
		var before, last int64
		for _, a := range receiver.Arrivals {
			if a.Flow == f.ID && a.Events <= i {
				before = max(before, a.LastNs)
			}
			if a.Flow == f.ID && a.Events <= i+1 {
				last = max(last, a.LastNs)
			}
		}
		usual := longest(i)
		if before <= from || usual == 0 {
			return false
		}
		return judge(o, longest(i+1), to-last, chance*usual, 0)
	}
}

// sampled detects by what the receiver had read at the samples; nil: there were none.
func sampled(receiver record.HostReading, f *record.Flow) detector {
	if len(f.Bins) == 0 || len(f.Bins) != len(receiver.Series) {
		return nil
	}
	return func(o *record.Outage, _ int, from, at, to int64) bool {
		last := receiver.Begin.ScheduledNs
		var came bool
		var interval, usual, silence, tail int64
		silent := int64(-1) // since when nothing came
		for i, bytes := range f.Bins {
			began, ended := last, receiver.Series[i].AtNs
			last = ended
			if ended <= from || began >= to {
				continue
			}
			interval = max(interval, ended-began)
			came = came || bytes > 0 && began < at
			switch {
			case bytes == 0 && silent < 0:
				silent = began
			case bytes > 0 && silent >= 0 && began <= at:
				usual, silent = max(usual, began-silent), -1
			case bytes > 0 && silent >= 0:
				silence, silent = max(silence, began-silent), -1
			}
		}
		if silent >= 0 {
			tail = to - silent
		}
		return came && judge(o, silence, tail, max(chance*usual, 2*interval), interval)
	}
}

// minStopNs is how long a flow has to be silent at the end to have stopped: TCP does not
// retransmit sooner (TCP_RTO_MIN, and half as much for the path).
const minStopNs = int64(300e6)

// judge holds the longest silence after an event, and the one that had not ended,
// against the longest that means nothing. Either may have begun an interval earlier, and the
// first have ended one later.
func judge(o *record.Outage, silence, tail, resolution, interval int64) bool {
	o.ResolutionS = seconds(resolution)
	longer := 2 * interval
	if o.Resumed = tail <= max(silence, resolution, minStopNs); !o.Resumed {
		silence, longer = tail, interval
	}
	o.LostAtMostS = seconds(max(silence, resolution) + longer)
	if silence > resolution {
		o.LostS = seconds(silence)
	}
	return true
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// path is a flow's path at the end of the time before the i-th event: at each host the
// next interface is that by which it came last. Where some host on it has not seen the
// flow, whole is false and the path is the receiver's interface alone.
func (s *scene) path(f *record.Flow, i int) (path []string, whole bool) {
	left := slices.Clone(s.seen[f.ID][i])
	for at := f.From; at != f.To; {
		latest := -1
		for k, a := range left {
			if s.adjacent(at, a) && (latest < 0 || a.last > left[latest].last) {
				latest = k
			}
		}
		if latest < 0 {
			return s.arrived(f, i), false
		}
		at = left[latest].host
		path = append(path, left[latest].end().String())
		left = slices.DeleteFunc(left, func(a arrival) bool { return a.host == at })
	}
	return path, true
}

// end is the last interface of a path, its receiver's.
func end(path []string) []string { return path[max(0, len(path)-1):] }

// arrived is the interface by which a flow came in last at its receiver.
func (s *scene) arrived(f *record.Flow, i int) []string {
	var latest arrival
	for _, a := range s.seen[f.ID][i] {
		if a.host == f.To && a.last > latest.last {
			latest = a
		}
	}
	if latest.name == "" {
		return nil
	}
	return []string{latest.end().String()}
}

// adjacent reports whether an interface is the far end of one of a host's links.
func (s *scene) adjacent(host string, a arrival) bool {
	key := [2]string{host, a.end().String()}
	near, known := s.near[key]
	if !known {
		near = s.over.Adjacent(host, a.end())
		s.near[key] = near
	}
	return near
}

// withdraw marks the flows that came by an interface before the events at an instant by which
// none comes any more. Where the path of some is not known, the others are held against
// the receivers' interfaces alone: it may be among those that still come.
func (s *scene) withdraw(instant float64, list [][]record.Outage) {
	var affected []*record.Outage
	still := map[string]bool{}
	for i := range list {
		for k := range list[i] {
			if o := &list[i][k]; o.AtS == instant {
				affected = append(affected, o)
				for _, end := range o.After {
					still[end] = true
				}
			}
		}
	}
	for _, o := range affected {
		path := o.Before
		if s.partial[o.AtS] {
			path = end(path)
		}
		o.Withdrawn = slices.ContainsFunc(path, func(end string) bool { return !still[end] })
	}
}
