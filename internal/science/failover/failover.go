// Package failover detects what events in a trial's window did to running flows: how long nothing
// of a flow reached its receiver, by which path it came before and after, and whether flows moved
// although their own path was intact.
//
// Times are those of packets where the receiver recorded these (packet(7)), and those of samples
// otherwise. A silence counts only if it is longer than those that the flow had before. If several
// events happen at one instant, it is not known which of them moved a flow.
package failover

import (
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// chance is a multiple of a flow's longest silence before an event. A silence of up to this length
// after the event counts as no loss.
const chance = 2

// Detect returns what each event in the window did to each flow, in the order of the flows; nil if
// there were no events.
func Detect(flows []record.Flow, hosts []netstate.HostReading, events []record.Event,
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

// scene holds a trial and the indexes by which its flows are followed.
type scene struct {
	trial    record.Trial // flows, hosts and events alone
	over     *topology.Topology
	instants []float64 // of events
	seen     map[string]map[int][]arrival
	near     map[[2]string]bool // results of Adjacent
	// partial has the instants after which only its receiver saw by which interface some flow came.
	partial map[float64]bool
}

// arrival is an interface by which a flow came in, with the time of its latest packet.
type arrival struct {
	host, name string // of the interface
	last       int64
}

func (a arrival) end() topology.End { return topology.End{Node: a.host, Interface: a.name} }

// outages returns what the events did to a flow; nil if its receiver was not read, or neither
// packets nor samples show the flow.
func (s *scene) outages(f *record.Flow) (list []record.Outage) {
	receiver, ok := s.trial.Reading(f.To)
	if !ok {
		return nil
	}
	detect := sampled(receiver, f)
	if slices.ContainsFunc(receiver.Arrivals, func(a netstate.Arrival) bool {
		return a.Flow == f.ID &&
			a.LastNs != 0
	}) {
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
			continue // the flow was silent before
		}
		before, whole := s.path(f, i)
		o.Before = before
		if o.Resumed {
			after, also := s.path(f, i+1)
			// If the whole path is known only before or only after, only the last interfaces can be
			// compared.
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

// detector fills in how long a flow was silent because of the i-th event, which was at time at;
// from and to are the times of the events before and after it. All times are in nanoseconds. It
// returns false if the records do not show the flow to arrive before the event.
type detector func(o *record.Outage, i int, from, at, to int64) bool

// timed returns a detector that uses the times of packets.
func timed(receiver netstate.HostReading, f *record.Flow) detector {
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

// sampled returns a detector that uses what the receiver had read at each sample; nil if there are
// no samples.
func sampled(receiver netstate.HostReading, f *record.Flow) detector {
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

// minStopNs is how long a flow has to be silent at the end to count as stopped. TCP does not
// retransmit sooner (TCP_RTO_MIN, and half as much for the path).
const minStopNs = int64(300e6)

// judge fills in an outage from the longest silence after an event, and from tail, the silence that
// had not ended. resolution is the longest silence that means nothing. interval is the sampling
// interval: a silence may have begun one interval earlier, and one that ended may have ended one
// later. All are in nanoseconds. judge always returns true.
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

// path returns a flow's path just before the i-th event: at each host, the next interface is the
// one by which the flow came last. If some host on the path has not seen the flow, whole is false
// and the path is only the receiver's interface.
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

// end returns the last interface of a path, which is the receiver's.
func end(path []string) []string { return path[max(0, len(path)-1):] }

// arrived returns the interface by which a flow last came in at its receiver.
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

// withdraw marks the flows that before the events at an instant used an interface by which no flow
// comes any more. If of some flow only the receiver's interface is known, only the receivers'
// interfaces are compared, because that flow may still use any of the others.
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
