package trust

import (
	"slices"
	"sort"

	"linerate/internal/model/record"
)

// progress is what a flow had received by instants of the window: at its samples, and at its end,
// where the last sample may be a whole interval away.
type progress struct {
	at    []float64 // seconds since the window began
	bytes []float64
}

func (v view) progress(f record.Flow) (p progress) {
	p.add(0, 0)
	sum, times := 0.0, v.sampled(f)
	for i, bytes := range f.Bins {
		sum += float64(bytes)
		if last := p.at[len(p.at)-1]; times[i] > last && times[i] < v.WindowS {
			p.add(times[i], sum)
		}
	}
	p.add(v.WindowS, max(sum, float64(f.ReceivedBytes)))
	return p
}

func (p *progress) add(at, bytes float64) { p.at, p.bytes = append(p.at, at), append(p.bytes, bytes) }

// until is what had been received by an instant, at an even rate between two samples.
func (p progress) until(at float64) float64 {
	i := sort.SearchFloat64s(p.at, at)
	if i == 0 {
		return p.bytes[0]
	}
	if i == len(p.at) {
		return p.bytes[i-1]
	}
	span := p.at[i] - p.at[i-1]
	return p.bytes[i-1] + (p.bytes[i]-p.bytes[i-1])*(at-p.at[i-1])/span
}

// sampled are the instants at which a flow's bins end, in seconds since the window began: those of
// the samples that count it, of its receiver or else of its sender; if there are none, evenly.
func (v view) sampled(f record.Flow) []float64 {
	for _, host := range []string{f.To, f.From} {
		h, ok := v.Reading(host)
		if !ok {
			continue
		}
		var list []float64
		for _, s := range h.Series {
			if slices.ContainsFunc(s.Flows, func(one record.FlowSample) bool { return one.ID == f.ID }) {
				list = append(list, float64(s.AtNs-h.Begin.ScheduledNs)/1e9)
			}
		}
		if len(list) == len(f.Bins) && h.Begin.ScheduledNs > 0 {
			return list
		}
	}
	var sum int64
	for _, bytes := range f.Bins {
		sum += bytes
	}
	parts := len(f.Bins) // the last ends with the window
	if f.ReceivedBytes-sum > sum/int64(2*max(parts, 1)) {
		parts++
	}
	list := make([]float64, len(f.Bins))
	for i := range list {
		list[i] = v.WindowS * float64(i+1) / float64(parts)
	}
	return list
}
