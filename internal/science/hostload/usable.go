package hostload

import (
	"slices"

	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
)

// Usable is the load of the CPUs on which linerate may run on a host, as far as it limits what
// linerate can do there.
type Usable struct {
	Host string
	// CPUs are the CPU numbers; nil: all.
	CPUs []int
	// Busy is the share of the CPUs' time that linerate used or that was not available to it; 0:
	// unknown. Niced is the share of programs with a nice value above 0. It is not part of Busy,
	// because the scheduler prefers linerate to them: a program at 10, the default of nice(1), gets
	// a tenth of the time of one at 0 (sched(7)).
	Busy, Niced float64
}

// UsableOf returns the load of the CPUs that a host's linerate may use. If that linerate is niced
// itself, the time of niced programs counts as not available.
func UsableOf(h netstate.HostReading) Usable {
	u := Usable{Host: h.Host, Busy: h.CPUBusy}
	part := func(c netstate.CPUTimes) (busy, niced, all float64) {
		i := slices.IndexFunc(h.Begin.CPU, func(b netstate.CPUTimes) bool { return b.CPU == c.CPU })
		if i < 0 {
			return 0, 0, 0
		}
		shares, ok := times(h.Begin.CPU[i], c)
		if !ok {
			return 0, 0, 0
		}
		if h.Nice <= 0 {
			niced = min(shares.Niced, shares.Busy)
		}
		return shares.Busy, niced, 1
	}
	busy, niced, cpus := 0.0, 0.0, 0.0
	for _, end := range h.End.CPU {
		if one := slices.Contains(h.AllowedCPUs, end.CPU); one || h.AllowedCPUs == nil && end.CPU < 0 {
			b, n, known := part(end)
			busy, niced, cpus = busy+b, niced+n, cpus+known
		}
	}
	if cpus == 0 {
		return u
	}
	if u.Niced = niced / cpus; h.AllowedCPUs != nil {
		u.CPUs, u.Busy = h.AllowedCPUs, busy/cpus
	}
	u.Busy = max(0, u.Busy-u.Niced)
	return u
}

// nicedLeast is the smallest share of niced programs that is mentioned.
const nicedLeast = 0.05

// Fact returns how busy the CPUs were; nil: that is unknown.
func (u Usable) Fact() *fact.Load {
	if u.CPUs == nil && u.Host == "" {
		return nil
	}
	load := fact.Load{Host: u.Host, Usable: u.CPUs != nil, Busy: u.Busy}
	if u.Niced >= nicedLeast {
		load.Niced = u.Niced
	}
	return &load
}
