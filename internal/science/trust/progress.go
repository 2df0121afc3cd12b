package trust

import (
	"sort"

	"linerate/internal/model/record"
)

// progress is how much a flow had received at points in time: at its samples, and at the window's
// end, because the last sample may be a whole interval earlier.
type progress struct {
	at    []float64 // seconds since the window began
	bytes []float64
}

func (v view) progress(f record.Flow) (p progress) {
	p.add(0, 0)
	sum := 0.0
	times, _ := v.BinEnds(f)
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

// until returns how many bytes had been received by a time, in seconds, with an even rate between
// samples.
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
