package hostload

import (
	"slices"

	"linerate/internal/model/netstate"
)

// Interval is the load of a machine's CPUs between two samples in a window.
type Interval struct {
	AtS  float64 // middle of the interval, in seconds since the window began
	CPUs []CPU   // only shares of the time are set; CPU -1 is the sum, if there are too many CPUs
}

// During returns the load over the window of the machine that a host runs on, for each interval in
// which its CPUs were sampled (netstate.Sample).
func During(h netstate.HostReading) (list []Interval) {
	var last netstate.Sample
	for _, s := range h.Series {
		if len(s.CPU) == 0 {
			continue
		}
		in := Interval{AtS: float64((s.EndedNs+last.EndedNs)/2-h.Begin.ScheduledNs) / 1e9}
		for _, now := range s.CPU {
			i := slices.IndexFunc(last.CPU, func(c netstate.CPUTimes) bool { return c.CPU == now.CPU })
			if i < 0 || now.CPU < 0 && len(s.CPU) > 1 {
				continue
			}
			if c, ok := times(last.CPU[i], now); ok {
				in.CPUs = append(in.CPUs, c)
			}
		}
		if last = s; len(in.CPUs) > 0 {
			list = append(list, in)
		}
	}
	return list
}
