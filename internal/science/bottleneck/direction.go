package bottleneck

import (
	"cmp"
	"iter"
	"slices"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// alongside yields the flows in the same direction as f: between the same hosts and, if paths are
// known, by the same interfaces of these.
func (s scene) alongside(f record.Flow) iter.Seq[*record.Flow] {
	return func(yield func(*record.Flow) bool) {
		for i := range s.Flows {
			other := &s.Flows[i]
			same := other.From == f.From && other.To == f.To
			if n, m := len(f.Path), len(other.Path); same && n > 0 && m > 0 {
				same = f.Path[0] == other.Path[0] && f.Path[n-1] == other.Path[m-1]
			}
			if same && !yield(other) {
				return
			}
		}
	}
}

// reverse returns the direction of a flow's acknowledgements, as a flow without figures.
func reverse(f record.Flow) record.Flow {
	back := record.Flow{From: f.To, To: f.From, Path: slices.Clone(f.Path)}
	slices.Reverse(back.Path)
	return back
}

// goodput returns the sum of the goodputs of the flows in a flow's direction, in bits per second.
func (s scene) goodput(f record.Flow) (bps float64) {
	for other := range s.alongside(f) {
		bps += other.GoodputBps
	}
	return bps
}

// loses returns the largest share of its bytes that a flow in the same direction has lost.
func (s scene) loses(f record.Flow) (part float64) {
	for other := range s.alongside(f) {
		if other.SenderInfo != nil {
			part = max(part, missing(*other))
		}
	}
	return part
}

// received returns what the flows in a flow's direction received in each sample of the window.
func (s scene) received(f record.Flow) (bins []int64) {
	for other := range s.alongside(f) {
		if bins == nil {
			bins = slices.Clone(other.Bins)
		}
		bins = bins[:min(len(bins), len(other.Bins))]
		for i := range bins {
			bins[i] += other.Bins[i]
		}
	}
	return bins
}

// evener reports whether the flows in a flow's direction had an even rate, and those in the
// opposite direction did not. A full link empties its queue at its own rate, while the
// acknowledgements of the other flows, which wait in that queue, release their data unevenly.
func (s scene) evener(f record.Flow) bool {
	return s.goodput(f) > 0 && s.even(f) && !s.even(reverse(f))
}

// even reports whether the traffic in a flow's direction had the same rate in each part of the
// window.
func (s scene) even(f record.Flow) bool {
	if parts, read := s.arrived(f); read {
		return alike(parts)
	}
	return steady(s.received(f))
}

// arrived returns what came in by the interface by which a flow reaches its receiver, in each part
// of the window; false: that is not known, or the counters were not read often enough. It includes
// the acknowledgements of the other direction, which take a varying part of a full link.
func (s scene) arrived(f record.Flow) (parts [windowParts]float64, read bool) {
	ends := f.Ends()
	if len(ends) == 0 {
		return parts, false
	}
	name := ends[len(ends)-1].Interface
	h, _ := s.Reading(f.To)
	var first, last int64
	times := 0
	at := func(list []netstate.InterfaceCounters) {
		for _, c := range list {
			if c.Interface == name && c.AtNs > last {
				first, last = cmp.Or(first, c.AtNs), c.AtNs
				times++
			}
		}
	}
	at(h.Begin.Interfaces)
	for _, sample := range h.Series {
		at(sample.Interfaces)
	}
	at(h.End.Interfaces)
	if times < 2*windowParts {
		return parts, false
	}
	for i := range parts {
		part := (last - first) / windowParts
		d, ok := h.Between(name, first+int64(i)*part, first+int64(i+1)*part)
		if !ok {
			return parts, false
		}
		parts[i] = d.RxBytes
	}
	return parts, true
}
